// The file watcher, with chokidar. It watches the folders of a store, and passes on the system's
// events for the files of the store, without a look at them. When a folder is created, removed or
// replaced, it opens chokidar anew. chokidar alone would miss a root that was removed and created
// again, as by `git checkout`, a folder that replaces a link, and every folder whose event the
// system dropped because its queue was full.

import { lstatSync, realpathSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { type FSWatcher, watch } from 'chokidar'
import { DeadlineExceeded, within } from '../../worker/shared/clock.ts'
import { messageOf } from '../../worker/shared/log.ts'
import type { Watch, WatchEvents, WatchedStore, Watcher, WatchPatience } from './watch.ts'

/** How often the folders are checked: a few stats a second cost nothing. */
const CHECK_MS = 1_000
/**
 * So many events before anything else of the process has its turn are a flood: twice what the
 * system's queue holds. A count, since a busy machine takes its time over the events of a checkout.
 */
const FLOOD_EVENTS = 32_768

export const watchChokidar: Watch = async (store, events, patience) => {
  const watcher = new ChokidarWatcher(store, events, patience)
  await watcher.start()
  return watcher satisfies Watcher
}

/**
 * The roots of a store, its folders, and the folders between them, each with its root: the nearest,
 * since a worktree may be within the main one.
 */
function foldersOf({ root, roots, folders }: WatchedStore): ReadonlyMap<string, string> {
  const tops = [root, ...(roots?.() ?? [])].toSorted((one, other) => other.length - one.length)
  const found = new Map(tops.map((top) => [top, top]))
  for (let folder of folders()) {
    const top = tops.find((it) => folder === it || folder.startsWith(it + sep))
    for (; top && folder.length > top.length; folder = dirname(folder)) found.set(folder, top)
  }
  return found
}

class ChokidarWatcher {
  readonly #store: WatchedStore
  readonly #events: WatchEvents
  readonly #patience: WatchPatience
  #folders: ReadonlyMap<string, Folder>
  /** One for each root: many at once would read all their folders at once. */
  readonly #chokidars = new Map<string, FSWatcher>()
  /** Roots whose chokidar is to be opened anew. */
  readonly #due = new Set<string>()
  #opening: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #isClosed: boolean = false
  /** The events of this turn of the event loop, and their paths that are no files of ours. */
  #turn: { events: number; others: Set<string> } | undefined
  readonly #closing = Promise.withResolvers<void>()

  constructor(store: WatchedStore, events: WatchEvents, patience: WatchPatience) {
    this.#store = store
    this.#events = events
    this.#patience = patience
    this.#folders = lookAt(store)
  }

  async start(): Promise<void> {
    const opened = this.#open(this.#store.root)
    // A folder that appears meanwhile reopens chokidar after this: one that is closed before it is
    // ready never says so, and the start would wait for ever.
    this.#opening = opened.catch(() => undefined)
    try {
      await opened
    } catch (error) {
      void this.close()
      throw error
    }
    this.#timer = setInterval(() => this.#check(), CHECK_MS).unref()
    const others = this.#store.roots?.() ?? []
    if (others.length > 0) this.#reopen(others, 'linked worktrees are watched from here on')
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#closing.resolve()
    clearInterval(this.#timer)
    await Promise.all([...this.#chokidars.values()].map((each) => this.#shut(each)))
  }

  /** One that is stuck while it opens may never say that it is closed either. */
  async #shut(chokidar: FSWatcher | undefined): Promise<void> {
    const { clock, withinMs } = this.#patience
    await within(clock, withinMs, async () => chokidar?.close()).catch(() => undefined)
  }

  async #open(root: string): Promise<void> {
    const folders = this.#folders
    // Without a root chokidar would watch the folder above it, which may be a home folder.
    if (this.#isClosed || !folders.has(root)) return
    const chokidar = watch(root, {
      ignored: (path) => folders.get(path)?.root !== root,
      ignoreInitial: true,
      followSymlinks: false,
      // The default delays a removal by 100 ms, which splits a rename into two messages.
      atomic: false,
    })
    this.#chokidars.set(root, chokidar)
    const ready = Promise.withResolvers<void>()
    let isReady = false
    chokidar.once('ready', ready.resolve)
    chokidar.on('raw', (_event, name, details) => {
      this.#onRawEvent(name, (details as { watchedPath: string }).watchedPath)
    })
    chokidar.on('unlinkDir', () => this.#check())
    chokidar.on('error', (error) => {
      // If the system refuses a watch, chokidar goes on, and misses all events in that folder.
      if (!isRefusal(error)) this.#gap(`watching failed: ${messageOf(error)}`)
      else if (isReady) this.#fail(error)
      else ready.reject(error)
    })
    // A folder that is swapped for a link while chokidar looks at it leaves it without an end.
    const { clock, withinMs } = this.#patience
    try {
      await within(clock, withinMs, () => Promise.race([ready.promise, this.#closing.promise]))
    } catch (error) {
      void this.#shut(chokidar)
      if (!(error instanceof DeadlineExceeded)) throw error
      throw new Error(`the watcher was not ready within ${withinMs / 1_000} s`)
    }
    isReady = true
    if (this.#isClosed) await this.#shut(chokidar)
  }

  /**
   * The system's own event. They are all read before anything else of the process has its turn:
   * where they come faster than they are read, no signal and no timer ever does.
   */
  #onRawEvent(name: string | null, folder: string): void {
    if (this.#isClosed) return
    if (this.#turn === undefined) setImmediate(() => this.#endTurn())
    this.#turn ??= { events: 0, others: new Set() }
    if (++this.#turn.events > FLOOD_EVENTS) {
      const flood = new Error('its events come faster than they can be read')
      // While it starts, the start fails.
      if (this.#timer === undefined) this.#closing.reject(flood)
      else this.#fail(flood)
      void this.close()
      return
    }
    const path = join(folder, name ?? '')
    if (name === null) this.#gap(`a change in ${folder} came without a name`)
    else if (this.#store.classify(path) !== undefined) this.#events.onHint(path)
    else this.#turn.others.add(path)
  }

  #endTurn(): void {
    const others = [...(this.#turn?.others ?? [])]
    this.#turn = undefined
    const folders = foldersOf(this.#store)
    if (others.some((path) => folders.has(path))) this.#check()
  }

  #check(): void {
    if (this.#isClosed) return
    const before = this.#folders
    const now = lookAt(this.#store)
    const changed = [...new Set([...before.keys(), ...now.keys()])].filter(
      (path) => before.get(path)?.identity !== now.get(path)?.identity,
    )
    if (changed.length === 0) return
    this.#folders = now
    const roots = changed.flatMap((path) => now.get(path)?.root ?? before.get(path)?.root ?? [])
    const why = changed.map(
      (path) => `${path} ${now.has(path) ? 'is a new folder' : 'is no folder any more'}`,
    )
    this.#reopen(roots, why.join(', '))
  }

  #reopen(roots: readonly string[], why: string): void {
    for (const root of roots) this.#due.add(root)
    this.#opening = this.#opening.then(async () => {
      // Another one took them along.
      if (this.#due.size === 0) return
      try {
        for (const root of this.#due) {
          this.#due.delete(root)
          if (this.#isClosed) return
          await this.#shut(this.#chokidars.get(root))
          this.#chokidars.delete(root)
          await this.#open(root)
        }
      } catch (error) {
        this.#fail(error)
      }
      this.#gap(why)
    })
  }

  #gap(why: string): void {
    if (!this.#isClosed) this.#events.onGap(why)
  }

  #fail(error: unknown): void {
    if (!this.#isClosed) this.#events.onFailed(messageOf(error))
  }
}

/** ENOSPC or EMFILE: no watches are left. Others: this mount does not support watches. */
const isRefusal = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && error.syscall === 'watch'

interface Folder {
  root: string
  identity: string
}

function lookAt(store: WatchedStore): ReadonlyMap<string, Folder> {
  const found = new Map<string, Folder>()
  for (const [path, root] of foldersOf(store)) {
    const identity = identityOf(path)
    if (identity !== undefined) found.set(path, { root, identity })
  }
  return found
}

/**
 * Identifies the folder at a path. Undefined: there is none, or it is behind a link, where files
 * are not read. A folder that was removed and created again often gets the same inode, so its birth
 * time is part of it.
 */
function identityOf(path: string): string | undefined {
  try {
    const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false })
    if (!stat?.isDirectory() || realpathSync.native(path) !== path) return undefined
    return `${stat.dev}:${stat.ino}:${stat.birthtimeNs}`
  } catch {
    // It cannot be watched now. The scan reports why.
    return undefined
  }
}
