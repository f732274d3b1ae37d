// Pauses payments, such as before a move to another machine.

import { define } from '../../command.ts'
import { switchPayments } from '../../payments/switch.ts'
import { PAYMENTS_TARGET } from '../../payments/target.ts'

export const command = define({
  usage: '[options]',
  description: `\
Asks the edge at --edge URL, or of the running signalbox, to begin nothing new: until signalbox
payments resume, charges, refunds, cancellations and replacements are answered 503 paused, on every
host and over restarts. What was begun is settled: webhooks, checks and deliveries go on. Prints who
paused them first, and since when. Needs a token with payments:write.`,
  options: PAYMENTS_TARGET,
  run: (input, context) => switchPayments('pause', input, context),
})
