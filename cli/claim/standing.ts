// Renews a claim, and prints what that means for its holder.

import type { ClaimRenewal, HeldClaim } from '../../libraries/api/types.ts'
import type { Context } from '../context.ts'
import { FAILED, NOT_OURS } from '../exit-codes.ts'
import type { OptionsOf } from '../setting.ts'
import type { Input } from '../usage.ts'
import { printAnswer } from './answer.ts'
import { claimantOf, isPlaced } from './claimant.ts'
import { claimsAt } from './claims-at-edge.ts'
import { type HELD, ownClaim } from './own-claim.ts'

/** `valid`: the type of the line where it holds. Resolves with the exit code. */
export async function renewOwn(
  input: Input<OptionsOf<typeof HELD>>,
  context: Context,
  valid: 'held' | 'renewed',
  more: Pick<ClaimRenewal, 'ttlMs' | 'progress'> = {},
): Promise<number> {
  const claimant = await claimantOf(input, context)
  const own = claimant && (await ownClaim(claimant, input, context))
  if (!claimant || !own || !isPlaced(claimant, context.io)) return FAILED
  return await printAnswer(context.io, claimant, async () => {
    const sign = { claim: own.claim, activeAt: new Date().toISOString() }
    const answer = await claimsAt(claimant.place.edge).renew({ ...sign, ...more })
    const { type, code } = standingOf(answer, valid)
    return { line: { type, ...answer }, code }
  })
}

/** The outcomes of a claim whose work is finished: by its holder, or its task reads closed. */
const FINISHED = ['done', 'closed']

/**
 * `valid` only where the claim is. One whose end may be taken back is still its holder's: `away`,
 * or `done` where the task reads closed.
 * @forTests Each answer, without an edge.
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
