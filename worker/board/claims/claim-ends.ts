// How a claim ends, and how an end is taken back: a file that is away for a moment, or a card that
// was dragged to Done by mistake, costs nobody a task. Pure.

import type { StoredTask } from '../store/columns-sqlite.ts'
import type { Claim, ClaimEnd } from './claim-store-sqlite.ts'

/** So long a task that reads closed may be open again. */
export const CLOSED_MS = 120_000

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

/** Nothing brings it back any more, and its task rests no longer. */
export const overEnd = ({ isWatched: _, until: __, rests: ___, ...end }: ClaimEnd): ClaimEnd => end

export interface Given {
  outcome: 'done' | 'abandoned'
  /** A person does, and not its holder. */
  byOther: boolean
  summary?: string
}

/** The end of a claim that is released. */
export const endedAs = ({ byOther, ...given }: Given, now: number): ClaimEnd => ({
  at: now,
  ...given,
  ...(byOther && { byOther }),
})

/**
 * What releasing makes of an end: to close first and to release second is what agents should do.
 * Finished stays finished, and the first summary is kept. `isBack`: it may still come back.
 */
export function releasedEnd(end: ClaimEnd, given: Given, isBack: boolean, now: number): ClaimEnd {
  const { outcome, byOther, summary } = given
  const kept = { ...(summary !== undefined && { summary }), ...(end.rests ? end : overEnd(end)) }
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
