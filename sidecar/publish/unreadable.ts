// Records that exist and cannot be read now: half-written, or on a disk that fails. They are not
// gone, so they are tried again until they can be read.

import type { Key } from '../../worker/board/wire.ts'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'

const AGAIN_MS = 5_000
/** A disk that fails for a day must not fill another one with log lines. */
const TOLD_EVERY_MS = 60_000

export class Unreadable {
  readonly #clock: Clock
  readonly #log: Log
  readonly #again: (keys: Set<Key>) => void
  #keys = new Set<Key>()
  #cancel: (() => void) | undefined
  #toldAt = Number.NEGATIVE_INFINITY

  constructor(clock: Clock, log: Log, again: (keys: Set<Key>) => void) {
    this.#clock = clock
    this.#log = log
    this.#again = again
  }

  get size(): number {
    return this.#keys.size
  }

  /** Key → why. */
  remember(unreadable: ReadonlyMap<Key, string>): void {
    const [first] = unreadable
    if (!first) return
    const now = this.#clock.now()
    if (now - this.#toldAt >= TOLD_EVERY_MS) {
      const [record, why] = first
      this.#log('warn', 'publish.unreadable', { records: unreadable.size, record, why })
      this.#toldAt = now
    }
    for (const key of unreadable.keys()) this.#keys.add(key)
    this.#cancel ??= this.#clock.after(AGAIN_MS, () => this.flush())
  }

  /** Hands all of them back now. */
  flush(): void {
    this.#cancel?.()
    this.#cancel = undefined
    const keys = this.#keys
    this.#keys = new Set()
    if (keys.size > 0) this.#again(keys)
  }
}
