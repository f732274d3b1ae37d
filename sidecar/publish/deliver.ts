// Delivers one change: reads the newest content of its keys, in parts, and sends them one by one.
// While a part is under way the next one is read. A record that the edge does not take is left
// out, with a log line, and never holds the others up.

import type { DataRecord, Key, Reading } from '../../worker/board/wire.ts'
import type { Log } from '../../worker/shared/log.ts'
import { type Records, RecordUnreadable } from '../board/record-source.ts'
import type { MainNews } from '../git/main-tree.ts'
import type { Edge, Failure } from './edge.ts'
import type { Position } from './position.ts'
import { halve, keysOf, type Part, Splitter, slim } from './split.ts'

/** Files read side by side: enough to hide the disk, few enough for bodies of 512 KiB in memory. */
const READS = 32
/**
 * So many refused alone may mean that the edge refuses everything: asking on would be a flood. The
 * next try goes on behind them.
 */
const MAX_REFUSED = 8
const SMALLEST_PART_BYTES = 16 << 10
/** A file that changes with every look at it must not hold up the others. */
const MAX_ROUNDS = 4

export interface Delivery {
  edge: Edge
  records: Records
  position: Readonly<Position>
  log: Log
  onProgress?: ((done: number, total: number) => void) | undefined
  /** More is going to follow than this change: readers see nothing of it yet. */
  reading?: Reading
  /** Where the main tree is now, if the edge has another place. */
  main?: MainNews | undefined
}

export class Change {
  readonly #deps: Delivery
  /** Keys that still have to be sent. */
  readonly #pending: Set<Key>
  /** What reading the others brought along. */
  readonly #followed = new Set<Key>()
  #total: number
  #refused = 0
  /** Not gone, but not to be read now: half-written, or on a disk that fails. */
  readonly unreadable = new Map<Key, string>()
  /** Until it has arrived. */
  #main: MainNews | undefined
  /** The edge holds parts for which it has sent no signal yet. */
  #unsignalled: boolean = false

  constructor(keys: Set<Key>, deps: Delivery) {
    this.#pending = keys
    this.#total = keys.size
    this.#deps = deps
    this.#main = deps.main
  }

  /** Sends everything; answers the failure that stopped it. Then `keys` has the rest. */
  async send(): Promise<Failure | undefined> {
    const failure = await this.#sendAll()
    // Some were read twice: the arrival of the first says nothing about the second.
    if (failure) for (const key of this.#followed) this.#pending.add(key)
    return failure
  }

  async #sendAll(): Promise<Failure | undefined> {
    for await (const { part, more } of readAhead(this.#parts())) {
      if (!more && isEmpty(part) && !this.#main) break
      const failure = await this.#sendPart(part, more)
      if (failure) return failure
      this.#deps.onProgress?.(this.#total - this.#pending.size, this.#total)
    }
    // The last record was refused or could not be read: without this, clients would get the message
    // about the others only at the next sync.
    const failure = this.#unsignalled && (await this.#sendPart({ upserts: [], deletes: [] }, false))
    if (failure) return failure
    this.#deps.position.forgetRefused()
    return undefined
  }

  /** The records in parts that are full, and a last part with the rest. */
  async *#parts(): AsyncGenerator<{ part: Part; more: boolean }, undefined> {
    const splitter = new Splitter(this.#deps.position.partBytes)
    for await (const [key, record] of this.#records()) {
      const bytes = Buffer.byteLength(JSON.stringify(record ?? key))
      const full = splitter.add(key, record, bytes)
      if (full) yield { part: full, more: true }
    }
    yield { part: splitter.end(), more: false }
  }

  /** The pending records; then those whose file was found changed by reading the others. */
  async *#records(): AsyncGenerator<[Key, DataRecord | null], undefined> {
    let keys = [...this.#pending]
    for (let round = 1; keys.length > 0 && round <= MAX_ROUNDS; round++) {
      for (const key of keys) this.#pending.add(key)
      yield* this.#readAll(keys)
      keys = this.#deps.records.follow()
      for (const key of keys) this.#followed.add(key)
      this.#total += keys.length
    }
    for (const key of keys) this.unreadable.set(key, 'its file changes as often as it is read')
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
    const { records, position } = this.#deps
    try {
      const record = await records.read(key)
      if (!position.isRefused(key, record?.hash)) return record
      this.#leaveOut(key)
      return undefined
    } catch (error) {
      // Anything else is a defect, and ends the turn.
      if (!(error instanceof RecordUnreadable)) throw error
      if (!error.isAway) this.unreadable.set(key, error.message)
      this.#pending.delete(key)
      return undefined
    }
  }

  async #sendPart(part: Part, more: boolean, slimmed = false): Promise<Failure | undefined> {
    const { edge, position, log, reading } = this.#deps
    const { epoch, run } = position
    if (run === null) throw new Error('A change was sent before the first sync.')
    const head = { epoch, run, batch: position.nextBatch() }
    const isPart = more || reading !== undefined
    const reply = await edge.changes({
      ...head,
      ...part,
      ...(isPart && { more: true }),
      ...(reading && { reading }),
      ...(this.#main && { main: this.#main.main }),
    })
    if (reply.ok) {
      position.mainArrived(this.#main)
      this.#main = undefined
      for (const key of keysOf(part)) this.#pending.delete(key)
      this.#unsignalled = more && reading === undefined
      return undefined
    }
    const tooLarge = reply.reason === 'too_large'
    if (!tooLarge && !(reply.reason === 'refused' && reply.status !== 404)) return reply

    const halves = halve(part)
    if (halves) {
      if (tooLarge) position.shrinkParts(SMALLEST_PART_BYTES)
      return (await this.#sendPart(halves[0], true)) ?? (await this.#sendPart(halves[1], more))
    }
    const [record] = part.upserts
    if (tooLarge && record && !slimmed) {
      return this.#sendPart({ upserts: [slim(record)], deletes: [] }, more, true)
    }
    const [key] = keysOf(part)
    if (key === undefined || ++this.#refused > MAX_REFUSED) return reply
    log('error', 'publish.refused', { record: key, code: reply.code, why: reply.message })
    position.refuse(key, record?.hash)
    this.#leaveOut(key)
    return undefined
  }

  /** The signal of what a sync dropped comes with what the edge lacked: it must come anyway. */
  #leaveOut(key: Key): void {
    this.#pending.delete(key)
    this.#unsignalled = this.#deps.reading === undefined
  }
}

const isEmpty = ({ upserts, deletes }: Part): boolean => upserts.length + deletes.length === 0

/** Hands on what `items` gives, and lets it make the next while the caller works on this one. */
async function* readAhead<T>(items: AsyncGenerator<T, undefined>): AsyncGenerator<T, undefined> {
  let next = items.next()
  for (;;) {
    const { value, done } = await next
    if (done) return
    next = items.next()
    // A caller that stops does not await it, and its error is of no use then.
    next.catch(() => undefined)
    yield value
  }
}
