// Ends the pause of a board.

import { TARGET } from '../board/target.ts'
import { setLimits } from '../claim/set-limits.ts'
import { define } from '../command.ts'

export const command = define({
  usage: '[options]',
  description: `\
Tasks of the board can be claimed again. The limits that signalbox pause has set stay. Prints one
line of JSON with what is set now. With --url the token needs board:lead. signalbox payments resume
is for payments.`,
  options: TARGET,
  run: (input, context) => setLimits({ paused: false }, input, context),
})
