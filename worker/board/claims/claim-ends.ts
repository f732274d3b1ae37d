// How a claim ends, and how an end is taken back: a file that is away for a moment, or a card that
// was dragged to Done by mistake, costs nobody a task. Pure.

import type { StoredTask } from '../store/columns-sqlite.ts'
import type { Claim, ClaimEnd } from './claim-store-sqlite.ts'

/** So long a task that reads closed may be open again. */
const CLOSED_MS = 120_000
/** After the host slept, or its clock jumped, holders have this long to say that they are there. */
export const GRACE_MS = 30_000
/** An expiry that is seen so much later, or a clock that went on by so much: that happened. */
export const LATE_MS = 5_000
/** More than a time service sets a clock back by at once. */
export const AHEAD_MS = 120_000

type Outcome = ClaimEnd['outcome']

export const isValid = ({ end, expiresAt }: Claim, now: number): boolean => !end && expiresAt > now

export const isFinished = (outcome: Outcome | undefined): boolean =>
  outcome === 'done' || outcome === 'closed'

/**
 * It has ended, and its task may bring it back: nobody else may take it. `time` is the clock's only
 * as long as the sidecar was there.
 */
export function isReturning({ end, expiresAt }: Claim, time: number): boolean {
  if (!end?.isWatched || expiresAt <= time) return false
  return end.outcome === 'deleted' || (end.outcome === 'closed' && (end.until ?? 0) > time)
}

/** How the task reads that a claim is of. */
export type Reading = 'open' | 'closed' | 'deleted'

/** What a publication makes of a claim. `over`: nothing brings it back any more. */
export type Verdict = 'stays' | 'returns' | 'over' | 'closed' | 'deleted'

/** `hasRoom`: its actor holds fewer others than it may. */
export function verdictOf(
  claim: Claim,
  task: Pick<StoredTask, 'title'> | undefined,
  reading: Reading,
  now: number,
  hasRoom: () => boolean,
): Verdict {
  const { end, title } = claim
  if (!end) return reading === 'open' ? 'stays' : reading
  if (!isReturning(claim, now)) {
    // A task that is still away is watched on: once it is back it is free, whatever it says.
    return task || end.outcome === 'closed' ? 'over' : 'stays'
  }
  if (reading === 'open' && task?.title === title) return hasRoom() ? 'returns' : 'over'
  // Its file was moved while it was closed.
  return reading === 'closed' && end.outcome === 'deleted' ? 'closed' : 'stays'
}

/** The end of a claim whose task was closed, or went. */
export const endedBy = (outcome: 'closed' | 'deleted', now: number): ClaimEnd => ({
  at: now,
  outcome,
  isWatched: true,
  ...(outcome === 'closed' && { until: now + CLOSED_MS }),
})

export interface Given {
  outcome: 'done' | 'abandoned'
  /** A person does, and not its holder. */
  byOther: boolean
  summary?: string
}

/**
 * What releasing makes of an end: to close first and to release second is what agents should do.
 * Finished stays finished, and the first summary is kept. `isBack`: it may still come back.
 */
export function releasedEnd(end: ClaimEnd, given: Given, isBack: boolean, now: number): ClaimEnd {
  const { outcome, byOther, summary } = given
  const { isWatched: _, until: __, ...rest } = end
  const kept = { ...(summary !== undefined && { summary }), ...rest }
  if (byOther) {
    if (!isBack) return end
    const by = { byOther: true }
    return isFinished(end.outcome) ? { ...kept, ...by } : { ...kept, ...by, at: now, outcome }
  }
  if (isFinished(end.outcome)) {
    return outcome === 'done' ? { ...kept, outcome } : kept
  }
  if (end.outcome !== 'deleted') return end
  // Once its task is there, it is free whatever it says.
  const watched = outcome === 'abandoned' && end.isWatched && { isWatched: true as const }
  return { ...kept, at: now, outcome, ...watched }
}

/** The sidecar was not there since then: for what may come back, that time does not count. */
export function resumed(claim: Claim, since: number, now: number): Claim | undefined {
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
export function setRight(claim: Claim, now: number): Claim | undefined {
  const { end, expiresAt, renewedAt, ttlMs } = claim
  const most = now + AHEAD_MS
  const isLong = expiresAt > most + Math.max(ttlMs, GRACE_MS)
  const isLongClosed = (end?.until ?? 0) > most + CLOSED_MS + GRACE_MS
  const right = end && endedBefore(end, now)
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
function endedBefore(end: ClaimEnd, now: number): ClaimEnd {
  const isAhead = (at = 0) => at > now + AHEAD_MS
  const { at, rests } = end
  if (!isAhead(at) && !isAhead(rests?.openAt)) return end
  const openAt = isAhead(rests?.openAt) && { openAt: now }
  return { ...end, at: Math.min(at, now), ...(rests && { rests: { ...rests, ...openAt } }) }
}
