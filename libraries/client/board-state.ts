// How current a watch is: its state, from its stream and its reads, and what the edge says of its
// sidecar. Pure.

import type { BoardStatus } from '../api/types.ts'
import type { BoardError, BoardState, LostReason, StaleReason } from './types.ts'

/** All times in ms. */
interface Inputs {
  isClosed: boolean
  refusal: BoardError | undefined
  /** The stream is open. */
  isOpen: boolean
  /** Why the stream is not open, if it was ever tried. */
  lostReason: LostReason | undefined
  /** Everything was read at least once since the stream opened. */
  isConfirmed: boolean
  /** A read takes too long or fails. */
  isLate: boolean
  /** No sidecar has published it, or reported since. */
  isUnpublished: boolean
  /** What is shown has all that a sidecar had seen at this time; undefined: never known. */
  currentAt: number | undefined
  /** Why the edge gets nothing new. */
  staleReason: StaleReason | undefined
  /** The sidecar finds changes by scans alone. */
  isUnwatched: boolean
}

/** `was` is the previous state. A new state begins at `now`. */
export function nextState(was: BoardState, inputs: Inputs, now: number): BoardState {
  if (inputs.isClosed) return { name: 'closed' }
  const since = (name: BoardState['name']) =>
    was.name === name && was.name !== 'closed' ? was.since : now
  const { currentAt } = inputs
  const shown = currentAt !== undefined && { currentAt }
  const unwatched = inputs.isUnwatched && ({ unwatched: true } as const)
  if (inputs.refusal) {
    const { code, message: error } = inputs.refusal
    return { name: 'refused', since: since('refused'), ...shown, code, error }
  }
  // It stays live or stale while it reads again to confirm, as after the stream was renewed.
  const wasCurrent = was.name === 'live' || was.name === 'stale'
  if (inputs.isOpen && !inputs.isLate && (inputs.isConfirmed || wasCurrent)) {
    if (inputs.isUnpublished) return { name: 'waiting', since: since('waiting') }
    const reason = inputs.staleReason
    if (currentAt !== undefined) {
      return reason
        ? { name: 'stale', since: since('stale'), currentAt, reason }
        : { name: 'live', since: since('live'), currentAt, ...unwatched }
    }
  }
  const reason = reasonOf(was, inputs)
  if (currentAt === undefined) {
    return { name: 'connecting', since: since('connecting'), ...(reason && { reason }) }
  }
  return {
    name: 'reconnecting',
    since: since('reconnecting'),
    currentAt,
    reason: reason ?? 'behind',
  }
}

/** Ignores `currentAt`, which moves with every ping. */
export const isSame = (a: BoardState, b: BoardState): boolean =>
  JSON.stringify({ ...a, currentAt: 0 }) === JSON.stringify({ ...b, currentAt: 0 })

function reasonOf(was: BoardState, inputs: Inputs): LostReason | undefined {
  if (!inputs.isOpen) return inputs.lostReason
  if (inputs.isLate) return 'behind'
  // Open again, but not confirmed yet: the previous reason is still valid.
  return was.name === 'connecting' || was.name === 'reconnecting' ? was.reason : undefined
}

/** Between two reads of the status. */
export const ASK_MS = 30_000
/** One that starts again was away for less. */
const RESTART_MS = 10_000

/** All times are by `clock.elapsed()`, in ms. */
export interface Report {
  /** Until then, the edge had all that the sidecar saw; undefined: it never had. */
  currentAt: number | undefined
  /** Why the edge is not current any more. */
  reason: StaleReason | undefined
  isUnwatched: boolean
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
  const isGone = sidecar.state !== 'running' && quietMs >= RESTART_MS
  return {
    currentAt: ours(status.currentAt),
    reason: isGone ? 'offline' : store === 'missing' ? 'missing' : undefined,
    isUnwatched: sidecar.unwatched === true,
  }
}
