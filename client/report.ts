// How current the edge itself is: what its status says of the sidecar. Pure.

import type { BoardStatus } from '../api/types.ts'
import type { StaleReason } from './types.ts'

/** A sidecar reports at least every 30 s. Its next report has arrived by then. */
const ASK_MS = 35_000
/** After so long without a report, a sidecar counts as gone: one report late, and two questions. */
const SILENT_MS = 45_000
/** Between two questions while a report is late. */
const AGAIN_MS = 10_000
/** Between two questions while nobody reports. */
export const IDLE_MS = 30_000

/** All times are by `clock.elapsed()`, in ms. */
export interface Report {
  /** Until then, the edge had all that the sidecar saw; undefined: it never had. */
  currentAt: number | undefined
  /** Why the edge is not current any more. */
  reason: StaleReason | undefined
  askAt: number
}

/**
 * `sentAt` is when the request for this status was sent, `now` when it was last confirmed. The two
 * clocks may differ by anything, so all times of the edge count from its own `now`.
 */
export function reportOf(status: BoardStatus, sentAt: number, now: number): Report {
  const { store, sidecar } = status
  const ahead = Date.parse(status.now) - sentAt
  // A time after the answer was written before the clock of the edge was set back.
  const ours = (time: string | undefined): number | undefined =>
    time === undefined ? undefined : Math.min(sentAt, Date.parse(time) - ahead)
  const quietMs = now - (ours(sidecar.lastSeenAt) ?? Number.NEGATIVE_INFINITY)
  const isSilent = quietMs >= SILENT_MS
  return {
    currentAt: ours(status.currentAt),
    reason: isSilent ? 'offline' : store === 'missing' ? 'missing' : undefined,
    askAt: now + (isSilent ? IDLE_MS : Math.max(AGAIN_MS, ASK_MS - quietMs)),
  }
}
