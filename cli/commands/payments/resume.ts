// Ends a pause of payments.

import { define } from '../../command.ts'
import { switchPayments } from '../../payments/switch.ts'
import { PAYMENTS_TARGET } from '../../payments/target.ts'

export const command = define({
  usage: '[options]',
  description: `\
Asks the edge at --edge URL, or of the running signalbox, to end what payments pause began. Where
payments are not paused, it changes nothing. Needs a token with payments:write.`,
  options: PAYMENTS_TARGET,
  run: (input, context) => switchPayments('resume', input, context),
})
