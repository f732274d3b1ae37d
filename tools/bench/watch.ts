// Many files replaced at once, first starts, and a huge board at rest.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Bench, reporter, rowOf } from './bench.ts'
import { type BenchBoard, makeBoard } from './board.ts'
import { measureBursts } from './burst.ts'
import { Messages } from './client.ts'
import { cpuMsOf, memoryOf } from './proc.ts'
import { LABEL, startTarget } from './target.ts'

const MOST_BURST_MS = 2_000
const MOST_AT_REST = { ready: 2_000, memory: 200, cpu: 1 }
const MOST_FIRST = {
  'signalbox-node': { printed: 3_000, published: 12_000, memory: 300 },
  signalbox: { printed: undefined, published: 15_000, memory: undefined },
}
/** One Node process watches the files with the code of the sidecar: it is not measured twice. */
const BURST_RUNS = { signalbox: 6, chokidar: 1, 'chokidar-tuned': 4 }

const FULL = {
  burst: { tasks: 20_000, files: 5_000, longestRunMs: 12_000, mostMs: 75_000 },
  tasks: 100_000,
  starts: 3,
  settleMs: 10_000,
  /** Longer than the pause between two scans of a store of this size. */
  restMs: 120_000,
}
const QUICK: typeof FULL = {
  burst: { tasks: 2_000, files: 500, longestRunMs: 3_000, mostMs: 3_000 },
  tasks: 2_000,
  starts: 1,
  settleMs: 1_000,
  restMs: 3_000,
}

type Measure = (plan: typeof FULL, dir: string, report: Parameters<Bench>[1]) => Promise<void>

export const runWatch: Bench = async ({ workDir, isQuick }, report) => {
  const plan = isQuick ? QUICK : FULL
  for (const measure of [bursts, firstStarts, atRest]) await measure(plan, workDir, report)
}

const bursts: Measure = async ({ burst: { tasks, ...burst } }, dir, report) => {
  const board = makeBoard(join(dir, 'board-burst'), tasks)
  for (const system of ['signalbox', 'chokidar', 'chokidar-tuned'] as const) {
    const target = await startTarget(system, board.dir, join(dir, `data-burst-${system}`))
    try {
      const plan = { ...burst, runs: BURST_RUNS[system] }
      const { values, faults } = await measureBursts(target, board, plan)
      const what = `${burst.files.toLocaleString('en')} of ${counted(board)} replaced at once`
      const aim = system === 'signalbox' && { aim: { of: 'max', most: MOST_BURST_MS } as const }
      report(rowOf({ what, system: LABEL[system], unit: 'ms' }, values, { ...aim, faults }))
    } finally {
      await target.stop()
    }
  }
}

/** Nothing was read before. On Node all is one process; on workerd the sidecar is measured. */
const firstStarts: Measure = async ({ tasks, starts }, dir, report) => {
  const board = makeBoard(join(dir, 'board-first'), tasks)
  const dataDir = join(dir, 'data-first')
  for (const system of ['signalbox-node', 'signalbox'] as const) {
    const [printed, published, memory]: [number[], number[], number[]] = [[], [], []]
    for (let n = 0; n < starts; n++) {
      const target = await startTarget(system, board.dir, dataDir)
      printed.push(target.printedMs)
      published.push(target.readyMs)
      memory.push(memoryOf(target.pid).peakMiB)
      await target.stop()
      rmSync(dataDir, { recursive: true, force: true })
    }
    const most = MOST_FIRST[system]
    const show = of(`first start, ${counted(board)}`, reporter(report, LABEL[system]))
    show('`signalbox ready` is printed', 'ms', printed, most.printed)
    show('all is at the edge', 'ms', published, most.published)
    show('memory at most', 'MiB', memory, most.memory)
  }
}

const atRest: Measure = async ({ tasks, starts, settleMs, restMs }, dir, report) => {
  const board = makeBoard(join(dir, 'board-rest'), tasks)
  for (const system of ['signalbox', 'chokidar'] as const) {
    const start = () => startTarget(system, board.dir, join(dir, `data-rest-${system}`))
    // The first start is no restart.
    let target = await start()
    const readyMs: number[] = []
    for (let n = 0; n < starts; n++) {
      await target.stop()
      target = await start()
      readyMs.push(target.readyMs)
    }
    // A stream is open, as in use: its pings are part of being idle.
    const messages = await Messages.open(target)
    try {
      await sleep(settleMs)
      const from = { at: performance.now(), cpuMs: cpuMsOf(target.pid) }
      await sleep(restMs)
      const tookMs = performance.now() - from.at
      const cpu = ((cpuMsOf(target.pid) - from.cpuMs) / tookMs) * 100
      const { rssMiB, peakMiB } = memoryOf(target.pid)
      const most = system === 'signalbox' ? MOST_AT_REST : undefined
      const show = of(`${counted(board)} at rest`, reporter(report, LABEL[system]))
      show('ready after a restart', 'ms', readyMs, most?.ready)
      show('memory', 'MiB', rssMiB, most?.memory)
      show('memory at most', 'MiB', peakMiB)
      show('of a core', '%', cpu, most?.cpu)
    } finally {
      messages.close()
      await target.stop()
    }
  }
}

const counted = ({ size }: BenchBoard): string => `${size.toLocaleString('en')} tasks`

const of =
  (about: string, show: ReturnType<typeof reporter>): typeof show =>
  (words, ...more) =>
    show(`${about}: ${words}`, ...more)
