// Puts the parts of a sidecar together for one store, and shows its progress.

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { hostClock as clock, within } from '../worker/shared/clock.ts'
import type { Log } from '../worker/shared/log.ts'
import { Board } from './board/board.ts'
import { FileReader } from './files/file-reader.ts'
import { HashCache } from './files/hash-cache.ts'
import type { RunOutput } from './files/parse-file.ts'
import { intervalMs } from './files/scan.ts'
import type { Repositories } from './git/repository.ts'
import type { SidecarStatus } from './health.ts'
import { type Store, whyFewer } from './layouts/layout.ts'
import type { SidecarMetrics } from './metrics.ts'
import { DirectoryWriter } from './publish/directory.ts'
import type { Edge, Failure } from './publish/edge.ts'
import { Publisher } from './publish/publisher.ts'
import { Sidecar } from './sidecar.ts'
import { FoundTrees } from './trees/found-trees.ts'
import { KeptTrees } from './trees/kept-trees.ts'
import type { Watch } from './watch/watch.ts'

/**
 * A change does not wait longer for git, which is asked only after a HEAD has moved: without its
 * answer, what a switch brought and took would look as if somebody had made and deleted it. Less
 * than the end waits for what is pending.
 */
const MAIN_TREE_MS = 2_500

/** What is the same for every board of a process. */
export interface SidecarOptions {
  /** Folder of all caches; each store has its own in it. Undefined: a restart reads all files. */
  cacheDir: string | undefined
  /** Absent: only scans find what changed. */
  watch?: Watch | undefined
  /** Nothing waits longer for the watcher. Absent: `WATCH_WITHIN_MS`. */
  watchWithinMs?: number | undefined
  /** What of runs leaves this machine. */
  runOutput: RunOutput
  log: Log
  /** What the edge's status says of this sidecar. */
  version: string
}

export interface SidecarPlan extends SidecarOptions {
  store: Store
  edge: Edge
  /** Absent: it is not shown. */
  progress?: Progress | undefined
  onFailure?: (failure: Failure) => unknown
  /** A large board is read for the first time, and the edge says how far it is. */
  onReading?: (files: number) => void
  /** Absent: nothing is counted. */
  metrics?: SidecarMetrics | undefined
  /** Absent: linked worktrees are left out. */
  trees?: { repositories: Repositories /** Of its project. */; dir: string }
  /** When the board was found, by `performance.now`. Absent: when the process began. */
  since?: number
}

export interface OpenSidecar {
  board: Board
  sidecar: Sidecar
  publisher: Publisher
  status(): SidecarStatus
  /**
   * Publishes until the signal is aborted. `ready` resolves when the edge holds all of the board;
   * `ended` rejects for a defect.
   */
  run(end: AbortSignal): { ready: Promise<void>; ended: Promise<void> }
}

/** A board that knows nothing yet, and how its files are read. */
export function openBoard({
  store,
  runOutput,
  log,
  trees,
}: Pick<SidecarPlan, 'store' | 'runOutput' | 'log' | 'trees'>) {
  const foundTrees = trees && new FoundTrees({ store, log, ...trees })
  const { read, readWhole } = new FileReader({
    store,
    clock,
    runOutput,
    copied: (path) => board.trees.filesAt(path),
    isBusy: (tree) => foundTrees?.isBusy(tree) ?? false,
  })
  const board: Board = new Board(store, readWhole)
  return { board, read, trees: foundTrees }
}

export function openSidecar(plan: SidecarPlan): OpenSidecar {
  const { store, edge, progress, version, runOutput, cacheDir, metrics, since = 0 } = plan
  const log: Log = (...event) => {
    progress?.end()
    plan.log(...event)
  }
  const { board, read, trees } = openBoard({ ...plan, log })
  const publisher = new Publisher({
    edge,
    records: board,
    directory: new DirectoryWriter({ edge, board, layout: store.layout, clock, log, version }),
    ...(trees && {
      mainSince: (sent) =>
        within(clock, MAIN_TREE_MS, () => trees.mainSince(sent)).catch(() => undefined),
    }),
    clock,
    log,
    ...(progress && { onProgress: (done, total) => progress.update('sent', done, total) }),
    onFailure(failure) {
      metrics?.onFailure(failure)
      plan.onFailure?.(failure)
    },
    onPublished: (ms) => metrics?.onPublished(ms),
  })
  const sidecar = new Sidecar({
    store,
    board,
    read,
    intervalMs,
    watch: plan.watch,
    watchWithinMs: plan.watchWithinMs,
    publisher,
    ...(trees && { trees }),
    ...(cacheDir !== undefined && {
      cache: new HashCache(join(cacheDir, nameOf(store)), store, { version, runOutput }, log),
      keptTrees: new KeptTrees(join(cacheDir, nameOf(store)), store, { version, runOutput }, log),
    }),
    clock,
    log,
    version,
    ...(plan.onReading && { onReading: plan.onReading }),
    ...(progress && { onProgress: ({ done, total }) => progress.update('read', done, total) }),
  })
  const run = (end: AbortSignal) => {
    const ended = sidecar.run(end).then(() => {
      const { behind, dirty } = publisher.status()
      log(behind ? 'warn' : 'info', 'sidecar.ended', { behind, dirty })
    })
    const ready = publisher.synced().then(() => {
      if (end.aborted) return
      const ms = Math.round(performance.now() - since)
      const { size: files } = board.files
      const tasks = board.countTasks()
      log('info', 'sidecar.ready', { files, tasks, ms })
      const why = whyFewer(store, tasks)
      if (why !== undefined) log('warn', 'board.few_tasks', { root: store.root, why })
    })
    return { ready, ended }
  }
  const status = () => ({ ...publisher.status(), files: board.files.size })
  return { board, sidecar, publisher, status, run }
}

/** Two stores never share a cache, and the same one finds its own again. */
const nameOf = ({ root, layout }: Store): string =>
  `${layout}-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`

const PROGRESS_FROM = 500
const PROGRESS_EVERY_MS = 100

export interface Progress {
  update(verb: 'read' | 'sent', done: number, total: number): void
  /** Clears the line, so that a log line after it starts on its own. */
  end(): void
}

/**
 * One line on a terminal that is written over while a large first sync runs. Small ones are over
 * before anybody could read it, so it appears only when there is much to do.
 */
export function createProgress(write: (text: string) => void, now = Date.now): Progress {
  let shownAt: number | undefined
  const end = (): void => {
    if (shownAt !== undefined) write('\r\x1b[K')
    shownAt = undefined
  }
  return {
    update(verb, done, total) {
      if (total < PROGRESS_FROM) return
      if (done >= total) return end()
      if (shownAt !== undefined && now() - shownAt < PROGRESS_EVERY_MS) return
      const percent = Math.floor((done / total) * 100)
      write(`\r\x1b[K${verb} ${done} of ${total} (${percent} %)`)
      shownAt = now()
    },
    end,
  }
}
