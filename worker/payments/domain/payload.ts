// What a gateway told: as its driver reads it, and as it is recorded and told.

import * as z from 'zod'
import { paymentErrorSchema, statusSchema, timeSchema } from './transaction.ts'

export const webhookPayloadSchema = z.object({
  gateway: z.string().describe('Key of the configuration.'),
  gatewayTransactionId: z.string(),
  reference: z
    .string()
    .describe('The host application’s; empty where the gateway does not tell it.'),
  externalReferenceId: z
    .string()
    .describe('Our name for it at the gateway, where the gateway tells it back.')
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
  occurredAt: timeSchema.describe(
    'Of the event or of this attempt to tell it, never of the payment.',
  ),
  error: paymentErrorSchema.describe('On a failure.').exactOptional(),
  alert: z
    .literal('refund_failed')
    .describe('A person should look, and nothing moves: `status` is where the payment stays.')
    .exactOptional(),
  refundId: z
    .string()
    .describe(
      'Which refund failed: our name for it, or else the gateway’s. Missing: the one under way.',
    )
    .exactOptional(),
  raw: z
    .unknown()
    .describe('What the gateway sent, masked. Missing where it sent nothing.')
    .exactOptional(),
})

export type WebhookPayload = Readonly<z.infer<typeof webhookPayloadSchema>>

/** As a driver makes it: nothing is masked, and any number may stand for its time. */
export type VerifiedWebhook = Omit<WebhookPayload, 'occurredAt'> & {
  /** ms. NaN where the gateway tells something else for it: it is then asked instead. */
  readonly occurredAt: number
}
