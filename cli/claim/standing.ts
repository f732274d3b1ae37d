// What an answer about a claim means for its holder. Pure.

import type { HeldClaim } from '../../libraries/api/types.ts'
import { NOT_OURS } from '../exit-codes.ts'

/** The outcomes of a claim whose work is finished: by its holder, or its task reads closed. */
const FINISHED = ['done', 'closed']

/**
 * `valid` only where the claim is. One whose end may be taken back is still its holder's: `away`,
 * or `done` where the task reads closed.
 */
export function standingOf<Valid extends string>(
  { end, returning }: Pick<HeldClaim, 'end' | 'returning'>,
  valid: Valid,
): { type: Valid | 'away' | 'done' | 'ended'; code: number } {
  if (!end) return { type: valid, code: 0 }
  const isFinished = FINISHED.includes(end.outcome)
  if (returning) return { type: isFinished ? 'done' : 'away', code: 0 }
  return { type: 'ended', code: isFinished ? 0 : NOT_OURS }
}
