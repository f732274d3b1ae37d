// Gives a task back, done or not.

import { forgetClaim } from '../claim/kept-claims.ts'
import { claimantOf, HELD, ownClaim, told } from '../claim/own-claim.ts'
import { define } from '../command.ts'
import { type Context, type Input, UsageError } from '../context.ts'
import { FAILED } from '../exit-codes.ts'
import { type OptionsOf, Setting } from '../setting.ts'

const OPTIONS = [
  ...HELD,
  new Setting('--done', 'the task is done; also without --abandoned'),
  new Setting('--abandoned', 'somebody else may begin it at once'),
  new Setting('--summary <TEXT>', 'what was done; the page shows it'),
] as const

export const command = define({
  usage: '[--done | --abandoned] [--claim CLAIM | --actor NAME] [options]',
  description: `\
Ends the claim of this actor and board. Close the task in its file first: one that was released as
done and is still open is offered again after a minute. It may be sent again. Exit code 4: the claim
was lost before.`,
  options: OPTIONS,
  run,
})

async function run(input: Input<OptionsOf<typeof OPTIONS>>, context: Context): Promise<number> {
  const { claim: named, done, abandoned, summary } = input.options
  if (done && abandoned) throw new UsageError('--done and --abandoned are two ends: give one.')
  const claimant = await claimantOf(input, context)
  const own = claimant && (await ownClaim(claimant, named, context))
  if (!claimant || !own) return FAILED
  const { claim, kept } = own
  const outcome = abandoned ? 'abandoned' : 'done'
  const code = await told(context, claimant, async ({ release }) => ({
    type: 'released',
    ...(await release({ claim, outcome, ...(summary !== undefined && { summary }) })),
  }))
  if (kept && code !== FAILED) await forgetClaim(context.env, kept)
  return code
}
