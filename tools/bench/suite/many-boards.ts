// What it costs to publish many boards: the sidecars of all in one process. The edge is another one.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { SIGNALBOX } from '../../harness/config.ts'
import { prepareNode } from '../../harness/hosts.ts'
import { type Bench, reporter } from '../bench.ts'
import { makeBoard } from '../board.ts'
import { coreOf, mebibytesOf } from '../proc.ts'
import { BOARDS_READY, startEdge, startNode, tokenFor } from '../programs.ts'

/** `restarts`: with nothing changed since the last one. */
const FULL = { series: [1, 10, 100], restarts: 5, settleMs: 10_000, idleMs: 120_000 }
const QUICK: typeof FULL = { series: [2], restarts: 1, settleMs: 500, idleMs: 2_000 }
const TASKS_EACH = 100
const MAX_READY_MS = 5_000

export const runBoards: Bench = async (run) => {
  const { series, restarts, settleMs, idleMs } = run.isQuick ? QUICK : FULL
  for (const count of series) {
    const dir = join(run.workDir, `boards-${count}`)
    const project = join(dir, 'project')
    for (let n = 0; n < count; n++) makeBoard(join(project, `package-${n}`), TASKS_EACH)
    await using edge = await startEdge(prepareNode, join(dir, 'edge'))
    const token = await tokenFor('board:write', { repos: ['*'], sub: 'bench' })
    const to = ['--repo', 'bench', '--edge', edge.url, '--cache', join(dir, 'cache')]
    const start = async () => {
      const startedAt = performance.now()
      const place = { dir, env: { SIGNALBOX_TOKEN: token } }
      const started = await startNode([SIGNALBOX, 'watch', project, ...to], BOARDS_READY, place)
      return { ...started, ms: performance.now() - startedAt }
    }
    const tookMs: number[] = []
    for (let n = 0; n < restarts; n++) {
      const { ms, program } = await start()
      tookMs.push(ms)
      await program.stop()
    }
    const { ms, program } = await start()
    await using _ = program
    // All is sent, the first time.
    const [first = ms, ...others] = [...tookMs, ms]
    await sleep(settleMs)
    const show = reporter(run, 'one process', `${count} ${count === 1 ? 'board' : 'boards'}: `)
    show('first start', 'ms', first)
    show('restart', 'ms', others, count === series.at(-1) ? MAX_READY_MS : undefined)
    // What it shares with others counts in part.
    show('memory', 'MiB', mebibytesOf(program.pid, 'Pss'))
    show('memory, resident', 'MiB', mebibytesOf(program.pid, 'VmRSS'))
    show('of a core, at rest', '%', await coreOf(program.pid, idleMs))
  }
}
