// The benchmark `boards`: 1, 10 and 100 boards in one process, and 1 and 10 with a process for each.

import { join } from 'node:path'
import { makeBoard } from './board.ts'
import { type BoardsRow, measureBoards, type Way } from './boards.ts'
import { boardsPlot } from './plot/boards-plot.ts'
import { type BoardsResult, circumstances, save, type Verdict } from './results.ts'
import type { BenchRun } from './run.ts'

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

export async function runBoards(run: BenchRun): Promise<Verdict[]> {
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
      ...{ way, dir, boards, workDir },
      warmStarts,
      settleMs,
      idleMs,
    })
    rows.push(row)
    run.say(inWords(row))
  }
  const about = circumstances(run.command, startedAt)
  const verdicts = verdictsOf(rows)
  const result: BoardsResult = { ...about, targets: TARGETS, verdicts, tasksEach, rows }
  save(run.outDir, 'boards', result, boardsPlot(result))
  return verdicts
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
