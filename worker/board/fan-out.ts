// The streams of one isolate that share one subscription to a repository: which of them leads, and
// what each is sent next. Pure: it owns no socket, no timer and no clock.

import { BlockRing } from './block-ring.ts'
import { MAX_REPLAY } from './message.ts'
import { PING_MS } from './repositories.ts'
import { idBlock } from './sse.ts'
import { NO_STREAMS, type StreamCounts, type StreamRoom, StreamTally } from './stream-room.ts'

/** How often a leader shows that it is alive. */
const PULSE_MS = 2_000
/** A leader that was silent for three pulses has vanished. If it was only slow, no harm is done. */
const SILENT_MS = 3 * PULSE_MS
/** All followers together check about four times a second, and each of them at its pings. */
const CHECK_MS_PER_STREAM = 250
/** A stream that missed four pings has vanished: it must not count any more. */
const LOST_MS = 4 * PING_MS

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
  /** It was sent everything up to this id; undefined: it has not joined yet. */
  place?: string
  /** The number of the next entry that it reads. */
  at?: number
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
  | { do: 'catch-up'; from: From; at: number }
  /** The repository is full: end. */
  | { do: 'refuse' }

const WAIT: Step = { do: 'wait' }
const encoder = new TextEncoder()

export class FanOut<M extends Member> {
  readonly tally: StreamTally
  readonly #ring = new BlockRing()
  readonly #members = new Set<M>()
  #leader: M | undefined
  /** Rises with every change of the leader. */
  #term = 0
  #beatAt = 0
  /** The leader's socket is open, and has brought all that was missed. */
  #isLive = false

  constructor(room: StreamRoom) {
    this.tally = new StreamTally(room)
  }

  get members(): ReadonlySet<M> {
    return this.#members
  }

  /** False: the repository is full, and the stream was not added. */
  join(member: M, now: number): boolean {
    // Only a leader knows the streams of other isolates. Without one, the next dial brings them.
    if (!this.#isLive || this.#isSilent(now)) this.tally.others = NO_STREAMS
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
    const { place, at } = member
    return place === undefined || at === undefined
      ? this.#place(member, now)
      : this.#deliver(member, place, at)
  }

  /** The repository answered `catch-up`; `id` is the last that it sent. */
  caughtUp(member: M, at: number, id: string): void {
    member.at = at
    member.place = id
  }

  /** From where the leader dials. */
  dialFrom({ from }: M): From {
    const { head } = this.#ring
    return head === undefined ? from : { ...from, lastEventId: head }
  }

  leads(member: M, term: number): boolean {
    return this.#leader === member && this.#term === term
  }

  /** A block came through a leader's socket. True: wake all members. */
  received(term: number, block: Uint8Array): boolean {
    const leader = this.#leader
    if (term !== this.#term || !leader) return false
    const isFirst = this.#ring.head === undefined
    const isEntry = this.#ring.push(block)
    // The leader dialled from its own place: the first entries are what itself had missed.
    if (isEntry && isFirst) leader.at = this.#ring.end - 1
    return isEntry
  }

  /** The streams of others, after all that was missed and each report. True: wake all members. */
  reported(term: number, others: StreamCounts): boolean {
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
    this.#ring.dropPartial()
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
    const counted = this.#members.has(member)
    if (this.tally.hasRoom(member.holder, { counted })) return true
    this.sweep(now)
    return this.tally.hasRoom(member.holder, { counted })
  }

  #isSilent(now: number): boolean {
    return now - this.#beatAt > SILENT_MS
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

  /** Gives a stream its place among the entries, once the subscription is live. */
  #place(member: M, now: number): Step {
    const { end, head } = this.#ring
    if (!this.#isLive || head === undefined) {
      member.waited = true
      return WAIT
    }
    // How many streams the other isolates hold may be known only now.
    if (member.waited && !this.#hasRoom(member, now)) return { do: 'refuse' }
    if (member.at !== undefined) return this.#deliver(member, undefined, member.at)
    const { from, waited } = member
    const { lastEventId } = from
    // A stream that waited was opened before the leader dialled, and changes between the two would
    // be missing.
    if (lastEventId === undefined && waited) return { do: 'catch-up', from, at: end }
    if (lastEventId === undefined || lastEventId === head) {
      this.caughtUp(member, end, head)
      return { do: 'send', bytes: encoder.encode(idBlock(head)) }
    }
    // For more messages than that, the repository sends those of one window.
    const at = this.#ring.after(lastEventId, MAX_REPLAY)
    if (at === undefined) return { do: 'catch-up', from, at: end }
    this.caughtUp(member, at, lastEventId)
    return this.#deliver(member, lastEventId, at)
  }

  #deliver(member: M, place: string | undefined, at: number): Step {
    const next = this.#ring.next(place, at)
    if (next.found === 'entry') {
      this.caughtUp(member, next.at, next.id)
      return { do: 'send', bytes: next.bytes }
    }
    if (next.found === 'end') {
      member.at = next.at
      return WAIT
    }
    const lastEventId = place ?? member.from.lastEventId
    return { do: 'catch-up', from: { ...member.from, lastEventId }, at: this.#ring.end }
  }
}
