// The benchmark `phone`: one edit on a board of 20,000 tasks, on the page of a phone with a slow
// line, and on a desktop. The rival is the page as it was before there was `?since=`.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { makeBoard } from './board.ts'
import { stopsToo } from './child.ts'
import { type Device, measurePhone, type PhoneRow, type Reading } from './phone.ts'
import { phonePlot } from './plot/phone-plot.ts'
import { circumstances, type PhoneResult, save, type Verdict } from './results.ts'
import type { BenchRun } from './run.ts'
import { startTarget } from './target.ts'

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

export async function runPhone(run: BenchRun): Promise<Verdict[]> {
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
  const result: PhoneResult = { ...about, targets: TARGETS, phone: PHONE, verdicts, rows }
  save(run.outDir, 'phone', result, phonePlot(result))
  return verdicts
}

const inWords = ({ device, reading, load, ms, bytes }: PhoneRow): string =>
  `${device}, ${reading}: opened in ${load.ms} ms with ${load.bytes} bytes; ` +
  `an edit ${ms.p50} ms (p95 ${ms.p95}, at most ${ms.max}) with ${bytes} bytes`
