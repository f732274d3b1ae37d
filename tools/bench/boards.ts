// What it costs to publish many boards: the sidecars of all in one process, or a process for each.
// The edge is another process, the same for both.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Bench, reporter } from './bench.ts'
import { makeBoard } from './board.ts'
import { type Program, startNode } from './child.ts'
import { startOurNodeEdge, tokenFor } from './payments/bench-edge.ts'
import { cpuMsOf, memoryOf, ownMiBOf } from './proc.ts'
import { READY, SIGNALBOX, START_WAIT_MS } from './target.ts'

type Way = 'one process' | 'a process for each'
interface Plan {
  tasksEach: number
  series: [way: Way, boards: number][]
  /** Starts with nothing changed since the last one. */
  warmStarts: number
  settleMs: number
  idleMs: number
}

const FULL: Plan = {
  tasksEach: 100,
  series: [
    ['one process', 1],
    ['a process for each', 10],
    ['one process', 10],
    ['one process', 100],
  ],
  warmStarts: 5,
  settleMs: 10_000,
  idleMs: 120_000,
}
const QUICK: Plan = {
  ...FULL,
  series: [
    ['a process for each', 2],
    ['one process', 2],
  ],
  warmStarts: 1,
  settleMs: 500,
  idleMs: 2_000,
}
const MOST_READY_MS = 5_000
/** Processes for each take at least so many times the memory. */
const TIMES_MEMORY = 5

export const runBoards: Bench = async (run, report) => {
  const plan = run.isQuick ? QUICK : FULL
  const apart = new Map<number, number>()
  for (const [way, count] of plan.series) {
    const workDir = join(run.workDir, `${way.replaceAll(' ', '-')}-${count}`)
    const found = await measure(plan, way, count, workDir)
    const own = reporter(report, way)
    const show: typeof own = (words, ...more) =>
      own(`${count} ${count === 1 ? 'board' : 'boards'}: ${words}`, ...more)
    const isLast = way === 'one process' && count === plan.series.at(-1)?.[1]
    show('first start', 'ms', found.coldMs)
    show('restart', 'ms', found.readyMs, isLast ? MOST_READY_MS : undefined)
    // Those of one process are held against the processes that were measured before them.
    const rival = apart.get(count)
    const most = rival && way === 'one process' ? rival / TIMES_MEMORY : undefined
    show('memory', 'MiB', found.memoryMiB, most)
    show('memory, resident', 'MiB', found.residentMiB)
    show('of a core, at rest', '%', found.cpuPercent)
    if (way === 'a process for each') apart.set(count, found.memoryMiB)
  }
}

async function measure(plan: Plan, way: Way, count: number, workDir: string) {
  const dir = join(workDir, 'project')
  const boards = Array.from({ length: count }, (_, n) => `package-${n}`)
  for (const name of boards) makeBoard(join(dir, name), plan.tasksEach)
  await using stack = new AsyncDisposableStack()
  const { url, stop } = await startOurNodeEdge(join(workDir, 'edge'))
  stack.defer(stop)
  const token = await tokenFor('board:write', { repos: ['*'], sub: 'bench' })
  const startWatch = (folder: string, repo: string) => {
    const to = ['--repo', repo, '--edge', url, '--cache', join(workDir, 'cache')]
    const env = { SIGNALBOX_TOKEN: token }
    const args = [SIGNALBOX, 'watch', folder, ...to]
    return startNode(args, READY, { dir: workDir, waitMs: START_WAIT_MS, env })
  }
  const start = async (): Promise<{ ms: number; sidecars: Program[] }> => {
    const startedAt = performance.now()
    const sidecars =
      way === 'one process'
        ? [await startWatch(dir, 'bench')]
        : await Promise.all(boards.map((board) => startWatch(join(dir, board), `bench/${board}`)))
    return { ms: performance.now() - startedAt, sidecars }
  }
  const startOnce = async () => {
    const { ms, sidecars } = await start()
    await Promise.all(sidecars.map((each) => each.stop()))
    return ms
  }
  // All is sent, the first time.
  const coldMs = await startOnce()
  const readyMs: number[] = []
  for (let n = 1; n < plan.warmStarts; n++) readyMs.push(await startOnce())
  const { ms, sidecars } = await start()
  for (const each of sidecars) stack.defer(each.stop)
  readyMs.push(ms)
  await sleep(plan.settleMs)
  const sum = (of: (pid: number) => number) => sidecars.reduce((all, { pid }) => all + of(pid), 0)
  const from = { at: performance.now(), cpuMs: sum(cpuMsOf) }
  await sleep(plan.idleMs)
  const tookMs = performance.now() - from.at
  return {
    coldMs,
    readyMs,
    /** With what they share counted once. */
    memoryMiB: sum(ownMiBOf),
    residentMiB: sum((pid) => memoryOf(pid).rssMiB),
    cpuPercent: ((sum(cpuMsOf) - from.cpuMs) / tookMs) * 100,
  }
}
