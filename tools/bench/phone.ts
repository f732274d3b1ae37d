// What a person with a phone waits for: a page of the board on a slow line and a slow processor,
// from the save of one file until its card is painted. In Chromium, with the real page.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core'
import { type BenchRun, circumstances, type Result } from './bench.ts'
import { type BenchBoard, idOf, makeBoard, nextRank, retitleTask } from './board.ts'
import { stopsToo } from './child.ts'
import { LOOKS, measuredOn, type Picture } from './plot/picture.ts'
import { percentile } from './statistics.ts'
import { startTarget, type Target } from './target.ts'

export interface Device {
  name: 'phone' | 'desktop'
  viewport: { width: number; height: number }
  /** Both ways; undefined: as fast as the machine. */
  line?: { kbitPerS: number; latencyMs: number }
  /** Times slower than this machine. */
  cpu: number
}

/** What a page reads after a message. */
export type Reading = 'changes' | 'whole' | 'whole, not compressed'

export interface PhoneRow {
  device: Device['name']
  reading: Reading
  tasks: number
  /** Until the first card is on the screen. */
  load: { ms: number; bytes: number }
  /** From the save until the text is on the screen. */
  ms: { count: number; p50: number; p95: number; max: number }
  values: number[]
  /** All that came during one edit, with headers; the median. */
  bytes: number
}

/** The line of a phone is slow: the whole list, not compressed, takes minutes. */
const WAIT_MS = 300_000

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

/** As the page was before there was \`?since=\`. */
const READS_WHOLE = `const before = globalThis.fetch
  globalThis.fetch = (url, init) => before(String(url).replace(/[?&]since=[^&]*/, ''), init)`

async function measurePhone(
  browser: Browser,
  target: Target,
  board: BenchBoard,
  plan: { device: Device; reading: Reading; saves: number },
): Promise<PhoneRow> {
  const { device, reading, saves } = plan
  const context = await browser.newContext({
    viewport: device.viewport,
    isMobile: device.name === 'phone',
  })
  try {
    const { origin } = target.url('/')
    const token = target.headers.authorization?.replace('Bearer ', '')
    const headers = { Origin: origin }
    const signedIn = await context.request.post(`${origin}/api/session`, {
      data: { token },
      headers,
    })
    if (!signedIn.ok()) throw new Error(`The page was refused: ${await signedIn.text()}`)
    await context.addInitScript(IN_THE_PAGE)
    if (reading !== 'changes') await context.addInitScript(READS_WHOLE)
    const page = await context.newPage()
    const line = await slowedDown(await context.newCDPSession(page), device)

    const from = Date.now()
    await page.goto(target.url('/').href, { waitUntil: 'commit', timeout: WAIT_MS })
    const load = { ms: (await shownAt(page, '[data-card]')) - from, bytes: line.bytes() }
    await page.getByText('Live', { exact: true }).waitFor({ timeout: WAIT_MS })
    if (reading === 'whole, not compressed') await line.refuseCompression()

    const cards = await visibleCards(page)
    const values: number[] = []
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
      values.push(ms)
      bytes.push(line.bytes() - before)
    }
    const at = (percent: number) => percentile(values, percent)
    const ms = { count: values.length, p50: at(50), p95: at(95), max: at(100) }
    const row = { device: device.name, reading, tasks: board.size, load }
    return { ...row, ms, values, bytes: percentile(bytes, 50) }
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
    refuseCompression: () =>
      cdp.send('Network.setExtraHTTPHeaders', { headers: { 'Accept-Encoding': 'identity' } }),
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

const TARGETS = { maxMs: 1_000 }
const PHONE: Device = {
  name: 'phone',
  viewport: { width: 390, height: 844 },
  line: { kbitPerS: 400, latencyMs: 100 },
  cpu: 4,
}
const DESKTOP: Device = { name: 'desktop', viewport: { width: 1440, height: 900 }, cpu: 1 }

interface Series {
  device: Device
  reading: Reading
  saves: number
}

/** Each edit of the last one takes a minute and a half. */
const FULL: { tasks: number; series: Series[] } = {
  tasks: 20_000,
  series: [
    { device: PHONE, reading: 'changes', saves: 30 },
    { device: DESKTOP, reading: 'changes', saves: 30 },
    { device: PHONE, reading: 'whole', saves: 10 },
    { device: PHONE, reading: 'whole, not compressed', saves: 2 },
  ],
}
const QUICK: typeof FULL = {
  tasks: 1_000,
  series: FULL.series.map((series) => ({ ...series, saves: 2 })),
}

export interface PhoneResult extends Result {
  targets: { maxMs: number }
  phone: Device
  rows: PhoneRow[]
}

export async function runPhone(run: BenchRun): Promise<PhoneResult> {
  const executablePath = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) =>
    existsSync(path),
  )
  if (executablePath === undefined) throw new Error('There is no Chromium on this machine.')
  const startedAt = performance.now()
  const { tasks, series } = run.isQuick ? QUICK : FULL
  const board = makeBoard(join(run.workDir, 'board'), tasks)
  const target = await startTarget('signalbox-node', board.dir, join(run.workDir, 'data'))
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  const forget = stopsToo(() => browser.close())
  const rows: PhoneRow[] = []
  try {
    for (const plan of series) {
      const row = await measurePhone(browser, target, board, plan)
      rows.push(row)
      run.say(inWords(row))
    }
  } finally {
    forget()
    await browser.close()
    await target.stop()
  }
  const verdicts = rows
    .filter(({ reading }) => reading === 'changes')
    .map(({ device, ms }) => ({
      what: `the slowest of ${ms.count} edits at ${tasks} tasks, ${device}`,
      target: `${TARGETS.maxMs} ms`,
      measured: `${ms.max} ms`,
      reached: ms.max <= TARGETS.maxMs,
    }))
  const about = circumstances(run.command, startedAt)
  return { ...about, targets: TARGETS, phone: PHONE, verdicts, rows }
}

const inWords = ({ device, reading, load, ms, bytes }: PhoneRow): string =>
  `${device}, ${reading}: opened in ${load.ms} ms with ${load.bytes} bytes; ` +
  `an edit ${ms.p50} ms (p95 ${ms.p95}, at most ${ms.max}) with ${bytes} bytes`

const COLORS: Record<Reading, string> = {
  changes: LOOKS['signalbox-node'].color,
  whole: LOOKS['chokidar-tuned'].color,
  'whole, not compressed': LOOKS.chokidar.color,
}

export function phonePicture({ rows, machine, phone, targets }: PhoneResult): Picture {
  const { kbitPerS, latencyMs } = phone.line ?? { kbitPerS: 0, latencyMs: 0 }
  return {
    title: 'From a saved file to the text on the screen',
    about: [
      `Phone: ${kbitPerS} kbit/s, ${latencyMs} ms latency, a processor ${phone.cpu} times slower. One dot per edit, strokes are p50 and p95.`,
      'Whole: the page reads its list again after each message, as before there was ?since=.',
      measuredOn(machine, 'one Node process'),
    ],
    parts: [
      {
        axis: { from: 100, to: 200_000, label: 'milliseconds', format: (ms) => `${ms}` },
        groups: (['phone', 'desktop'] as const).map((device) => ({
          label: device,
          target: { value: targets.maxMs, label: '1 s' },
          rows: rows
            .filter((row) => row.device === device)
            .map(({ reading, ms, values, bytes }) => ({
              label: reading,
              color: COLORS[reading],
              values,
              marks: [ms.p50, ms.p95],
              note: `at most ${ms.max} ms, ${bytes.toLocaleString('en')} bytes`,
              missing: 0,
            })),
        })),
      },
    ],
  }
}
