// What the edge does not have yet, as keys: those that changed, those that cannot be read now, or
// all of them, since a sync finds every difference. No I/O but the log; time comes in as `now`.

import type { Key } from '../../worker/board/wire.ts'
import type { Log } from '../../worker/shared/log.ts'

/** Past this many a sync finds them again for less memory than remembering them. */
const MAX_KEYS = 50_000
const READ_AGAIN_MS = 5_000
/** A disk that fails for a day must not fill another one with log lines. */
const LOG_UNREAD_MS = 60_000
const NEVER = Number.POSITIVE_INFINITY

export class Outbox {
  readonly #log: Log
  #changed = new Set<Key>()
  /** Those under way: what arrives leaves it. */
  #sending: ReadonlySet<Key> = new Set()
  /** Half-written, or on a disk that fails: not gone, so they are tried again. */
  #unreadable = new Set<Key>()
  #loggedAt = Number.NEGATIVE_INFINITY
  /** Covers all that changed before it begins, so those need not be remembered. */
  needsSync: boolean = true
  /** When the first of what is here came. */
  since = NEVER
  /** When to read again what could not be read. */
  readAt = NEVER

  constructor(log: Log) {
    this.#log = log
  }

  /** Keys that are known, those under way included. */
  get size(): number {
    return this.#changed.size + this.#sending.size + this.#unreadable.size
  }

  get hasChanges(): boolean {
    return this.#changed.size > 0
  }

  get hasUnreadable(): boolean {
    return this.#unreadable.size > 0
  }

  add(keys: Iterable<Key>, now: number): void {
    this.since = Math.min(this.since, now)
    this.#put(keys)
  }

  /** Any record may be another than the edge has. */
  addAll(now = NEVER): void {
    this.since = Math.min(this.since, now)
    this.needsSync = true
    this.#changed.clear()
  }

  /** What could not be read is due now. */
  readNow(): void {
    this.readAt = 0
  }

  /** What could not be read is due again. */
  takeDue(now: number): void {
    if (now < this.readAt) return
    this.#put(this.#unreadable)
    this.#unreadable = new Set()
    this.readAt = NEVER
  }

  beginSync(): void {
    this.needsSync = false
    this.#changed.clear()
  }

  /** What changed, and `others`. The caller deletes from it what has arrived. */
  take(others: Iterable<Key> = []): Set<Key> {
    const keys = this.#changed
    for (const key of others) keys.add(key)
    this.#changed = new Set()
    this.#sending = keys
    return keys
  }

  /** What was taken is sent no longer. `unreadable`: key → why. */
  putBack(unreadable: ReadonlyMap<Key, string>, now: number): void {
    const left = this.#sending
    this.#sending = new Set()
    this.#put(left)
    const [first] = unreadable
    if (!first) return
    if (now - this.#loggedAt >= LOG_UNREAD_MS) {
      const [record, why] = first
      this.#log('warn', 'publish.unreadable', { records: unreadable.size, record, why })
      this.#loggedAt = now
    }
    for (const key of unreadable.keys()) this.#unreadable.add(key)
    this.readAt = Math.min(this.readAt, now + READ_AGAIN_MS)
  }

  /** `hasMore`: more came meanwhile. */
  arrived(hasMore: boolean, now: number): void {
    this.since = hasMore ? now : NEVER
  }

  #put(keys: Iterable<Key>): void {
    if (this.needsSync) return
    for (const key of keys) this.#changed.add(key)
    if (this.#changed.size > MAX_KEYS) this.addAll()
  }
}
