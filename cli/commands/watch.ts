// Publishes boards for as long as it runs.

import { openBoards } from '../../sidecar/boards/open-boards.ts'
import { type Healthz, serveHealthz } from '../../sidecar/healthz.ts'
import type { Log } from '../../sidecar/log.ts'
import { watchChokidar } from '../../sidecar/watch/watch-chokidar.ts'
import type { LayoutName } from '../../worker/board/wire.ts'
import { Metrics } from '../../worker/shared/metrics.ts'
import { processMetrics } from '../../worker/shared/metrics-node.ts'
import { type Context, type Input, noticeTo, UsageError } from '../command.ts'
import { type PublishOptions, readPublishing } from './publish-settings.ts'

interface WatchOptions extends PublishOptions {
  only?: readonly LayoutName[]
  poll?: boolean
  /** In ms. */
  watchTimeout: number
  healthz?: number
  wait?: boolean
  exitWithParent?: boolean
}

const FAILED = 1

export async function run(input: Input<WatchOptions>, context: Context): Promise<number> {
  const { io } = context
  const {
    only,
    poll,
    watchTimeout: watchWithinMs,
    healthz: port,
    wait: waits,
    exitWithParent,
  } = input.options
  const { dirs, repo, followsLinks, plan, ...publishing } = readPublishing(input, context)
  // `start` waits until the boards are published, and says when one is gone.
  const log: Log = (level, event, fields) => {
    publishing.log(level, event, fields)
    io.sendToParent?.({ event, ...fields })
  }
  const end = io.ended({ withParent: exitWithParent })
  end.addEventListener('abort', () => log('info', 'sidecar.ending', { why: end.reason }))
  const metrics = new Metrics()
  const open = await openBoards({
    ...{ ...plan, dirs, repo, isRepoChosen: true, waits, log, metrics },
    search: { followsLinks, only },
    watch: poll ? undefined : watchChokidar,
    watchWithinMs,
  })
  let healthz: Healthz | undefined
  try {
    if (port !== undefined) {
      processMetrics(metrics)
      healthz = await serveHealthz(port, open.health, metrics)
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    const sentence = `Port ${port} for --healthz cannot be had (${code}).`
    if (code !== 'EADDRINUSE') throw new UsageError(sentence)
    // It may be free soon: a supervisor starts again after all but a wrong use.
    noticeTo(io, 'error')(sentence)
    return FAILED
  }
  if (healthz) log('info', 'healthz.listening', { port: healthz.port })
  const { ready, ended } = open.run(end)
  void ready.then(() => {
    const { boards } = open.health()
    const behind = boards.filter((board) => board.behind).length
    log('info', 'boards.ready', { boards: boards.length, behind })
  })
  await ended
  await healthz?.close()
  return 0
}
