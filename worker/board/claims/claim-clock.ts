// Claims and time: when the next one is due, and what becomes of leases where the clock was set, or
// nobody could renew. Nobody loses a task by that, and nobody keeps one for longer than its lease.

import type { Agenda } from '../store/agenda-sqlite.ts'
import type { BoardStore } from '../store/board-store-sqlite.ts'
import { CLOSED_MS, isReturning } from './claim-ends.ts'
import type { Claim, ClaimEnd, ClaimStore } from './claim-store-sqlite.ts'
import type { ClaimWrites } from './claim-writes.ts'

/** After the host slept, or its clock jumped, holders have this long to renew. */
const GRACE_MS = 30_000
/** An expiry that is noticed so late, or a clock that is so much ahead: one of the two happened. */
const LATE_MS = 5_000
/** More than a time service sets a clock back by at once. */
const AHEAD_MS = 120_000

/** By a clock that nobody sets; absent where the host has none, as workerd. */
export type Elapsed = () => number

interface ClaimClockDeps {
  board: Pick<BoardStore, 'state' | 'save'>
  claims: ClaimStore
  writes: ClaimWrites
  agenda: Agenda
  elapsed: Elapsed | undefined
}

export class ClaimClock {
  readonly #board: ClaimClockDeps['board']
  readonly #claims: ClaimStore
  readonly #writes: ClaimWrites
  readonly #agenda: Agenda
  readonly #elapsed: Elapsed | undefined
  /** The time of the last turn. */
  #last = Infinity
  /** By how much that was ahead of what had elapsed. */
  #ahead: number | undefined

  constructor({ board, claims, writes, agenda, elapsed }: ClaimClockDeps) {
    this.#board = board
    this.#claims = claims
    this.#writes = writes
    this.#agenda = agenda
    this.#elapsed = elapsed
  }

  /** Each turn begins with it: the clock may have been set, also before this process started. */
  correct(now: number): void {
    if (this.#elapsed) this.#noteJump(now, now - this.#elapsed())
    const isBack = now < this.#last
    this.#last = now
    if (!isBack) return
    this.#correctLastSeen(now)
    const long = [...this.#claims.longerThan(now, GRACE_MS), ...this.#claims.watched()]
    const ended = this.#claims.endedAfter(now + AHEAD_MS)
    const all = new Map([...long, ...ended].map((claim) => [claim.generation, claim]))
    for (const claim of all.values()) {
      const right = corrected(claim, now)
      if (right) this.#writes.store(right)
    }
  }

  /** The sidecar was not there since then: what may come back has that time as well. */
  resume(since: number, now: number): void {
    if (since >= now) return
    for (const claim of this.#claims.watched()) {
      const later = resumed(claim, since, now)
      if (later) this.#writes.store(later)
    }
  }

  /** Those that expire in this turn. Where it is noticed late, holders get some time to renew. */
  expired(now: number): Claim[] {
    const pending = this.#claims.pending(now)
    const isLate = ({ expiresAt }: Claim) => now - expiresAt > LATE_MS
    this.#spare(pending.filter(isLate), now)
    return pending.filter((claim) => !isLate(claim))
  }

  /** Each turn ends with it. A renewal moves no alarm: the alarm finds out, and plans the next. */
  plan(now: number): void {
    const first = this.#claims.nextExpiry()
    const planned = this.#agenda.planned('claims') ?? 0
    const isPlanned = first !== undefined && now < planned && planned <= first
    if (!isPlanned) this.#agenda.plan('claims', first)
  }

  /** Where the clock went on by more than time has passed, nobody could renew in between. */
  #noteJump(now: number, ahead: number): void {
    const jumpMs = ahead - (this.#ahead ?? ahead)
    this.#ahead = ahead
    if (jumpMs <= LATE_MS) return
    this.#spare(this.#claims.pending(now + GRACE_MS), now)
    this.resume(now - jumpMs, now)
  }

  #spare(claims: readonly Claim[], now: number): void {
    for (const claim of claims) this.#writes.store({ ...claim, expiresAt: now + GRACE_MS })
  }

  /** A time ahead of `now` would hide that the clock jumps ahead again before the next report. */
  #correctLastSeen(now: number): void {
    const state = this.#board.state()
    if (state.lastSeenAt === undefined || state.lastSeenAt <= now) return
    state.lastSeenAt = now
    this.#board.save(state)
  }
}

/** The sidecar was not there since then: for what may come back, that time does not count. */
function resumed(claim: Claim, since: number, now: number): Claim | undefined {
  const { end, expiresAt, ttlMs, renewedAt } = claim
  if (!end || since >= now || !isReturning(claim, since)) return undefined
  const lost = (from: number) => now - Math.max(since, from) + GRACE_MS
  const { until } = end
  return {
    ...claim,
    expiresAt: Math.min(expiresAt + lost(renewedAt), now + Math.max(ttlMs, GRACE_MS)),
    end: { ...end, ...(until !== undefined && { until: until + lost(end.at) }) },
  }
}

/**
 * A clock that was ahead lengthens no lease: at most its own term, from when it is right again. Nor
 * does it keep a task that was done from others for longer. One that a time service sets back a
 * little cuts none: it may be ahead again before the lease is over.
 */
function corrected(claim: Claim, now: number): Claim | undefined {
  const { end, expiresAt, renewedAt, ttlMs } = claim
  const most = now + AHEAD_MS
  const isLong = expiresAt > most + Math.max(ttlMs, GRACE_MS)
  const isLongClosed = (end?.until ?? 0) > most + CLOSED_MS + GRACE_MS
  const right = end && correctedEnd(end, now)
  if (!isLong && !isLongClosed && renewedAt <= most && right === end) return undefined
  return {
    ...claim,
    expiresAt: Math.min(expiresAt, now + ttlMs),
    // One ahead would count a time in which nobody could renew as time that was used.
    renewedAt: Math.min(renewedAt, now),
    ...(right && { end: { ...right, ...(isLongClosed && { until: now + CLOSED_MS }) } }),
  }
}

/** The same one where neither its end nor what came after it is ahead. */
function correctedEnd(end: ClaimEnd, now: number): ClaimEnd {
  const isAhead = (at = 0) => at > now + AHEAD_MS
  const { at, rests } = end
  if (!isAhead(at) && !isAhead(rests?.openAt)) return end
  const openAt = isAhead(rests?.openAt) && { openAt: now }
  return { ...end, at: Math.min(at, now), ...(rests && { rests: { ...rests, ...openAt } }) }
}
