// The streams of one isolate that share one subscription to a repository: which of them leads, and
// what each is sent next. Pure: it owns no socket, no timer and no clock.
//
// The blocks form a chain: each entry says which id it follows, and a stream is sent an entry only
// after that id. So nothing is lost, doubled or out of order after any fault (a late block, two
// leaders, a stream that slept): a stream whose place does not fit asks the repository what it
// missed.

import { frameId, idBlock, parseEventId } from './sse.ts'
import { type StreamRoom, StreamTally } from './stream-room.ts'
import { PING_MS } from './subscription.ts'

/** How often a leader shows that it is alive. */
const PULSE_MS = 2_000
/** A leader that was silent for three pulses has vanished. If it was only slow, no harm is done. */
const SOCKET_SILENT_MS = 3 * PULSE_MS
/** All followers together check about four times a second, and each of them at its pings. */
const CHECK_MS_PER_STREAM = 250
/** A stream that missed four pings has vanished: it must not count any more. */
const LOST_MS = 4 * PING_MS

/** Entries that wait for a stream at most. One that lags further behind asks the repository. */
const MAILBOX = 256

/** What a stream at `after` is sent. Then it is at `id`. */
interface Entry {
  /** Undefined for the first of all: what its own leader had missed. */
  readonly after: string | undefined
  readonly id: string
  readonly bytes: Uint8Array
}

/** Where a stream starts: after its last event id or, without one, when it was opened (ms). */
export interface From {
  readonly lastEventId: string | undefined
  readonly since: number
}

/** One stream. All but `from` and `holder` belongs to the fan-out. */
export interface Member {
  readonly from: From
  /** Whose stream it is. */
  readonly holder: string
  /** What came since it was last asked for a step, oldest first. */
  readonly mailbox: Entry[]
  /** It was sent everything up to this id; undefined: it has not joined yet. */
  place?: string
  /** It joined before the subscription was live. */
  waited?: true
  /** When it last asked for a step (ms). */
  seenAt?: number
}

export type Step =
  | { do: 'wait' }
  | { do: 'send'; bytes: Uint8Array }
  /** Dial the repository as the leader of this term. */
  | { do: 'lead'; term: number }
  /** Ask the repository what it sends to a stream from there, and report `caughtUp`. */
  | { do: 'catch-up'; from: From }
  /** The repository is full: end. */
  | { do: 'refuse' }

const WAIT: Step = { do: 'wait' }
const encoder = new TextEncoder()

export class FanOut<M extends Member> {
  readonly tally: StreamTally
  readonly #members = new Set<M>()
  #leader: M | undefined
  /** Rises with every change of the leader. */
  #term = 0
  #beatAt = 0
  /** The leader's socket is open, and has brought all that was missed. */
  #isLive = false
  /** The id of the newest entry; undefined: there never was one. */
  #head: string | undefined
  /** Blocks without an id: they belong to the next one that has one. */
  #partial: Uint8Array[] = []

  constructor(room: StreamRoom) {
    this.tally = new StreamTally(room)
  }

  get members(): ReadonlySet<M> {
    return this.#members
  }

  /** False: the repository is full, and the stream was not added. */
  join(member: M, now: number): boolean {
    // Only a leader knows the streams of other isolates. Without one, the next dial brings them.
    if (!this.#isLive || this.#isSilent(now)) this.tally.others = 0
    if (!this.#hasRoom(member, now)) return false
    this.#add(member, now)
    return true
  }

  /** Returns a member that must be woken if there is no leader now. */
  leave(member: M): M | undefined {
    if (!this.#members.delete(member)) return undefined
    this.tally.remove(member.holder)
    if (this.#leader === member) return this.#vacate()
    // The one that was woken to lead may be the one that leaves.
    return this.#leader ? undefined : this.#latest()
  }

  /** The next step of a stream. The caller repeats this until the step is `wait`. */
  next(member: M, now: number): Step {
    // It counted as lost, but was only slow.
    if (!this.#members.has(member)) this.#add(member, now)
    member.seenAt = now
    if (this.#leader === member) this.#beatAt = now
    // The first one that asks leads, since a chosen member may have vanished.
    else if (!this.#leader || this.#isSilent(now)) return this.#lead(member, now)
    return member.place === undefined ? this.#join(member, now) : this.#deliver(member)
  }

  /** The repository answered `catch-up`; `id` is the last that it sent. */
  caughtUp(member: M, id: string): void {
    member.place = id
  }

  /** From where the leader dials. */
  dialFrom({ from }: M): From {
    return this.#head === undefined ? from : { ...from, lastEventId: this.#head }
  }

  leads(member: M, term: number): boolean {
    return this.#leader === member && this.#term === term
  }

  /** A block came through a leader's socket. True: wake all members. */
  received(term: number, block: Uint8Array): boolean {
    const leader = this.#leader
    if (term !== this.#term || !leader) return false
    this.#partial.push(block)
    const id = frameId(block)
    if (id === undefined) return false
    const entry: Entry = { after: this.#head, id, bytes: joinBytes(this.#partial) }
    this.#partial = []
    if (entry.after !== undefined && isUpTo(id, entry.after)) return false
    this.#head = id
    // The leader dialled from its own place: the first entry is what itself had missed.
    const readers = entry.after === undefined ? [leader] : this.#members
    for (const { mailbox } of readers) {
      mailbox.push(entry)
      // The chain has a gap then.
      if (mailbox.length > MAILBOX) mailbox.shift()
    }
    return true
  }

  /** The streams of others, after all that was missed and each report. True: wake all members. */
  reported(term: number, others: number): boolean {
    if (term !== this.#term) return false
    this.tally.others = others
    const isNew = !this.#isLive
    this.#isLive = true
    return isNew
  }

  /** The leader's socket is gone, or could not be opened. */
  disconnected(term: number): void {
    if (term !== this.#term) return
    this.#isLive = false
    // What was begun comes again, whole, over the next socket.
    this.#partial = []
  }

  /** The leader gives up. Returns a member that must be woken. */
  resign(member: M, term: number): M | undefined {
    return this.leads(member, term) ? this.#vacate(member) : undefined
  }

  /**
   * How long a stream may wait before it asks for its next step again. Undefined: until its ping,
   * which wakes its request anyway. Thousands of timers more would cost as much as the messages.
   */
  checkMs(member: M): number | undefined {
    if (this.#leader === member) return PULSE_MS
    const ms = Math.max(PULSE_MS, this.#members.size * CHECK_MS_PER_STREAM)
    return ms < PING_MS ? ms : undefined
  }

  /** Removes streams that have vanished. */
  sweep(now: number): void {
    for (const member of this.#members) {
      if (now - (member.seenAt ?? now) > LOST_MS) this.leave(member)
    }
  }

  #hasRoom(member: M, now: number): boolean {
    const isCounted = this.#members.has(member)
    if (this.tally.hasRoom(member.holder, { isCounted })) return true
    this.sweep(now)
    return this.tally.hasRoom(member.holder, { isCounted })
  }

  #isSilent(now: number): boolean {
    return now - this.#beatAt > SOCKET_SILENT_MS
  }

  #add(member: M, now: number): void {
    member.seenAt = now
    this.#members.add(member)
    this.tally.add(member.holder)
  }

  #lead(member: M, now: number): Step {
    this.#leader = member
    this.#term++
    this.#beatAt = now
    this.disconnected(this.#term)
    return { do: 'lead', term: this.#term }
  }

  #vacate(except?: M): M | undefined {
    this.#leader = undefined
    this.disconnected(this.#term)
    return this.#latest(except)
  }

  /** The member that was awake last is the least likely to have vanished. */
  #latest(except?: M): M | undefined {
    let latest: M | undefined
    for (const member of this.#members) {
      if (member !== except && (member.seenAt ?? 0) >= (latest?.seenAt ?? 0)) latest = member
    }
    return latest
  }

  /** Gives a stream its place in the chain, once the subscription is live. */
  #join(member: M, now: number): Step {
    const head = this.#head
    if (!this.#isLive || head === undefined) {
      member.waited = true
      return WAIT
    }
    const { from, waited, mailbox } = member
    const { lastEventId } = from
    // How many streams the other isolates hold may be known only now.
    if (waited && !this.#hasRoom(member, now)) return { do: 'refuse' }
    const [first] = mailbox
    if (first && first.after === undefined) return this.#deliver(member)
    // A stream without an id that waited was opened before the leader dialled, and changes between
    // the two would be missing.
    const isAtHead = lastEventId === undefined ? !waited : lastEventId === head
    if (!isAtHead) return this.#catchUp(member)
    member.place = head
    return { do: 'send', bytes: encoder.encode(idBlock(head)) }
  }

  #deliver(member: M): Step {
    const { mailbox, place } = member
    for (;;) {
      const [entry] = mailbox
      if (!entry) return WAIT
      const isNext = entry.after === place
      if (!isNext && (place === undefined || !isUpTo(entry.id, place))) return this.#catchUp(member)
      mailbox.shift()
      if (!isNext) continue
      member.place = entry.id
      return { do: 'send', bytes: entry.bytes }
    }
  }

  #catchUp({ from, place, mailbox }: M): Step {
    // The repository's answer includes them.
    mailbox.length = 0
    return { do: 'catch-up', from: { ...from, lastEventId: place ?? from.lastEventId } }
  }
}

/** Whether a stream at `place` was sent `id` already. */
function isUpTo(id: string, place: string): boolean {
  if (id === place) return true
  const one = parseEventId(id)
  const other = parseEventId(place)
  return one !== undefined && one.epoch === other?.epoch && one.seq <= other.seq
}

function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}
