// The file watcher, with chokidar. It watches the folders of a store, and passes on the system's
// events for the files of the store, without a look at them. This file also does two things that
// chokidar does not. It checks the root, since chokidar reports nothing after the root was removed
// and created again, as `git checkout` does. And it checks links, since chokidar does not watch a
// folder that replaces a link.

import { lstatSync, realpathSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { type FSWatcher, watch } from 'chokidar'
import { messageOf } from '../error-message.ts'
import type { Watch, WatchEvents, WatchedStore, Watcher } from './watch.ts'

/** How often the root is checked: one stat a second costs nothing. */
const ROOT_CHECK_MS = 1_000

export const watchChokidar: Watch = async (store, events) => {
  const watcher = new ChokidarWatcher(store, events)
  await watcher.start()
  return watcher satisfies Watcher
}

/** The folders of a store, and the folders between them and its root, without the root. */
function foldersOf({ root, folders }: WatchedStore): ReadonlySet<string> {
  const found = new Set<string>()
  for (let folder of folders()) {
    for (; folder.startsWith(root + sep); folder = dirname(folder)) found.add(folder)
  }
  return found
}

/**
 * Whether a path is a folder of the store, or above one. The store is asked each time, since its
 * folders may change.
 */
const isWatched = ({ folders }: WatchedStore, path: string): boolean =>
  folders().some((folder) => folder === path || folder.startsWith(path + sep))

class ChokidarWatcher {
  readonly #store: WatchedStore
  readonly #events: WatchEvents
  #root: string | undefined
  /** Paths of the store's folders where there is something else, such as a link. */
  readonly #replaced = new Set<string>()
  #chokidar: FSWatcher | undefined
  #opening: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #isClosed: boolean = false

  constructor(store: WatchedStore, events: WatchEvents) {
    this.#store = store
    this.#events = events
  }

  async start(): Promise<void> {
    this.#root = identityOf(this.#store.root)
    try {
      await this.#open()
    } catch (error) {
      await this.close()
      throw error
    }
    this.#timer = setInterval(() => this.#checkRoot(), ROOT_CHECK_MS).unref()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    await this.#opening
    await this.#chokidar?.close()
  }

  async #open(): Promise<void> {
    // Without a root chokidar would watch the folder above it, which may be a home folder.
    if (this.#root === undefined) return
    for (const path of foldersOf(this.#store))
      if (kindOf(path) === 'other') this.#replaced.add(path)
    const chokidar = watch(this.#store.root, {
      ignored: (path) => !isWatched(this.#store, path),
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
    chokidar.on('all', (event, path) => this.#onEvent(event, path))
    chokidar.on('error', (error) => {
      // If the system refuses a watch, chokidar goes on, and misses all events in that folder.
      if (!isRefusal(error)) this.#gap(`watching failed: ${messageOf(error)}`)
      else if (isReady) this.#fail(error)
      else ready.reject(error)
    })
    await ready.promise
    isReady = true
  }

  /** The system's own event. */
  #onRawEvent(name: string | null, folder: string): void {
    if (this.#isClosed) return
    const path = join(folder, name ?? '')
    if (name === null) this.#gap(`a change in ${folder} came without a name`)
    else if (this.#store.classify(path) !== undefined) this.#events.onHint(path)
    else if (foldersOf(this.#store).has(path)) this.#checkFolder(path)
  }

  #checkFolder(path: string): void {
    const kind = kindOf(path)
    if (kind === 'other' && !this.#replaced.has(path)) {
      this.#replaced.add(path)
      this.#gap(`${path} is no longer a folder`)
    } else if (kind === 'folder' && this.#replaced.delete(path)) {
      this.#reopen(() => `${path} is a folder again`)
    }
  }

  /** Of folders only. The files of a folder that is moved as a whole have no event. */
  #onEvent(event: string, path: string): void {
    if (this.#isClosed) return
    if (path === this.#store.root) this.#checkRoot()
    else if (event === 'addDir') this.#gap(`${path} was created`)
    else if (event === 'unlinkDir') this.#gap(`${path} was removed`)
  }

  #checkRoot(): void {
    const root = identityOf(this.#store.root)
    if (root === this.#root || this.#isClosed) return
    this.#root = root
    const { root: path } = this.#store
    this.#reopen(() =>
      this.#root === undefined ? `${path} is not there` : `${path} was created or replaced`,
    )
  }

  #reopen(why: () => string): void {
    this.#opening = this.#opening.then(async () => {
      if (this.#isClosed) return
      try {
        await this.#chokidar?.close()
        this.#chokidar = undefined
        await this.#open()
      } catch (error) {
        this.#fail(error)
      }
      this.#gap(why())
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

/**
 * Identifies the folder at the root's path. Undefined: there is none. A folder that was removed and
 * created again often gets the same inode, so its birth time is part of it.
 */
function identityOf(root: string): string | undefined {
  try {
    const stat = lstatSync(root, { bigint: true, throwIfNoEntry: false })
    // A link above it leads to the same folder, whose files are not read then.
    if (stat && realpathSync.native(root) !== root) return undefined
    return stat?.isDirectory() ? `${stat.dev}:${stat.ino}:${stat.birthtimeNs}` : undefined
  } catch {
    // It cannot be watched now. The scan reports why.
    return undefined
  }
}

function kindOf(path: string): 'folder' | 'other' | 'absent' {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (!stat) return 'absent'
    return stat.isDirectory() ? 'folder' : 'other'
  } catch {
    return 'absent'
  }
}
