// Cancels an open payment at its gateway, by the edge.

import * as z from 'zod'
import { printable } from '../../../worker/shared/printable.ts'
import { define } from '../../command.ts'
import { edgeOf, order, PAYMENTS_TARGET } from '../../payments/target.ts'

export const command = define({
  argument: ['ID', 'our id of the payment'],
  usage: 'ID [options]',
  description: `\
Asks the edge at --edge URL, or of the running signalbox, to end an open payment at its gateway, and
prints how it has ended. Exits with 1 if it has not: it was paid, its gateway cannot cancel, or its
end is not known yet. Needs a token with payments:write.`,
  options: PAYMENTS_TARGET,
  async run(input, context) {
    const [id] = input.arguments
    const edge = await edgeOf(input, context, { 'ID, our id of the payment': id || undefined })
    const route = `/payments/transactions/${encodeURIComponent(id ?? '')}/cancel`
    return await order(context, edge, route, sentenceOf, { timeoutMs: PATIENCE_MS })
  },
})

const answered = z.object({ reference: z.string(), status: z.string() })

function sentenceOf(answer: unknown): string {
  const { reference, status } = answered.parse(answer)
  return `${printable(reference)} is ${status}.`
}

/** The edge asks its gateway three times at most. */
const PATIENCE_MS = 30_000
