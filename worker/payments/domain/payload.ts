// A gateway's event: as its driver reads it, and as it is stored and dispatched.

import * as z from 'zod'
import { paymentErrorSchema, statusSchema, timeSchema } from './transaction.ts'

export const webhookPayloadSchema = z.object({
  gateway: z.string().describe('Key of the configuration.'),
  gatewayTransactionId: z.string(),
  isOtherId: z
    .literal(true)
    .describe(
      '`gatewayTransactionId` is not the id of the charge, but of another kind, such as a ' +
        'PaymentIntent of Stripe: it is compared with nothing.',
    )
    .exactOptional(),
  reference: z.string().describe('The host application’s; empty if the gateway does not send it.'),
  externalReferenceId: z
    .string()
    .describe('Our id of it at the gateway, if the gateway sends it back.')
    .exactOptional(),
  status: statusSchema,
  amount: z
    .int()
    .describe(
      'Minor units. With `Refunded` and `PartiallyRefunded`: all that was refunded so far, as ' +
        'the gateway counts it; otherwise what was paid.',
    ),
  currency: z.string(),
  eventId: z.string().describe('The same for every delivery of one event.'),
  occurredAt: timeSchema.describe('Of the event or of this delivery, never of the payment.'),
  error: paymentErrorSchema.describe('On a failure.').exactOptional(),
  alert: z
    .enum(['refund_failed', 'dispute'])
    .describe('A person should look, and nothing moves: `status` is where the payment stays.')
    .exactOptional(),
  refundId: z
    .string()
    .describe('Which refund failed, by our id or else the gateway’s. Missing: the one under way.')
    .exactOptional(),
  raw: z
    .unknown()
    .describe('What the gateway sent, masked. Missing where it sent nothing.')
    .exactOptional(),
})

export type WebhookPayload = Readonly<z.infer<typeof webhookPayloadSchema>>

/** As a driver makes it: nothing is masked, and its time may be any number. */
export type VerifiedWebhook = Omit<WebhookPayload, 'occurredAt'> & {
  /** ms. NaN if the gateway sent no time: then it is asked instead. */
  readonly occurredAt: number
}
