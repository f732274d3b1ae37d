// Goes on holding a task, and says what is done.

import { claimsAt } from '../claim/claims-at-edge.ts'
import { claimantOf, HELD, isPlaced, ownClaim, printAnswer } from '../claim/own-claim.ts'
import { standingOf } from '../claim/standing.ts'
import { define } from '../command.ts'
import type { Context, Input } from '../context.ts'
import { FAILED } from '../exit-codes.ts'
import { type OptionsOf, Setting } from '../setting.ts'
import { CLAIMED_FOR } from '../settings.ts'

const OPTIONS = [
  ...HELD,
  CLAIMED_FOR,
  new Setting('--progress <TEXT>', 'what is done now; the page shows it'),
] as const

export const command = define({
  usage: '[--progress TEXT] [--claim CLAIM | --actor NAME] [options]',
  description: `\
Renews the claim of this actor and board for as long as it was made for, or for --ttl. The type of
the line is renewed; away, done or ended, as for check. Exit code 4: it is lost, and somebody else
may work on the task: stop. It is needed where no process is watched.`,
  options: OPTIONS,
  run,
})

async function run(input: Input<OptionsOf<typeof OPTIONS>>, context: Context): Promise<number> {
  const claimant = await claimantOf(input, context)
  const { ttl: ttlMs, progress } = input.options
  const own = claimant && (await ownClaim(claimant, input, context))
  if (!claimant || !own || !isPlaced(claimant, context.io)) return FAILED
  return await printAnswer(context.io, claimant, async () => {
    const answer = await claimsAt(claimant.place.edge).renew({
      claim: own.claim,
      activeAt: new Date().toISOString(),
      ...(ttlMs !== undefined && { ttlMs }),
      ...(progress !== undefined && { progress }),
    })
    const { type, code } = standingOf(answer, 'renewed')
    return { line: { type, ...answer }, code }
  })
}
