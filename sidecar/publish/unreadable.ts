// Records that exist and cannot be read now: half-written, or on a disk that fails. They are not
// gone, so they are tried again until they can be read. Time comes in as `now`.

import type { Key } from '../../worker/board/wire.ts'
import type { Log } from '../log.ts'

const AGAIN_MS = 5_000
/** A disk that fails for a day must not fill another one with log lines. */
const LOG_EVERY_MS = 60_000
const NEVER = Number.POSITIVE_INFINITY

export class Unreadable {
  readonly #log: Log
  #keys = new Set<Key>()
  #loggedAt = Number.NEGATIVE_INFINITY
  /** When to `take` them and try again. */
  due = NEVER

  constructor(log: Log) {
    this.#log = log
  }

  get size(): number {
    return this.#keys.size
  }

  /** Key → why. */
  remember(unreadable: ReadonlyMap<Key, string>, now: number): void {
    const [first] = unreadable
    if (!first) return
    if (now - this.#loggedAt >= LOG_EVERY_MS) {
      const [record, why] = first
      this.#log('warn', 'publish.unreadable', { records: unreadable.size, record, why })
      this.#loggedAt = now
    }
    for (const key of unreadable.keys()) this.#keys.add(key)
    this.due = Math.min(this.due, now + AGAIN_MS)
  }

  /** Hands all of them back. */
  take(): Set<Key> {
    const keys = this.#keys
    this.#keys = new Set()
    this.due = NEVER
    return keys
  }
}
