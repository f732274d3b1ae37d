// Whether a claim still holds: before a commit, or before work that cannot be taken back.

import { claimsAt } from '../claim/claims-at-edge.ts'
import { claimantOf, HELD, isPlaced, ownClaim, printAnswer } from '../claim/own-claim.ts'
import { standingOf } from '../claim/standing.ts'
import { define } from '../command.ts'
import type { Context, Input } from '../context.ts'
import { FAILED } from '../exit-codes.ts'
import type { OptionsOf } from '../setting.ts'

export const command = define({
  usage: '[--claim CLAIM | --actor NAME] [options]',
  description: `\
Asks whether the claim of this actor and board still holds, and renews it. The type of the line is
held; away, while its task is not there and the claim comes back with it; done, while the task reads
closed and may be opened again; ended, afterwards. Exit code 4: it is lost, and somebody else may
work on the task. Exit code 1: that cannot be known, or there is none.`,
  options: HELD,
  run,
})

async function run(input: Input<OptionsOf<typeof HELD>>, context: Context): Promise<number> {
  const claimant = await claimantOf(input, context)
  const own = claimant && (await ownClaim(claimant, input, context))
  if (!claimant || !own || !isPlaced(claimant, context.io)) return FAILED
  return await printAnswer(context.io, claimant, async () => {
    const activeAt = new Date().toISOString()
    const answer = await claimsAt(claimant.place.edge).renew({ claim: own.claim, activeAt })
    const { type, code } = standingOf(answer, 'held')
    return { line: { type, ...answer }, code }
  })
}
