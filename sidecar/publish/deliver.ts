// Delivers one change: reads the newest content of its keys, in parts, and sends them one by one.
// While a part is under way the next one is read. A record that the edge does not take is left
// out, with a log line, and never holds the others up.

import type { DataRecord, Key } from '../../worker/board/wire.ts'
import type { Records } from '../board/records.ts'
import { messageOf } from '../error-message.ts'
import type { Log } from '../log.ts'
import type { Edge, Failure } from './edge.ts'
import type { Standing } from './reconcile.ts'
import { halve, keysOf, type Part, Splitter, slim } from './split.ts'

/** Files read side by side: enough to hide the disk, few enough for bodies of 512 KiB in memory. */
const READS = 32
/**
 * So many refused alone may mean that the edge refuses everything: asking on would be a flood. The
 * next try goes on behind them.
 */
const MOST_REFUSED = 8
const SMALLEST_PART_BYTES = 16 << 10
/** A file that changes with every look at it must not keep the others from being told. */
const MAX_ROUNDS = 4

export interface Delivery {
  edge: Edge
  records: Records
  standing: Standing
  log: Log
  onProgress?: ((done: number, total: number) => void) | undefined
}

export class Change {
  readonly #deps: Delivery
  readonly #pending: Set<Key>
  /** What reading the others brought along. */
  readonly #followed = new Set<Key>()
  #total: number
  #refused = 0
  /** Not gone, but not to be read now: half-written, or on a disk that fails. */
  readonly unreadable = new Map<Key, string>()
  /** The edge holds parts of which clients were not told yet. */
  #untold: boolean = false

  constructor(keys: Set<Key>, deps: Delivery) {
    this.#pending = keys
    this.#total = keys.size
    this.#deps = deps
  }

  /** Keys that still have to be told. */
  get pending(): ReadonlySet<Key> {
    return this.#pending
  }

  /** Sends everything; answers the failure that stopped it, with `pending` holding the rest. */
  async send(): Promise<Failure | undefined> {
    const failure = await this.#sendAll()
    // Some were read twice: that the first of the two arrived says nothing of the second.
    if (failure) for (const key of this.#followed) this.#pending.add(key)
    return failure
  }

  async #sendAll(): Promise<Failure | undefined> {
    const parts = this.#parts()
    let next = parts.next()
    for (;;) {
      const { value, done } = await next
      if (done || (!value.more && isEmpty(value.part))) break
      if (value.more) next = parts.next()
      const failure = await this.#sendPart(value.part, value.more)
      if (failure) return failure
      this.#deps.onProgress?.(this.#total - this.#pending.size, this.#total)
      if (!value.more) break
    }
    // The last record was refused or not to be read: without this, clients would hear of the others
    // at the next sync.
    const failure = this.#untold && (await this.#sendPart({ upserts: [], deletes: [] }, false))
    if (failure) return failure
    // Asked again at the next sync: the edge may have been mended by then.
    this.#deps.standing.refused.clear()
    return undefined
  }

  async *#parts(): AsyncGenerator<{ part: Part; more: boolean }, undefined> {
    const { records, standing } = this.#deps
    const splitter = new Splitter(standing.partBytes)
    let keys = [...this.#pending]
    for (let round = 1; keys.length > 0; round++) {
      for await (const [key, record] of this.#readAll(keys)) {
        const bytes = Buffer.byteLength(JSON.stringify(record ?? key))
        const part = splitter.add(key, record, bytes)
        if (part) yield { part, more: true }
      }
      keys = records.follow()
      if (round === MAX_ROUNDS) break
      for (const key of keys) {
        this.#pending.add(key)
        this.#followed.add(key)
      }
      this.#total += keys.length
    }
    for (const key of keys) this.unreadable.set(key, 'its file changes as often as it is read')
    yield { part: splitter.end(), more: false }
  }

  async *#readAll(keys: readonly Key[]): AsyncGenerator<[Key, DataRecord | null], undefined> {
    for (let i = 0; i < keys.length; i += READS) {
      const some = keys.slice(i, i + READS)
      const read = await Promise.all(some.map((key) => this.#read(key)))
      for (const [n, key] of some.entries()) {
        const record = read[n]
        if (record !== undefined) yield [key, record]
      }
    }
  }

  async #read(key: Key): Promise<DataRecord | null | undefined> {
    const { records, standing } = this.#deps
    const { refused } = standing
    try {
      const record = await records.read(key)
      if (!refused.has(key) || refused.get(key) !== record?.hash) return record
      this.#leaveOut(key)
      return undefined
    } catch (error) {
      this.unreadable.set(key, messageOf(error))
      this.#pending.delete(key)
      return undefined
    }
  }

  async #sendPart(part: Part, more: boolean, slimmed = false): Promise<Failure | undefined> {
    const { edge, standing, log } = this.#deps
    const { epoch, run } = standing
    if (run === null) throw new Error('A change was sent before the first sync.')
    standing.batch++
    const head = { epoch, run, batch: standing.batch }
    const reply = await edge.changes({ ...head, ...part, ...(more && { more }) })
    if (reply.ok) {
      for (const key of keysOf(part)) this.#pending.delete(key)
      this.#untold = more
      return undefined
    }
    const tooLarge = reply.reason === 'too_large'
    if (!tooLarge && !(reply.reason === 'refused' && reply.status !== 404)) return reply

    const halves = halve(part)
    if (halves) {
      if (tooLarge) standing.partBytes = Math.max(SMALLEST_PART_BYTES, standing.partBytes >> 1)
      return (await this.#sendPart(halves[0], true)) ?? (await this.#sendPart(halves[1], more))
    }
    const [record] = part.upserts
    if (tooLarge && record && !slimmed) {
      return this.#sendPart({ upserts: [slim(record)], deletes: [] }, more, true)
    }
    const [key] = keysOf(part)
    if (key === undefined || ++this.#refused > MOST_REFUSED) return reply
    log('error', 'publish.refused', { record: key, code: reply.code, why: reply.message })
    standing.refused.set(key, record?.hash)
    this.#leaveOut(key)
    return undefined
  }

  /** What a sync dropped is told with what the edge lacked: something must follow all the same. */
  #leaveOut(key: Key): void {
    this.#pending.delete(key)
    this.#untold = true
  }
}

const isEmpty = ({ upserts, deletes }: Part): boolean => upserts.length + deletes.length === 0
