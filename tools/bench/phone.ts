// What a person with a phone waits for: a page of the board on a slow line and a slow processor,
// from the save of one file until its card is painted. In Chromium, with the real page.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CDPSession } from 'playwright-core'
import { launchChromium } from '../../test/support/chromium.ts'
import { atMost, type Bench, reporter } from './bench.ts'
import { counted, idOf, makeBoard, saveTask } from './board.ts'
import { startTarget } from './target.ts'

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true }
const LINE_BYTES_PER_S = 400_000 / 8
const LATENCY_MS = 100
/** Times slower than this machine. */
const SLOWER = 4
/** Longer than the latency: what follows from an answer is asked within it. */
const QUIET_MS = 500
const MOST_MS = 1_000
const WAIT_MS = 60_000

export const runPhone: Bench = async (run) => {
  const { tasks, saves } = run.isQuick ? { tasks: 1_000, saves: 2 } : { tasks: 20_000, saves: 30 }
  const board = makeBoard(join(run.workDir, 'board'), tasks)
  await using target = await startTarget('signalbox-node', board.dir, join(run.workDir, 'data'))
  await using stack = new AsyncDisposableStack()
  const browser = stack.adopt(await launchChromium(), (it) => it.close())
  const context = await browser.newContext(PHONE)
  const { origin, href } = target.url('/')
  const token = target.headers.authorization?.replace('Bearer ', '')
  const signIn = { data: { token }, headers: { Origin: origin } }
  const signedIn = await context.request.post(`${origin}/api/session`, signIn)
  if (!signedIn.ok()) throw new Error(`The page was refused: ${await signedIn.text()}`)
  await context.addInitScript(IN_THE_PAGE)
  const page = await context.newPage()
  const line = await slowLineOf(await context.newCDPSession(page))
  const shownAt = (selector: string, text?: string): Promise<number> =>
    page.evaluate(`shown(${JSON.stringify(selector)}, ${JSON.stringify(text)})`)

  const at = counted(board)
  const show = reporter(run, 'phone')
  const from = Date.now()
  await page.goto(href, { waitUntil: 'commit', timeout: WAIT_MS })
  show(`the page, ${at}, until it is shown`, 'ms', (await shownAt('[data-card]')) - from)
  show(`the page, ${at}`, 'bytes', line.bytes())
  await page.getByText('Live', { exact: true }).waitFor({ timeout: WAIT_MS })

  const cards = (await page.evaluate(VISIBLE)) as string[]
  const edits: number[] = []
  const bytes: number[] = []
  // The first save runs cold code on both sides.
  for (let save = 0; save <= saves; save++) {
    const id = cards[save % cards.length] ?? idOf(0)
    const title = `Edit ${save} of this task`
    const shown = shownAt(`[data-card="${id}"] .title`, title)
    const before = line.bytes()
    const savedAt = Date.now()
    // With another rank its card would move.
    saveTask(board, Number(id.split('-')[1]), { rank: 0, title })
    const ms = (await shown) - savedAt
    // The other lists of this message must not take the line from the next one.
    await line.isQuiet()
    if (save > 0) edits.push(ms)
    if (save > 0) bytes.push(line.bytes() - before)
  }
  const aim = atMost(MOST_MS, 'max')
  run.report({ what: `save to screen, ${at}`, system: 'phone', unit: 'ms' }, edits, { aim })
  show(`one edit, ${at}`, 'bytes', bytes)
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

/** The cards that a person sees without scrolling. */
const VISIBLE = `[...document.querySelectorAll('[data-card]')]
  .filter((card) => {
    const { left, right, top, bottom } = card.getBoundingClientRect()
    return left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight
  })
  .map((card) => card.dataset.card)`

/** What comes over the page's line, which is as slow as a phone's, and so is its processor. */
async function slowLineOf(cdp: CDPSession) {
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
  await cdp.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: LATENCY_MS,
    downloadThroughput: LINE_BYTES_PER_S,
    uploadThroughput: LINE_BYTES_PER_S,
  })
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: SLOWER })
  return {
    bytes: () => bytes,
    async isQuiet(): Promise<void> {
      while (open.size > 0 || Date.now() - lastAt < QUIET_MS) await sleep(20)
    },
  }
}
