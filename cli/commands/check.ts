// Whether a claim still holds: before a commit, or before work that cannot be taken back.

import { HELD } from '../claim/own-claim.ts'
import { renewOwn } from '../claim/standing.ts'
import { define } from '../command.ts'

export const command = define({
  usage: '[--claim CLAIM | --actor NAME] [options]',
  description: `\
Asks whether the claim of this actor and board still holds, and renews it. The type of the line is
held; away, while its task is not there and the claim comes back with it; done, while the task reads
closed and may be opened again; ended, afterwards. Exit code 4: it is lost, and somebody else may
work on the task. Exit code 1: that cannot be known, or there is none.`,
  options: HELD,
  run: (input, context) => renewOwn(input, context, 'held'),
})
