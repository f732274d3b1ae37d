// The watcher that asks the system itself: one `fs.watch` a folder, whatever the number of files.
// Not on @parcel/watcher, which is as quick but drops changes for good: it empties its list of
// changes in two steps (a save between them is lost) and forgets a file that was replaced and
// removed within 50 ms. What the system's queue drops is covered by burst.ts and the scan.

import { type FSWatcher, watch } from 'node:fs'
import { basename, join } from 'node:path'
import { messageOf } from '../error-message.ts'
import { burstTimer } from './burst.ts'
import { FolderGuard, type Turn } from './folder-guard.ts'
import type { Watch, WatchEvents, Watcher } from './watch.ts'

export const watchNative: Watch = async (root, folders, events) => {
  const watcher = new NativeWatcher(root, folders, events)
  await watcher.start()
  return watcher satisfies Watcher
}

class NativeWatcher {
  readonly name = 'native'
  readonly #events: WatchEvents
  readonly #guard: FolderGuard
  readonly #handles = new Map<string, FSWatcher>()
  readonly #deaf = new Set<string>()
  readonly #burst = burstTimer(() => this.#gap('a burst of changes may have overflowed the queue'))
  #closed = false

  constructor(root: string, folders: readonly string[], events: WatchEvents) {
    this.#events = events
    this.#guard = new FolderGuard(root, folders, (turns) => this.#turned(turns))
  }

  /** Rejects when the system has no watch left (ENOSPC, EMFILE): then polling is the way. */
  async start(): Promise<void> {
    try {
      for (const folder of await this.#guard.start()) this.#arm(folder)
    } catch (error) {
      await this.close()
      throw error
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#burst.close()
    for (const folder of [...this.#handles.keys()]) this.#disarm(folder)
    await this.#guard.close()
  }

  #arm(folder: string): void {
    this.#disarm(folder)
    let handle: FSWatcher
    try {
      handle = watch(folder, (_, name) => this.#heard(folder, name))
    } catch (error) {
      // Gone between the look and the watch: the guard's next look tells of it.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      this.#guard.doubt(folder)
      return
    }
    handle.on('error', (error) => {
      this.#disarm(folder)
      this.#gap(`watching ${folder} failed: ${error.message}`)
      this.#guard.doubt(folder)
    })
    this.#handles.set(folder, handle)
  }

  #disarm(folder: string): void {
    this.#handles.get(folder)?.close()
    this.#handles.delete(folder)
  }

  #heard(folder: string, name: string | null): void {
    if (this.#closed) return
    this.#burst.hint()
    if (name === null) {
      this.#gap(`a change in ${folder} came without a name`)
      return
    }
    const path = join(folder, name)
    // A folder that is removed or renamed says so under its own name; its handle is dead from then.
    const self = name === basename(folder)
    if (self) this.#guard.doubt(folder)
    if (self || this.#guard.guards(path)) this.#guard.look()
    else this.#events.onHint(path)
  }

  #turned(turns: readonly Turn[]): void {
    if (this.#closed) return
    for (const { folder, present } of turns) {
      this.#disarm(folder)
      if (!present) {
        this.#gap(`${folder} is gone`)
        continue
      }
      try {
        this.#arm(folder)
        this.#deaf.delete(folder)
        this.#gap(`${folder} was made or replaced`)
      } catch (error) {
        // Tried again at every look, told once: each gap costs a scan.
        this.#guard.doubt(folder)
        if (!this.#deaf.has(folder)) this.#gap(`${folder} is not watched: ${messageOf(error)}`)
        this.#deaf.add(folder)
      }
    }
  }

  #gap(why: string): void {
    if (!this.#closed) this.#events.onGap(why)
  }
}
