// The benchmark `refetch`: one change on boards of several sizes, in one Node process.

import { join } from 'node:path'
import { makeBoard } from './board.ts'
import { refetchPlot } from './plot/refetch-plot.ts'
import { measureRefetch, type RefetchRow } from './refetch.ts'
import { circumstances, type RefetchResult, save, type Verdict } from './results.ts'
import type { BenchRun } from './run.ts'
import { startTarget } from './target.ts'

/** Beyond this, it would not be flat. */
const TARGETS = { bytes: 2_048 }
const FULL = { sizes: [100, 1_000, 5_000, 20_000], saves: 50 }
const QUICK: typeof FULL = { sizes: [100, 1_000], saves: 5 }

export async function runRefetch(run: BenchRun): Promise<Verdict[]> {
  const startedAt = performance.now()
  const { sizes, saves } = run.isQuick ? QUICK : FULL
  const rows: RefetchRow[] = []
  for (const tasks of sizes) {
    const board = makeBoard(join(run.workDir, `board-${tasks}`), tasks)
    const target = await startTarget('signalbox-node', board.dir, join(run.workDir, `d-${tasks}`))
    try {
      const row = await measureRefetch(target, board, saves)
      rows.push(row)
      run.say(inWords(row))
    } finally {
      await target.stop()
    }
  }
  const verdicts = rows.map(({ tasks, changes }) => ({
    what: `bytes of one change at ${tasks} tasks`,
    target: `${TARGETS.bytes}`,
    measured: `${changes.bytes}`,
    reached: changes.bytes <= TARGETS.bytes,
  }))
  const about = circumstances(run.command, startedAt)
  const result: RefetchResult = { ...about, targets: TARGETS, verdicts, rows }
  save(run.outDir, 'refetch', result, refetchPlot(result))
  return verdicts
}

const inWords = ({ tasks, whole, changes }: RefetchRow): string =>
  `${tasks} tasks: ${changes.bytes} bytes in ${changes.ms} ms; ` +
  `the whole list ${whole.bytes} bytes in ${whole.ms} ms`
