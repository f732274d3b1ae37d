// Bursts on two boards, first starts, and a huge board at rest.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Bench, type BenchRun, reporter, rowOf } from './bench.ts'
import { makeBoard } from './board.ts'
import { measureBursts } from './burst.ts'
import { Messages } from './client.ts'
import { cpuMsOf, memoryOf } from './proc.ts'
import { HOME, LABEL, startTarget } from './target.ts'

const MOST_BURST_MS = 2_000
const MOST_AT_REST = { ready: 2_000, memory: 200, cpu: 1 }
/** First starts, by `system tasks`. */
const MOST_FIRST: Readonly<Record<string, Partial<Record<FirstKey, number>>>> = {
  'signalbox-node 100000': { printed: 3_000, published: 12_000, memory: 300, restart: 2_000 },
  'signalbox-node 20000': { published: 2_500, memory: 150 },
  'signalbox 100000': { published: 15_000 },
}

/** One Node process watches the files with the code of the sidecar: it is not measured twice. */
const BURST_RUNS = {
  memory: { signalbox: 20, chokidar: 2, 'chokidar-tuned': 8 },
  /** What the disk adds, without an aim. */
  disk: { signalbox: 6, chokidar: 1, 'chokidar-tuned': 4 },
}
type Medium = keyof typeof BURST_RUNS
type Watching = keyof typeof BURST_RUNS.memory

const FULL = {
  burstBoards: [5_000, 20_000],
  burst: { files: 5_000, longestRunMs: 12_000, mostMs: 75_000 },
  firstBoards: [20_000, 100_000],
  starts: 3,
  restTasks: 100_000,
  settleMs: 10_000,
  /** Longer than the pause between two scans of a store of this size. */
  restMs: 120_000,
}
const QUICK: typeof FULL = {
  burstBoards: [2_000],
  burst: { files: 500, longestRunMs: 3_000, mostMs: 3_000 },
  firstBoards: [2_000],
  starts: 1,
  restTasks: 2_000,
  settleMs: 1_000,
  restMs: 3_000,
}

type Report = Parameters<Bench>[1]

export const runWatch: Bench = async (run, report) => {
  const plan = run.isQuick ? QUICK : FULL
  const usual = run.memoryDir === undefined ? 'disk' : 'memory'
  for (const tasks of plan.burstBoards) await bursts(tasks, usual, run, report)
  if (usual === 'memory') await bursts(plan.burstBoards.at(-1) ?? 0, 'disk', run, report)
  for (const tasks of plan.firstBoards) await firstStarts(tasks, plan.starts, run, report)
  await atRest(plan, run, report)
}

/** On a disk, writing takes the other process longer than noticing takes any system. */
async function bursts(tasks: number, place: Medium, run: BenchRun, report: Report) {
  const { burst } = run.isQuick ? QUICK : FULL
  const dir = place === 'memory' ? (run.memoryDir ?? run.workDir) : run.workDir
  const board = makeBoard(join(dir, `board-${tasks}`), tasks)
  // What the edge stores is always on the disk, where it is flushed at every change.
  const dataDir = join(run.workDir, `data-${place}-${tasks}`)
  for (const [name, runs] of Object.entries(BURST_RUNS[place])) {
    const system = name as Watching
    const target = await startTarget(system, board.dir, dataDir)
    try {
      const plan = { ...burst, runs: run.isQuick ? 1 : runs }
      const { values, faults } = await measureBursts(target, board, plan)
      const what = `${burst.files.toLocaleString('en')} of ${counted(tasks)} replaced at once, ${place}`
      const hasAim = system === 'signalbox' && place === 'memory'
      const aim = hasAim && { aim: { of: 'max', most: MOST_BURST_MS } as const }
      report(rowOf({ what, system: LABEL[system], unit: 'ms' }, values, { ...aim, faults }))
    } finally {
      await target.stop()
    }
  }
}

type FirstKey = 'printed' | 'published' | 'memory' | 'restart'
const FIRST: Readonly<Record<FirstKey, [what: string, unit: string]>> = {
  printed: ['`signalbox ready` is printed', 'ms'],
  published: ['all is at the edge', 'ms'],
  memory: ['memory at most', 'MiB'],
  restart: ['the restart after it', 'ms'],
}

/** Nothing was read before. On Node all is one process; on workerd the sidecar is measured. */
async function firstStarts(tasks: number, starts: number, run: BenchRun, report: Report) {
  const board = makeBoard(join(run.workDir, `board-first-${tasks}`), tasks)
  for (const system of ['signalbox-node', 'signalbox'] as const) {
    for (const home of [...(run.beforeDir === undefined ? [] : [run.beforeDir]), HOME]) {
      const dataDir = join(run.workDir, `data-first-${tasks}`)
      const found: Record<FirstKey, number>[] = []
      for (let n = 0; n < starts; n++) {
        const first = await startTarget(system, board.dir, dataDir, home)
        const memory = memoryOf(first.pid).peakMiB
        await first.stop()
        const second = await startTarget(system, board.dir, dataDir, home)
        await second.stop()
        const { printedMs: printed, readyMs: published } = first
        found.push({ printed, published, memory, restart: second.readyMs })
        rmSync(dataDir, { recursive: true, force: true })
      }
      const show = reporter(report, `${LABEL[system]}${home === HOME ? '' : ', before'}`)
      for (const key of Object.keys(FIRST) as FirstKey[]) {
        const [words, unit] = FIRST[key]
        const most = home === HOME ? MOST_FIRST[`${system} ${tasks}`]?.[key] : undefined
        const values = found.map((it) => it[key])
        show(`first start, ${counted(tasks)}: ${words}`, unit, values, most)
      }
    }
  }
}

async function atRest(plan: typeof FULL, run: BenchRun, report: Report): Promise<void> {
  const tasks = plan.restTasks
  const board = makeBoard(join(run.workDir, `board-rest-${tasks}`), tasks)
  for (const system of ['signalbox', 'chokidar'] as const) {
    const dataDir = join(run.workDir, `data-rest-${system}`)
    const readyMs: number[] = []
    for (let n = 0; n < plan.starts; n++) {
      const target = await startTarget(system, board.dir, dataDir)
      // The first start is no restart.
      if (n > 0) readyMs.push(target.readyMs)
      await target.stop()
    }
    const target = await startTarget(system, board.dir, dataDir)
    readyMs.push(target.readyMs)
    // A stream is open, as in use: its pings are part of being idle.
    const messages = await Messages.open(target)
    try {
      await sleep(plan.settleMs)
      const from = { at: performance.now(), cpuMs: cpuMsOf(target.pid) }
      await sleep(plan.restMs)
      const tookMs = performance.now() - from.at
      const cpu = ((cpuMsOf(target.pid) - from.cpuMs) / tookMs) * 100
      const { rssMiB, peakMiB } = memoryOf(target.pid)
      const own = reporter(report, LABEL[system])
      const reportOne: typeof own = (words, unit, values, most) =>
        own(
          `${counted(tasks)} at rest: ${words}`,
          unit,
          values,
          system === 'signalbox' ? most : undefined,
        )
      reportOne('ready after a restart', 'ms', readyMs, MOST_AT_REST.ready)
      reportOne('memory', 'MiB', rssMiB, MOST_AT_REST.memory)
      reportOne('memory at most', 'MiB', peakMiB)
      reportOne('of a core', '%', cpu, MOST_AT_REST.cpu)
    } finally {
      messages.close()
      await target.stop()
    }
  }
}

const counted = (tasks: number): string => `${tasks.toLocaleString('en')} tasks`
