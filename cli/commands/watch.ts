// Publishes a board for as long as it runs.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Healthz, serveHealthz } from '../../sidecar/healthz.ts'
import type { Store } from '../../sidecar/layouts/layout.ts'
import { findStore, openStore } from '../../sidecar/layouts/registry.ts'
import type { Log } from '../../sidecar/log.ts'
import { type OpenSidecar, openSidecar } from '../../sidecar/open-sidecar.ts'
import { watchChokidar } from '../../sidecar/watch/watch-chokidar.ts'
import { Metrics } from '../../worker/shared/metrics.ts'
import { processMetrics } from '../../worker/shared/metrics-node.ts'
import { type Context, type Input, UsageError } from '../command.ts'
import { type PublishOptions, readPublishing } from './publish-settings.ts'

interface WatchOptions extends PublishOptions {
  poll?: boolean
  healthz?: number
  wait?: boolean
  exitWithParent?: boolean
}

/** How often a folder without a board is looked at again. */
const LOOK_AGAIN_MS = 1_000

export async function run(input: Input<WatchOptions>, context: Context): Promise<number> {
  const { io } = context
  const { poll, healthz: port, wait, exitWithParent } = input.options
  const { dir, followsLinks, plan, ...publishing } = readPublishing(input, context)
  // `start` waits until the board is published, and says when it is gone.
  const log: Log = (level, event, fields) => {
    publishing.log(level, event, fields)
    io.sendToParent?.({ event, ...fields })
  }
  const end = io.ended({ withParent: exitWithParent })
  end.addEventListener('abort', () => log('info', 'sidecar.ending', { why: end.reason }))
  const store = wait
    ? await awaitStore(dir, () => findStore(dir, { followsLinks }), log, end)
    : await openStore(dir, { followsLinks })
  if (!store) return 0
  const metrics = new Metrics()
  const watch = poll ? undefined : watchChokidar
  const open = openSidecar({ ...plan, store, watch, log, metrics })
  const healthz = await health(port, open, metrics)
  if (healthz) log('info', 'healthz.listening', { port: healthz.port })
  await open.run(end).ended
  await healthz?.close()
  return 0
}

/** The store, as soon as there is one; undefined when the end came first. */
async function awaitStore(
  dir: string,
  find: () => Promise<Store | undefined>,
  log: Log,
  end: AbortSignal,
): Promise<Store | undefined> {
  for (let isFirst = true; !end.aborted; isFirst = false) {
    const store = await find()
    if (store) return store
    if (isFirst) log('warn', 'store.awaited', { dir })
    await sleep(LOOK_AGAIN_MS, undefined, { signal: end }).catch(() => undefined)
  }
  return undefined
}

async function health(
  port: number | undefined,
  { board, publisher }: OpenSidecar,
  metrics: Metrics,
): Promise<Healthz | undefined> {
  if (port === undefined) return undefined
  processMetrics(metrics)
  try {
    const status = () => ({ ...publisher.status(), files: board.files.size })
    return await serveHealthz(port, status, metrics)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new UsageError(`port ${port} for --healthz cannot be had (${code}).`)
  }
}
