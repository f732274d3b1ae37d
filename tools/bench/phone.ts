// What a person with a phone waits for: a page of the board on a slow line and a slow processor,
// from the save of one file until its card is painted. In Chromium, with the real page.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, CDPSession } from 'playwright-core'
import { launchChromium } from '../../test/support/chromium.ts'
import { atMost, type Bench, reporter } from './bench.ts'
import { type BenchBoard, counted, idOf, makeBoard, saveTask } from './board.ts'
import { startTarget, type Target } from './target.ts'

interface Series {
  system: string
  isPhone: boolean
  /** The rival reads its whole list after each message, as the page did before there was `?since=`. */
  readsWhole?: true
  saves: number
}

const SERIES: readonly Series[] = [
  { system: 'phone', isPhone: true, saves: 30 },
  { system: 'desktop', isPhone: false, saves: 30 },
  { system: 'phone, the whole list', isPhone: true, readsWhole: true, saves: 10 },
]
const LINE_BYTES_PER_S = 400_000 / 8
const LATENCY_MS = 100
/** Times slower than this machine. */
const SLOWER = 4
/** Longer than the latency: what follows from an answer is asked within it. */
const QUIET_MS = 500
const MOST_MS = 1_000
const WAIT_MS = 60_000

export const runPhone: Bench = async (run) => {
  const board = makeBoard(join(run.workDir, 'board'), run.isQuick ? 1_000 : 20_000)
  await using target = await startTarget('signalbox-node', board.dir, join(run.workDir, 'data'))
  await using stack = new AsyncDisposableStack()
  const browser = stack.adopt(await launchChromium(), (it) => it.close())
  for (const { system, ...series } of SERIES) {
    const saves = run.isQuick ? 2 : series.saves
    const { load, edits, bytes } = await measure(browser, target, board, { ...series, saves })
    const at = counted(board)
    const aim = series.readsWhole ? undefined : atMost(MOST_MS, 'max')
    run.report({ what: `save to screen, ${at}`, system, unit: 'ms' }, edits, { aim })
    const show = reporter(run, system)
    show(`one edit, ${at}`, 'bytes', bytes)
    show(`the page, ${at}, until it is shown`, 'ms', load.ms)
    show(`the page, ${at}`, 'bytes', load.bytes)
  }
}

/** `shown` resolves to the time at which the card has this text and was painted. */
const IN_THE_PAGE = `globalThis.shown = (selector, text) =>
  new Promise((resolve) => {
    const look = () => {
      const found = document.querySelector(selector)
      if (found === null || (text !== undefined && found.textContent !== text)) return
      observer.disconnect()
      requestAnimationFrame(() => setTimeout(() => resolve(Date.now())))
    }
    const observer = new MutationObserver(look)
    observer.observe(document, { subtree: true, childList: true, characterData: true })
    look()
  })`

const READS_WHOLE = `const before = globalThis.fetch
  globalThis.fetch = (url, init) => before(String(url).replace(/[?&]since=[^&]*/, ''), init)`

/** The cards that a person sees without scrolling. */
const VISIBLE = `[...document.querySelectorAll('[data-card]')]
  .filter((card) => {
    const { left, right, top, bottom } = card.getBoundingClientRect()
    return left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight
  })
  .map((card) => card.dataset.card)`

async function measure(
  browser: Browser,
  target: Target,
  board: BenchBoard,
  { isPhone: isMobile, readsWhole, saves }: Omit<Series, 'system'>,
) {
  const viewport = isMobile ? { width: 390, height: 844 } : { width: 1440, height: 900 }
  await using stack = new AsyncDisposableStack()
  const opened = await browser.newContext({ viewport, isMobile })
  const context = stack.adopt(opened, (it) => it.close())
  const { origin, href } = target.url('/')
  const token = target.headers.authorization?.replace('Bearer ', '')
  const signIn = { data: { token }, headers: { Origin: origin } }
  const signedIn = await context.request.post(`${origin}/api/session`, signIn)
  if (!signedIn.ok()) throw new Error(`The page was refused: ${await signedIn.text()}`)
  await context.addInitScript(IN_THE_PAGE)
  if (readsWhole) await context.addInitScript(READS_WHOLE)
  const page = await context.newPage()
  const line = await lineOf(await context.newCDPSession(page), isMobile)
  const shownAt = (selector: string, text?: string): Promise<number> =>
    page.evaluate(`shown(${JSON.stringify(selector)}, ${JSON.stringify(text)})`)

  const from = Date.now()
  await page.goto(href, { waitUntil: 'commit', timeout: WAIT_MS })
  const load = { ms: (await shownAt('[data-card]')) - from, bytes: line.bytes() }
  await page.getByText('Live', { exact: true }).waitFor({ timeout: WAIT_MS })

  const cards = (await page.evaluate(VISIBLE)) as string[]
  const edits: number[] = []
  const bytes: number[] = []
  // The first save runs cold code on both sides.
  for (let save = 0; save <= saves; save++) {
    const id = cards[save % cards.length] ?? idOf(0)
    const rank = ++board.lastRank
    const title = `Edit ${rank} of this task`
    const shown = shownAt(`[data-card="${id}"] .title`, title)
    const before = line.bytes()
    const savedAt = Date.now()
    // With its rank its card would move.
    saveTask(board, Number(id.split('-')[1]), { rank: 0, title })
    const ms = (await shown) - savedAt
    // The other lists of this message must not take the line from the next one.
    await line.isQuiet()
    if (save > 0) edits.push(ms)
    if (save > 0) bytes.push(line.bytes() - before)
  }
  return { load, edits, bytes }
}

/** What comes over the page's line, which is slowed down for a phone. */
async function lineOf(cdp: CDPSession, isSlow: boolean) {
  let bytes = 0
  let lastAt = Date.now()
  const open = new Set<string>()
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
  if (isSlow) {
    await cdp.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: LATENCY_MS,
      downloadThroughput: LINE_BYTES_PER_S,
      uploadThroughput: LINE_BYTES_PER_S,
    })
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: SLOWER })
  }
  return {
    bytes: () => bytes,
    async isQuiet(): Promise<void> {
      while (open.size > 0 || Date.now() - lastAt < QUIET_MS) await sleep(20)
    },
  }
}
