// The watcher, on chokidar. It is told which files are the store's: of every other name, such as
// the temporary file of a save, it would read the whole folder again (280 ms at 20,000 files).
// Two things it does not do. After the root was removed and made again it stays deaf, and that is
// what `git checkout` does. And where a link stood it never watches the folder that takes its
// place. So the root and the links are looked at here.

import { lstatSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { type FSWatcher, watch } from 'chokidar'
import { messageOf } from '../error-message.ts'
import type { Watch, WatchEvents, WatchedStore, Watcher } from './watch.ts'

/** How often the root is looked at: one stat a second costs nothing. */
const ROOT_LOOK_MS = 1_000

export const watchChokidar: Watch = async (store, events) => {
  const watcher = new ChokidarWatcher(store, events)
  await watcher.start()
  return watcher satisfies Watcher
}

/**
 * Whether chokidar may look at a path: files of the store, its folders, and the folders between the
 * root and those. Without the folders it would hear nothing.
 */
export function isWatched({ classify, folders }: WatchedStore, path: string): boolean {
  if (classify(path) !== undefined) return true
  return folders().some((folder) => folder === path || folder.startsWith(path + sep))
}

/** The folders of a store, and those between it and them, without its root. */
function foldersOf({ root, folders }: WatchedStore): ReadonlySet<string> {
  const found = new Set<string>()
  for (let folder of folders()) {
    for (; folder.startsWith(root + sep); folder = dirname(folder)) found.add(folder)
  }
  return found
}

class ChokidarWatcher {
  readonly #store: WatchedStore
  readonly #events: WatchEvents
  #root: string | undefined
  /** Folders of the store in whose place something else stands. */
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
    this.#timer = setInterval(() => this.#lookAtRoot(), ROOT_LOOK_MS).unref()
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
      // The default holds a removal back for 100 ms, which splits a rename in two messages.
      atomic: false,
    })
    this.#chokidar = chokidar
    const ready = Promise.withResolvers<void>()
    let isReady = false
    chokidar.once('ready', ready.resolve)
    chokidar.on('raw', (_event, name, details) => {
      this.#heardRaw(name, (details as { watchedPath: string }).watchedPath)
    })
    chokidar.on('all', (event, path) => this.#heard(event, path))
    chokidar.on('error', (error) => {
      // The system refused a watch: chokidar would go on, deaf in that folder.
      if (!isRefusal(error)) this.#gap(`watching failed: ${messageOf(error)}`)
      else if (isReady) this.#fail(error)
      else ready.reject(error)
    })
    await ready.promise
    isReady = true
  }

  /**
   * The system's own event, before chokidar looks at the file. Of 500 files that are replaced at
   * once chokidar's `change` comes up to a second later, one stat after the other.
   */
  #heardRaw(name: string | null, folder: string): void {
    if (this.#isClosed) return
    const path = join(folder, name ?? '')
    if (name === null) this.#gap(`a change in ${folder} came without a name`)
    else if (this.#store.classify(path) !== undefined) this.#events.onHint(path)
    else if (foldersOf(this.#store).has(path)) this.#lookAtFolder(path)
  }

  #lookAtFolder(path: string): void {
    const kind = kindOf(path)
    if (kind === 'other' && !this.#replaced.has(path)) {
      this.#replaced.add(path)
      this.#gap(`${path} is no folder any more`)
    } else if (kind === 'folder' && this.#replaced.delete(path)) {
      this.#reopen(() => `${path} is a folder again`)
    }
  }

  /** What has no raw event of its own: files of a folder that came or went as a whole. */
  #heard(event: string, path: string): void {
    if (this.#isClosed) return
    if (event === 'add' || event === 'unlink') this.#events.onHint(path)
    else if (path === this.#store.root) this.#lookAtRoot()
  }

  #lookAtRoot(): void {
    const root = identityOf(this.#store.root)
    if (root === this.#root || this.#isClosed) return
    this.#root = root
    const { root: path } = this.#store
    this.#reopen(() =>
      this.#root === undefined ? `${path} is gone` : `${path} was made or replaced`,
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

/** ENOSPC or EMFILE: no watch is left; others: this mount has none. */
const isRefusal = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && error.syscall === 'watch'

/**
 * What tells two roots of one path apart; undefined: there is none. A folder that was removed and
 * made again often gets the same inode, so the time of its birth counts too.
 */
function identityOf(root: string): string | undefined {
  try {
    const stat = lstatSync(root, { bigint: true, throwIfNoEntry: false })
    return stat?.isDirectory() ? `${stat.dev}:${stat.ino}:${stat.birthtimeNs}` : undefined
  } catch {
    // Nothing can be watched there now; the scan says why.
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
