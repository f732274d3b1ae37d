// The port of a file watcher. What a watcher says is a hint, never a fact: it may be late, double
// or lost, and the scan beneath it finds what was missed. Adapter: watch-chokidar.ts.

import type { Clock } from '../../worker/shared/clock.ts'
import type { Store } from '../layouts/layout.ts'

/** What a watcher needs to know of a store. */
export interface WatchedStore extends Pick<Store, 'root' | 'folders' | 'classify'> {
  /**
   * Those of its copies in linked worktrees. Asked at every look. They are watched after the store
   * itself, and a gap says from when on.
   */
  roots?(): readonly string[]
}

/**
 * More hinted files at once may mean that the system's own queue overflowed (16,384 events on
 * Linux, four to a save), which nothing reports: the listener must scan then, and once more after
 * `AFTER_MANY_MS`, since the last hints may be lost as well.
 */
export const MANY_HINTS = 100
export const AFTER_MANY_MS = 1_000

/**
 * Nothing waits longer for a watcher to be ready, or to be closed: one that is stuck is left
 * behind. 100,000 files take 2 s. `--watch-timeout` sets another time.
 */
export const WATCH_WITHIN_MS = 10_000

/** By what a watcher waits. */
export interface WatchPatience {
  clock: Clock
  withinMs: number
}

export interface WatchEvents {
  /** Something happened to this file of the store: made, written, removed or replaced. */
  onHint(path: string): void
  /** Hints may be missing: the listener must scan. The sentence goes into the log. */
  onGap(why: string): void
  /** The watcher failed and hints at nothing any more. The listener may start another one. */
  onFailed(why: string): void
}

export interface Watcher {
  /** Releases every handle. Nothing is reported from then on. Resolves within the patience. */
  close(): Promise<void>
}

/**
 * Watches the files of a store. Its folders and its root may not exist, may be removed and return.
 * Resolves when changes from now on are reported; rejects when the system refuses to watch (no
 * watches left, or none on this mount) or takes longer than the patience. Creates nothing on disk.
 */
export type Watch = (
  store: WatchedStore,
  events: WatchEvents,
  patience: WatchPatience,
) => Promise<Watcher>
