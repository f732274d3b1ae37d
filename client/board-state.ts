// Computes the state of a watch from its stream and its reads. Pure.

import type { BoardError, BoardState, LostReason, StaleReason } from './types.ts'

/** All times in ms. */
export interface Inputs {
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
}

/** `was` is the previous state. A new state begins at `now`. */
export function nextState(was: BoardState, inputs: Inputs, now: number): BoardState {
  if (inputs.isClosed) return { name: 'closed' }
  const since = (name: BoardState['name']) =>
    was.name === name && was.name !== 'closed' ? was.since : now
  const { currentAt } = inputs
  const shown = currentAt !== undefined && { currentAt }
  if (inputs.refusal) {
    const { code, message: error } = inputs.refusal
    return { name: 'refused', since: since('refused'), ...shown, code, error }
  }
  // It stays live or stale while it reads again to confirm, as after another tab took the stream.
  const wasCurrent = was.name === 'live' || was.name === 'stale'
  if (inputs.isOpen && !inputs.isLate && (inputs.isConfirmed || wasCurrent)) {
    if (inputs.isUnpublished) return { name: 'waiting', since: since('waiting') }
    const reason = inputs.staleReason
    if (currentAt !== undefined) {
      return reason
        ? { name: 'stale', since: since('stale'), currentAt, reason }
        : { name: 'live', since: since('live'), currentAt }
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
