// The eleven events that a host application listens to, and their payloads. The types of events.ts
// are derived from the schemas; at run time only the OpenAPI document loads them.

import * as z from 'zod'
import { webhookPayloadSchema } from './payload.ts'
import { raisedAlertSchema, settledAlertSchema } from './raised-alert.ts'
import { chargeSchema } from './requests.ts'
import { CALL_KINDS, type EventName } from './status.ts'
import { transactionSchema } from './transaction.ts'

const { replace: _, repeat: _repeat, ...requested } = chargeSchema.shape

/** The request of a charge, as it is stored and in events. */
export const requestedSchema = z.object(requested)

const moved = z.object({ transaction: transactionSchema })

export const EVENT_PAYLOADS = {
  PaymentInitiated: z
    .object({
      gateway: z.string(),
      request: requestedSchema,
      transaction: transactionSchema,
    })
    .describe('Stored before the gateway is called.'),
  PaymentSucceeded: moved.describe('Compare `paid` with the price, then deliver.'),
  PaymentFailed: moved.describe('The same request starts another attempt.'),
  PaymentCancelled: moved.describe('Cancelled or expired: the status of the transaction tells.'),
  PaymentRefunded: moved.describe('All of it or a part: `refundedAmount` tells.'),
  AlertRaised: z
    .object({ alert: raisedAlertSchema, transaction: transactionSchema })
    .describe('A person should look at this transaction: the alert says why.'),
  AlertSettled: z
    .object({ alert: settledAlertSchema, transaction: transactionSchema })
    .describe('Somebody acknowledged this alert, or a refund settled it.'),
  WebhookReceived: z
    .object({ payload: webhookPayloadSchema })
    .describe('A verified webhook came, a duplicate too.'),
  WebhookVerificationFailed: z
    .object({
      gateway: z.string(),
      reason: z.string(),
      headers: z.record(z.string(), z.string()).describe('Sensitive ones are redacted.'),
    })
    .describe('A webhook whose signature or token is wrong.'),
  GatewayTimeout: z
    .object({ gateway: z.string(), endpoint: z.string(), durationMs: z.number() })
    .describe('A gateway did not answer in time.'),
  CircuitOpened: z
    .object({ gateway: z.string(), kind: z.enum(CALL_KINDS) })
    .describe('Once per opening. `kind`: the calls that are not made for now.'),
} satisfies Record<EventName, z.ZodType>
