// What it costs to publish many boards: the sidecars of all in one process, or a process for each.
// The edge is another process, the same for both.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type BenchRun, circumstances, type Result, type Verdict } from './bench.ts'
import { makeBoard } from './board.ts'
import type { Child } from './child.ts'
import { LOOKS, measuredOn, type Picture } from './plot/picture.ts'
import { cpuMsOf, memoryOf, ownMiBOf } from './proc.ts'
import { startEdge, startWatch } from './serve-and-watch.ts'
import { percentile, rounded } from './statistics.ts'
import { measureTrees, type TreesRow, treesVerdicts } from './trees.ts'

export type Way = 'one process' | 'a process for each'

export interface BoardsPlan {
  way: Way
  /** The folder that holds them. */
  dir: string
  /** Their folders, in it. */
  boards: readonly string[]
  /** For what the edge and the sidecars keep; empty at the beginning. */
  workDir: string
  /** Starts with nothing changed since the last one. */
  warmStarts: number
  settleMs: number
  idleMs: number
}

export interface BoardsRow {
  way: Way
  boards: number
  /** From the start of the processes until the edge has all boards; the first time, all are sent. */
  coldReadyMs: number
  readyMs: number[]
  readyMedianMs: number
  /** All processes together, with what they share counted once. */
  memoryMiB: number
  /** Resident, added up. */
  rssMiB: number
  idleMs: number
  /** 100: a whole core. */
  cpuPercent: number
}

async function measureBoards(plan: BoardsPlan): Promise<BoardsRow> {
  const { boards, way, workDir, warmStarts, settleMs, idleMs } = plan
  await using stack = new AsyncDisposableStack()
  const { url, stop } = await startEdge(workDir)
  stack.defer(stop)
  const coldReadyMs = await readyOnce(plan, url)
  const readyMs: number[] = []
  for (let n = 1; n < warmStarts; n++) readyMs.push(await readyOnce(plan, url))
  const { ms, sidecars } = await start(plan, url)
  for (const { stop } of sidecars) stack.defer(stop)
  readyMs.push(ms)
  await sleep(settleMs)
  const sum = (of: (pid: number) => number) => sidecars.reduce((all, { pid }) => all + of(pid), 0)
  const from = { at: performance.now(), cpuMs: sum(cpuMsOf) }
  await sleep(idleMs)
  const tookMs = performance.now() - from.at
  return {
    way,
    boards: boards.length,
    coldReadyMs,
    readyMs,
    readyMedianMs: percentile(readyMs, 50),
    memoryMiB: rounded(sum(ownMiBOf)),
    rssMiB: rounded(sum((pid) => memoryOf(pid).rssMiB)),
    idleMs: Math.round(tookMs),
    cpuPercent: rounded(((sum(cpuMsOf) - from.cpuMs) / tookMs) * 100),
  }
}

async function readyOnce(plan: BoardsPlan, url: string): Promise<number> {
  const { ms, sidecars } = await start(plan, url)
  await Promise.all(sidecars.map(({ stop }) => stop()))
  return ms
}

async function start(
  { way, dir, boards, workDir }: BoardsPlan,
  url: string,
): Promise<{ ms: number; sidecars: Child[] }> {
  const startedAt = performance.now()
  const sidecars =
    way === 'one process'
      ? [await startWatch(dir, 'bench', url, workDir)]
      : await Promise.all(
          boards.map((board) => startWatch(join(dir, board), `bench/${board}`, url, workDir)),
        )
  return { ms: Math.round(performance.now() - startedAt), sidecars }
}

const TARGETS = { timesMemory: 5, readyMs: 5_000 }
const FULL: { tasksEach: number; rows: [Way, number][]; warmStarts: number; idleMs: number } = {
  tasksEach: 100,
  rows: [
    ['one process', 1],
    ['one process', 10],
    ['a process for each', 10],
    ['one process', 100],
  ],
  warmStarts: 5,
  idleMs: 120_000,
}
const QUICK: typeof FULL = {
  ...FULL,
  rows: [
    ['one process', 2],
    ['a process for each', 2],
  ],
  warmStarts: 1,
  idleMs: 2_000,
}
const SETTLE_MS = 10_000

export interface BoardsResult extends Result {
  targets: { timesMemory: number; readyMs: number }
  tasksEach: number
  rows: BoardsRow[]
  trees: TreesRow[]
}

export async function runBoards(run: BenchRun): Promise<BoardsResult> {
  const startedAt = performance.now()
  const { tasksEach, rows: planned, warmStarts, idleMs } = run.isQuick ? QUICK : FULL
  const rows: BoardsRow[] = []
  for (const [way, count] of planned) {
    const boards = Array.from({ length: count }, (_, n) => `package-${n}`)
    const workDir = join(run.workDir, `${way.replaceAll(' ', '-')}-${count}`)
    const dir = join(workDir, 'project')
    for (const name of boards) makeBoard(join(dir, name), tasksEach)
    const settleMs = run.isQuick ? 500 : SETTLE_MS
    const row = await measureBoards({
      way,
      dir,
      boards,
      workDir,
      warmStarts,
      settleMs,
      idleMs,
    })
    rows.push(row)
    run.say(inWords(row))
  }
  const trees = await measureTrees(run)
  const about = circumstances(run.command, startedAt)
  const verdicts = [...verdictsOf(rows), ...treesVerdicts(trees)]
  return { ...about, targets: TARGETS, verdicts, tasksEach, rows, trees }
}

function verdictsOf(rows: readonly BoardsRow[]): Verdict[] {
  const most = rows.findLast(({ way }) => way === 'one process')
  const each = rows.find(({ way }) => way === 'a process for each')
  const together = rows.find((it) => it.way === 'one process' && it.boards === each?.boards)
  const times = each && together ? each.memoryMiB / together.memoryMiB : Number.NaN
  return [
    {
      what: `memory of ${each?.boards} processes, by that of one with as many boards`,
      target: `${TARGETS.timesMemory} times`,
      measured: `${times.toFixed(1)} times`,
      reached: times >= TARGETS.timesMemory,
    },
    {
      what: `${most?.boards} boards at the edge after a restart`,
      target: `${TARGETS.readyMs} ms`,
      measured: `${most?.readyMedianMs} ms`,
      reached: (most?.readyMedianMs ?? Number.POSITIVE_INFINITY) <= TARGETS.readyMs,
    },
  ]
}

const inWords = ({ way, boards, coldReadyMs, readyMs, memoryMiB, rssMiB, cpuPercent }: BoardsRow) =>
  `${boards} boards, ${way}: ready in ${coldReadyMs} ms, then ${readyMs.join(', ')} ms; ` +
  `${memoryMiB} MiB (${rssMiB} resident), ${cpuPercent} % of a core`

export function boardsPicture({ rows, machine, targets, tasksEach }: BoardsResult): Picture {
  const bars = (value: (row: BoardsRow) => number) =>
    rows.map((row) => ({ color: COLORS[row.way], value: value(row) }))
  const alone = rows.find(({ way }) => way === 'a process for each')?.memoryMiB ?? 0
  return {
    title: 'Many boards in one process',
    about: [
      `From above: ${rows.map(({ boards, way }) => `${boards} in ${way}`).join('; ')}.`,
      `${tasksEach} tasks each. The memory is that of all processes, with what they share counted once.`,
      measuredOn(machine, 'the edge is a process of its own'),
    ],
    parts: [
      {
        bars: [
          {
            title: 'At the edge after a restart',
            target: targets.readyMs / 1_000,
            format: (seconds) => `${Number(seconds.toFixed(2))} s`,
            bars: bars(({ readyMedianMs }) => readyMedianMs / 1_000),
          },
          {
            title: 'Memory',
            target: Math.round(alone / targets.timesMemory),
            format: (mebibytes) => `${Math.round(mebibytes)} MiB`,
            bars: bars(({ memoryMiB }) => memoryMiB),
          },
        ],
      },
    ],
  }
}

const COLORS: Record<Way, string> = {
  'one process': LOOKS.signalbox.color,
  'a process for each': LOOKS['chokidar-tuned'].color,
}
