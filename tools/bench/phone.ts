// What a person with a phone waits for: a page of the board on a slow line and a slow processor,
// from the save of one file until its card is painted. In Chromium, with the real page.

import { join } from 'node:path'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { launchChromium } from '../../test/support/chromium.ts'
import { type Bench, reporter, rowOf } from './bench.ts'
import { type BenchBoard, idOf, makeBoard, nextRank, retitleTask } from './board.ts'
import { startTarget, type Target } from './target.ts'

interface Device {
  name: 'phone' | 'desktop'
  viewport: { width: number; height: number }
  /** Both ways; undefined: as fast as the machine. */
  line?: { kbitPerS: number; latencyMs: number }
  /** Times slower than this machine. */
  cpu: number
}

const PHONE: Device = {
  name: 'phone',
  viewport: { width: 390, height: 844 },
  line: { kbitPerS: 400, latencyMs: 100 },
  cpu: 4,
}
const DESKTOP: Device = { name: 'desktop', viewport: { width: 1440, height: 900 }, cpu: 1 }

interface Series {
  device: Device
  /** The rival reads its whole list after each message, as the page did before there was `?since=`. */
  readsWhole: boolean
  saves: number
}

const FULL: { tasks: number; series: Series[] } = {
  tasks: 20_000,
  series: [
    { device: PHONE, readsWhole: false, saves: 30 },
    { device: DESKTOP, readsWhole: false, saves: 30 },
    { device: PHONE, readsWhole: true, saves: 10 },
  ],
}
const QUICK: typeof FULL = {
  tasks: 1_000,
  series: FULL.series.map((series) => ({ ...series, saves: 2 })),
}
const MOST_MS = 1_000
const WAIT_MS = 60_000

export const runPhone: Bench = async (run, report) => {
  const { tasks, series } = run.isQuick ? QUICK : FULL
  const board = makeBoard(join(run.workDir, 'board'), tasks)
  const target = await startTarget('signalbox-node', board.dir, join(run.workDir, 'data'))
  const browser = await launchChromium()
  try {
    for (const each of series) {
      const { load, edits, bytes } = await measure(browser, target, board, each)
      const system = `${each.device.name}${each.readsWhole ? ', the whole list' : ''}`
      const at = `${tasks.toLocaleString('en')} tasks`
      const aim = each.readsWhole ? {} : ({ aim: { of: 'max', most: MOST_MS } } as const)
      report(rowOf({ what: `save to screen, ${at}`, system, unit: 'ms' }, edits, aim))
      const show = reporter(report, system)
      show(`one edit, ${at}`, 'bytes', bytes)
      show(`the page, ${at}, until it is shown`, 'ms', load.ms)
      show(`the page, ${at}`, 'bytes', load.bytes)
    }
  } finally {
    await browser.close()
    await target.stop()
  }
}

/** `shown` resolves to the time at which the card has this text and was painted. */
const IN_THE_PAGE = `globalThis.shown = (selector, text) =>
  new Promise((resolve) => {
    const isThere = () => {
      const found = document.querySelector(selector)
      return found !== null && (text === undefined || found.textContent === text)
    }
    const look = () => {
      if (!isThere()) return
      observer.disconnect()
      requestAnimationFrame(() => setTimeout(() => resolve(Date.now())))
    }
    const observer = new MutationObserver(look)
    observer.observe(document, { subtree: true, childList: true, characterData: true })
    look()
  })`

const READS_WHOLE = `const before = globalThis.fetch
  globalThis.fetch = (url, init) => before(String(url).replace(/[?&]since=[^&]*/, ''), init)`

async function measure(
  browser: Browser,
  target: Target,
  board: BenchBoard,
  { device, readsWhole, saves }: Series,
) {
  const isMobile = device.name === 'phone'
  const context = await browser.newContext({ viewport: device.viewport, isMobile })
  try {
    const { origin } = target.url('/')
    const token = target.headers.authorization?.replace('Bearer ', '')
    const signIn = { data: { token }, headers: { Origin: origin } }
    const signedIn = await context.request.post(`${origin}/api/session`, signIn)
    if (!signedIn.ok()) throw new Error(`The page was refused: ${await signedIn.text()}`)
    await context.addInitScript(IN_THE_PAGE)
    if (readsWhole) await context.addInitScript(READS_WHOLE)
    const page = await context.newPage()
    const line = await slowedDown(await context.newCDPSession(page), device)

    const from = Date.now()
    await page.goto(target.url('/').href, { waitUntil: 'commit', timeout: WAIT_MS })
    const load = { ms: (await shownAt(page, '[data-card]')) - from, bytes: line.bytes() }
    await page.getByText('Live', { exact: true }).waitFor({ timeout: WAIT_MS })

    const cards = await visibleCards(page)
    const edits: number[] = []
    const bytes: number[] = []
    for (let save = 0; save <= saves; save++) {
      const id = cards[save % cards.length] ?? idOf(0)
      const title = `Edit ${nextRank(board)} of this task`
      const shown = shownAt(page, `[data-card="${id}"] .title`, title)
      const before = line.bytes()
      const savedAt = Date.now()
      retitleTask(board, Number(id.split('-')[1]), title)
      const ms = (await shown) - savedAt
      // The other lists of this message must not take the line from the next one.
      await line.isQuiet()
      // The first save runs cold code on both sides.
      if (save === 0) continue
      edits.push(ms)
      bytes.push(line.bytes() - before)
    }
    return { load, edits, bytes }
  } finally {
    await context.close()
  }
}

async function slowedDown(cdp: CDPSession, { line, cpu }: Device) {
  let bytes = 0
  const open = new Set<string>()
  let lastAt = Date.now()
  const count = (more: number) => {
    bytes += more
    lastAt = Date.now()
  }
  cdp.on('Network.requestWillBeSent', ({ requestId, request }) => {
    // It never ends.
    if (!request.url.includes('/api/events')) open.add(requestId)
  })
  cdp.on('Network.responseReceived', ({ response }) => count(response.encodedDataLength))
  cdp.on('Network.dataReceived', ({ encodedDataLength }) => count(encodedDataLength))
  cdp.on('Network.loadingFinished', ({ requestId }) => open.delete(requestId))
  cdp.on('Network.loadingFailed', ({ requestId }) => open.delete(requestId))
  await cdp.send('Network.enable')
  if (line) {
    const throughput = (line.kbitPerS * 1_000) / 8
    await cdp.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: line.latencyMs,
      downloadThroughput: throughput,
      uploadThroughput: throughput,
    })
  }
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: cpu })
  return {
    bytes: () => bytes,
    async isQuiet(): Promise<void> {
      while (open.size > 0 || Date.now() - lastAt < QUIET_MS) {
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    },
  }
}

/** Longer than the latency of the line: what follows from an answer is asked within it. */
const QUIET_MS = 500

const shownAt = (page: Page, selector: string, text?: string): Promise<number> =>
  page.evaluate(`shown(${JSON.stringify(selector)}, ${JSON.stringify(text)})`)

/** Those that a person sees without scrolling. */
const visibleCards = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('[data-card]')]
    .filter((card) => {
      const { left, right, top, bottom } = card.getBoundingClientRect()
      return left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight
    })
    .map((card) => card.dataset.card)`)
