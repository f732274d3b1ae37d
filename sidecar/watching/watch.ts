// The port of a file watcher. What a watcher says is a hint, never a fact: it may be late, double
// or lost, and the scan beneath it finds what was missed. Adapters: watch-native.ts,
// watch-chokidar.ts, and watch-polling.ts for mounts that never fire.

export interface WatchEvents {
  /** Something happened to this absolute path: made, written, removed or replaced. */
  onHint(path: string): void
  /**
   * Hints may be missing (an error, an overflow, a folder that went away or came back): whoever
   * listens must scan. The sentence goes into the log.
   */
  onGap(why: string): void
}

export interface Watcher {
  /** Which adapter this is, for the log. */
  readonly name: string
  /** Releases every handle. Nothing is reported after it resolved. */
  close(): Promise<void>
}

/**
 * Watches the files directly in `folders` (absolute; they may not exist, may vanish and come back,
 * and `root`, which holds them all, may too). Resolves when changes from now on are reported.
 * Never creates anything.
 */
export type Watch = (
  root: string,
  folders: readonly string[],
  events: WatchEvents,
) => Promise<Watcher>
