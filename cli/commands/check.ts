// Whether a claim still holds: before a commit, or before work that cannot be taken back.

import { claimantOf, HELD, ownClaim, told } from '../claim/own-claim.ts'
import { define } from '../command.ts'
import type { Context, Input } from '../context.ts'
import { FAILED } from '../exit-codes.ts'
import type { OptionsOf } from '../setting.ts'

export const command = define({
  usage: '[--claim CLAIM | --actor NAME] [options]',
  description: `\
Asks whether the claim of this actor and board still holds, and renews it. Exit code 4: it is lost,
and somebody else may work on the task. Exit code 1: that cannot be known, or there is none.`,
  options: HELD,
  run,
})

async function run(input: Input<OptionsOf<typeof HELD>>, context: Context): Promise<number> {
  const claimant = await claimantOf(input, context)
  const own = claimant && (await ownClaim(claimant, input.options.claim, context))
  if (!claimant || !own) return FAILED
  return await told(context, claimant, async ({ renew }) => ({
    type: 'held',
    ...(await renew({ claim: own.claim })),
  }))
}
