// Puts the parts of a sidecar together for one store. Wiring only.

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { hostClock as clock } from '../worker/shared/clock.ts'
import { Metrics } from '../worker/shared/metrics.ts'
import { Board } from './board/board.ts'
import { createFileReader, type RunOutput } from './files/file-reader.ts'
import { FileTable } from './files/file-table.ts'
import { HashCache } from './files/hash-cache.ts'
import { readSource } from './files/read-source.ts'
import { intervalMs, Scan } from './files/scan.ts'
import type { Store } from './layouts/layout.ts'
import type { Log } from './log.ts'
import { sidecarMetrics } from './metrics.ts'
import { createProgress } from './progress.ts'
import type { Edge, Failure } from './publish/edge.ts'
import { Publisher } from './publish/publisher.ts'
import { Sidecar } from './sidecar.ts'
import type { Watch } from './watch/watch.ts'

export interface SidecarPlan {
  store: Store
  edge: Edge
  /** Folder of all caches; each store has its own in it. Undefined: a restart reads all files. */
  cacheDir: string | undefined
  /** Absent: only scans find what changed. */
  watch?: Watch | undefined
  /** What of runs leaves this machine. */
  runOutput: RunOutput
  log: Log
  /** What the edge's status says of this sidecar. */
  version: string
  /** Shows a line of progress. Absent: it is not shown. */
  terminal?: (text: string) => void
  onFailure?: (failure: Failure) => unknown
  /** Absent: nothing is counted. */
  metrics?: Metrics
}

export interface OpenSidecar {
  board: Board
  sidecar: Sidecar
  publisher: Publisher
}

export function openSidecar(plan: SidecarPlan): OpenSidecar {
  const { store, edge, terminal, version, runOutput, cacheDir, metrics = new Metrics() } = plan
  const counted = sidecarMetrics(metrics)
  const progress = terminal && createProgress(terminal)
  const log: Log = (...event) => {
    progress?.end()
    plan.log(...event)
  }
  const files = new FileTable()
  const read = createFileReader({ store, readSource, clock, runOutput })
  const board = new Board(store, read, files)
  const publisher = new Publisher({
    edge,
    records: board,
    clock,
    log,
    ...(progress && { onProgress: (done, total) => progress.update('sent', done, total) }),
    onFailure(failure) {
      counted.onFailure(failure)
      plan.onFailure?.(failure)
    },
    onPublished: counted.onPublished,
  })
  counted.watch(
    () => publisher.status(),
    () => files.size,
  )
  const sidecar = new Sidecar({
    store,
    board,
    read,
    files,
    scan: new Scan(store, files),
    intervalMs,
    watch: plan.watch,
    publisher,
    ...(cacheDir !== undefined && {
      cache: new HashCache(join(cacheDir, nameOf(store)), store, { version, runOutput }, log),
    }),
    clock,
    log,
    version,
    ...(progress && { onProgress: ({ done, total }) => progress.update('read', done, total) }),
  })
  return { board, sidecar, publisher }
}

/** Two stores never share a cache, and the same one finds its own again. */
const nameOf = ({ root, layout }: Store): string =>
  `${layout}-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`
