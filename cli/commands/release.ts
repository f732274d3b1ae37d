// Gives a task back, done or not.

import { claimantOf } from '../claim/claimant.ts'
import { giveBack } from '../claim/give-back.ts'
import { HELD, ownClaim } from '../claim/own-claim.ts'
import { define } from '../command.ts'
import { FAILED } from '../exit-codes.ts'
import { Setting } from '../setting.ts'
import { UsageError } from '../usage.ts'

const OPTIONS = [
  ...HELD,
  new Setting('--done', 'the task is done; also without --abandoned'),
  new Setting('--abandoned', 'somebody else may begin it at once'),
  new Setting('--summary <TEXT>', 'what was done; the page shows it'),
] as const

export const command = define({
  usage: '[--done | --abandoned] [--claim CLAIM | --actor NAME] [options]',
  description: `\
Ends the claim of this actor and board. Close the task in its file first. It may be sent again.
While no Signalbox of the project runs, it is kept (type kept), and passed on when one runs again.
Exit code 4: the claim was lost before.`,
  options: OPTIONS,
  async run(input, context) {
    const { done, abandoned, summary } = input.options
    if (done && abandoned) throw new UsageError('--done and --abandoned are two ends: give one.')
    const claimant = await claimantOf(input, context)
    const own = claimant && (await ownClaim(claimant, input, context))
    if (!claimant || !own) return FAILED
    const outcome = abandoned ? 'abandoned' : 'done'
    const release = { outcome, ...(summary !== undefined && { summary }) } as const
    return await giveBack(own, release, claimant, context)
  },
})
