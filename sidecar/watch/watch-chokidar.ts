// The file watcher, with chokidar. It watches the folders of a store, and passes on the system's
// events for the files of the store, without a look at them. When a folder is created, removed or
// replaced, it opens chokidar anew. chokidar alone would miss a root that was removed and created
// again, as by `git checkout`, a folder that replaces a link, and every folder whose event the
// system dropped because its queue was full.

import { lstatSync, realpathSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { type FSWatcher, watch } from 'chokidar'
import { DeadlineExceeded, within } from '../../worker/shared/clock.ts'
import { messageOf } from '../log.ts'
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

/** The roots of a store, its folders, and the folders between them. */
function foldersOf({ root, roots, folders }: WatchedStore): ReadonlySet<string> {
  const tops = [root, ...(roots?.() ?? [])]
  const found = new Set(tops)
  for (let folder of folders()) {
    const top = tops.find((it) => folder.startsWith(it + sep))
    for (; top && folder.length > top.length; folder = dirname(folder)) found.add(folder)
  }
  return found
}

class ChokidarWatcher {
  readonly #store: WatchedStore
  readonly #events: WatchEvents
  readonly #patience: WatchPatience
  /** Paths and identities of the folders that chokidar was opened for. */
  #folders: ReadonlyMap<string, string>
  #chokidar: FSWatcher | undefined
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
    this.#folders = identitiesOf(foldersOf(store))
  }

  async start(): Promise<void> {
    const opened = this.#open()
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
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#closing.resolve()
    clearInterval(this.#timer)
    await this.#shut(this.#chokidar)
  }

  /** One that is stuck while it opens may never say that it is closed either. */
  async #shut(chokidar: FSWatcher | undefined): Promise<void> {
    const { clock, withinMs } = this.#patience
    await within(clock, withinMs, async () => chokidar?.close()).catch(() => undefined)
  }

  async #open(): Promise<void> {
    const { root, roots } = this.#store
    const folders = this.#folders
    // Without a root chokidar would watch the folder above it, which may be a home folder.
    const tops = [root, ...(roots?.() ?? [])].filter((top) => folders.has(top))
    if (this.#isClosed || tops.length === 0) return
    const chokidar = watch(tops, {
      ignored: (path) => !folders.has(path),
      ignoreInitial: true,
      followSymlinks: false,
      // The default delays a removal by 100 ms, which splits a rename into two messages.
      atomic: false,
    })
    this.#chokidar = chokidar
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
      this.#fail(new Error('its events come faster than they can be read'))
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
    const now = identitiesOf(foldersOf(this.#store))
    const changed = [...new Set([...before.keys(), ...now.keys()])].filter(
      (path) => before.get(path) !== now.get(path),
    )
    if (changed.length === 0) return
    this.#folders = now
    this.#reopen(
      changed.map(
        (path) => `${path} ${now.has(path) ? 'is a new folder' : 'is no folder any more'}`,
      ),
    )
  }

  #reopen(why: readonly string[]): void {
    const folders = this.#folders
    this.#opening = this.#opening.then(async () => {
      // If they have changed again, the next one opens it.
      if (this.#isClosed || this.#folders !== folders) return
      try {
        await this.#shut(this.#chokidar)
        this.#chokidar = undefined
        await this.#open()
      } catch (error) {
        this.#fail(error)
      }
      this.#gap(why.join(', '))
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

function identitiesOf(folders: Iterable<string>): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const path of folders) {
    const identity = identityOf(path)
    if (identity !== undefined) found.set(path, identity)
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
