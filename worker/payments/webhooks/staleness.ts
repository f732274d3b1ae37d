// Whether an event is too old to be acted on. Pure.

/** `occurredAt` and `now` in ms. A gateway whose clock is ahead of ours is not stale. */
export const isStale = (occurredAt: number, now: number, toleranceMs: number): boolean =>
  now - occurredAt > toleranceMs
