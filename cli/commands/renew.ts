// Renews a claim, and reports progress.

import { defined } from '../../worker/shared/json.ts'
import { HELD } from '../claim/own-claim.ts'
import { renewOwn } from '../claim/standing.ts'
import { define } from '../command.ts'
import { Setting } from '../setting.ts'
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
  run(input, context) {
    const { ttl: ttlMs, progress } = input.options
    return renewOwn(input, context, 'renewed', defined({ ttlMs, progress }))
  },
})
