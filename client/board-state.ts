// How current a board is, from what is known of its stream and its reads. Pure.

import type { BoardError, BoardState, LostReason } from './types.ts'

/** All times in ms. */
export interface Known {
  isClosed: boolean
  refusal: BoardError | undefined
  /** The stream is open. */
  isOpen: boolean
  /** Why it is not, if it ever was tried. */
  lostReason: LostReason | undefined
  /** When the stream was alive for the last time. */
  aliveAt: number
  /** All that is followed was read since the stream opened. */
  isSure: boolean
  /** Something takes too long or fails. */
  isLate: boolean
  isUnpublished: boolean
  /** Since when something may not be current; undefined: all is. */
  unsettledSince: number | undefined
}

/** `was` is the state before; `now` stands for `since` where another one begins. */
export function nextState(was: BoardState, known: Known, now: number): BoardState {
  if (known.isClosed) return { name: 'closed' }
  const since = (name: BoardState['name']) =>
    was.name === name && was.name !== 'closed' ? was.since : now
  const currentAt = lastCurrentAt(was)
  const shown = currentAt !== undefined && { currentAt }
  if (known.refusal) {
    const { code, message: error } = known.refusal
    return { name: 'refused', since: since('refused'), ...shown, code, error }
  }
  // What is live stays so while it is read again for certainty, as when the stream changes hands.
  if (known.isOpen && !known.isLate && (known.isSure || was.name === 'live')) {
    if (known.isUnpublished) return { name: 'waiting', since: since('waiting') }
    const at = Math.min(known.aliveAt, known.unsettledSince ?? known.aliveAt)
    return { name: 'live', since: since('live'), currentAt: Math.max(at, currentAt ?? at) }
  }
  const reason = reasonOf(was, known)
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

/** Not for a later `currentAt` alone, which moves with every ping. */
export const isSame = (a: BoardState, b: BoardState): boolean =>
  JSON.stringify({ ...a, currentAt: 0 }) === JSON.stringify({ ...b, currentAt: 0 })

function lastCurrentAt(was: BoardState): number | undefined {
  return 'currentAt' in was ? was.currentAt : undefined
}

function reasonOf(was: BoardState, known: Known): LostReason | undefined {
  if (!known.isOpen) return known.lostReason
  if (known.isLate) return 'behind'
  // Open again, and not yet sure: what was wrong before is still the reason.
  return 'reason' in was ? was.reason : undefined
}
