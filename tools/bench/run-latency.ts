// The plan of `latency`: three sizes, each system on the same board, one after the other.

import { join } from 'node:path'
import { makeBoard } from './board.ts'
import { type LatencyRow, measureLatency, WINDOW_MS } from './latency.ts'
import { latencyPlot } from './plot/latency-plot.ts'
import { circumstances, type LatencyResult, save, type Verdict } from './results.ts'
import type { BenchRun } from './run.ts'
import { SYSTEMS, type System, startTarget } from './target.ts'

/** `nodeP99Ms`: of signalbox-node. */
const TARGETS = [
  { tasks: 1_000, p99Ms: 20, nodeP99Ms: 10 },
  { tasks: 20_000, p99Ms: 20, nodeP99Ms: 10 },
  { tasks: 100_000, p99Ms: 40, nodeP99Ms: 40 },
]
const SAVES = 200
/** The alternatives get half as many, and less time where each save takes long. */
const SAVES_OF_OTHERS = 100
const MAX_MS = {
  signalbox: 120_000,
  'signalbox-node': 120_000,
  chokidar: 45_000,
  'chokidar-tuned': 60_000,
}
const isOurs = (system: System): boolean => system.startsWith('signalbox')

export async function runLatency(run: BenchRun): Promise<Verdict[]> {
  const startedAt = performance.now()
  const targets = run.isQuick ? TARGETS.slice(0, 1) : TARGETS
  const rows: LatencyRow[] = []
  for (const [n, { tasks }] of targets.entries()) {
    const board = makeBoard(join(run.workDir, `board-${tasks}`), tasks)
    // Every second size has the other order, since the first system runs on a cold machine.
    const order = n % 2 === 0 ? SYSTEMS : SYSTEMS.toReversed()
    const found = new Map<System, LatencyRow>()
    for (const system of order) {
      const data = join(run.workDir, `data-${system}-${tasks}`)
      const target = await startTarget(system, board.dir, data)
      try {
        const saves = run.isQuick ? 10 : isOurs(system) ? SAVES : SAVES_OF_OTHERS
        const row = await measureLatency(target, board, { saves, maxMs: MAX_MS[system] })
        found.set(system, row)
        run.say(inWords(row))
      } finally {
        await target.stop()
      }
    }
    for (const system of SYSTEMS) rows.push(...[found.get(system)].filter((it) => it !== undefined))
  }
  const verdicts = verdictsOf(rows, targets)
  const result: LatencyResult = {
    ...circumstances(run.command, startedAt),
    windowMs: WINDOW_MS,
    targets,
    verdicts,
    rows,
  }
  save(run.outDir, 'latency', result, latencyPlot(result))
  return verdicts
}

const inWords = ({ system, tasks, saves, lost, stale, latency }: LatencyRow): string => {
  const { p50, p90, p99, max } = latency
  const counts = `${saves} saves, ${lost} lost, ${stale} stale`
  return `${system} at ${tasks}: p50 ${p50}, p90 ${p90}, p99 ${p99}, max ${max} ms; ${counts}`
}

/** A lost or stale message is a miss, however quick the others were. */
function verdictsOf(rows: LatencyRow[], targets: LatencyResult['targets']): Verdict[] {
  return targets.flatMap(({ tasks, p99Ms, nodeP99Ms }) =>
    rows
      .filter((row) => isOurs(row.system) && row.tasks === tasks)
      .map(({ system, latency, lost, stale, saves }) => {
        const maxMs = system === 'signalbox' ? p99Ms : nodeP99Ms
        return {
          what: `save to client at ${tasks} tasks, p99 (${system})`,
          target: `${maxMs} ms`,
          measured: `${latency.p99} ms, ${lost} of ${saves} lost, ${stale} stale`,
          reached: latency.p99 <= maxMs && lost === 0 && stale === 0,
        }
      }),
  )
}
