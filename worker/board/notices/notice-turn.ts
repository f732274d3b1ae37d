// Which causes are news: each is sent once, and not again where it was only away for a moment.
// Pure.

/** What is remembered of a cause, for one rule. In ms. */
export interface Known {
  /** When it began. Absent: it does not hold. */
  since?: number
  /** When a notice of it was sent. Absent: it has not lasted long enough. */
  toldAt?: number
  endedAt?: number
}

/** `since`: when it began, in ms; absent: when it was first seen. */
export interface Lasting {
  key: string
  since?: number
  /** `since` may become later while it lasts, and that is no new one. */
  isVague?: true
}

/** What is back within this time was never away. */
export const FLAPPING_MS = 600_000

interface RuleTurn<Cause> {
  known: Map<string, Known>
  /** `since`: where nothing says when it began, it is when it was first seen. */
  news: (Cause & { since: number })[]
  /** When the next of them will have lasted long enough. */
  nextAt: number | undefined
}

/**
 * `causes`: all that hold now. `afterMs`: how long one must have lasted. `isOld`: what is so now
 * was so before there was the rule, and is no news.
 */
export function turnOf<Cause extends Lasting>(
  before: ReadonlyMap<string, Known>,
  causes: readonly Cause[],
  { afterMs, now, isOld = false }: { afterMs: number; now: number; isOld?: boolean },
): RuleTurn<Cause> {
  const turn: RuleTurn<Cause> = { known: new Map(), news: [], nextAt: undefined }
  for (const cause of causes) {
    const was = before.get(cause.key)
    const seen = cause.isVague ? was?.since : undefined
    const since = Math.min(seen ?? cause.since ?? was?.since ?? now, now)
    const dueAt = since + afterMs
    if (dueAt > now) {
      turn.known.set(cause.key, { ...ended(was, now), since })
      turn.nextAt = Math.min(turn.nextAt ?? dueAt, dueAt)
      continue
    }
    const isNews = !isOld && !isSame(was, since, now)
    if (isNews) turn.news.push({ ...cause, since })
    const toldAt = isNews ? now : Math.max(was?.toldAt ?? now, since)
    turn.known.set(cause.key, { since, toldAt })
  }
  for (const [key, was] of before) {
    const left = turn.known.has(key) ? undefined : ended(was, now)
    if (left?.toldAt !== undefined) turn.known.set(key, left)
  }
  return turn
}

/** Whether a notice was sent of this very one, or of one that was away for a moment. */
function isSame(was: Known | undefined, since: number, now: number): boolean {
  if (was?.toldAt === undefined) return false
  // It began anew, and nobody saw it end.
  const unseen = since > was.toldAt ? since : undefined
  const endedAt = was.endedAt ?? unseen
  return endedAt === undefined || now - endedAt < FLAPPING_MS
}

/** What is remembered of one that does not hold. A time ahead of `now` counts as now. */
function ended(was: Known | undefined, now: number): Known {
  if (was?.toldAt === undefined) return {}
  const endedAt = Math.min(was.endedAt ?? now, now)
  return now - endedAt < FLAPPING_MS ? { toldAt: was.toldAt, endedAt } : {}
}
