// What a host application learns by itself: alerts, and the events with their payloads, for
// the OpenAPI document.

import * as z from 'zod'
import { CALL_KINDS, DURABLE_EVENTS, type EventName } from './domain/status.ts'
import {
  alertKindSchema,
  chargeSchema,
  paymentErrorSchema,
  statusSchema,
  timeSchema,
  transactionSchema,
  webhookPayloadSchema,
} from './schemas.ts'

export const alertDetailSchema = z
  .object({
    reference: z.string().describe('The host application’s, of the payment.'),
    amount: z.int().describe('The gateway’s event has it; without one, the payment or the refund.'),
    currency: z.string(),
    expectedAmount: z.int().describe('What was requested or, of a refund, what was paid of it.'),
    expectedCurrency: z.string(),
    gatewayTransactionId: z
      .string()
      .describe('In an event whose ids contradict, or that our key may not read.'),
    externalReferenceId: z.string().describe('In an event whose ids contradict.'),
    eventId: z.string().describe('The gateway’s event that raised it.'),
    otherTransactionId: z
      .string()
      .describe('Ours: the other payment of a paid order, or the one that contradicting ids name.'),
    otherGateway: z.string().describe('The gateway of that other payment.'),
    refundId: z.string().describe('Our id of the refund, or else the gateway’s.'),
    gatewayRefundId: z.string().describe('The id of a refund that was asked for here.'),
    askedBy: z.string().describe('The subject that asked for the refund.'),
    inquiry: z.literal(true).describe('Of a dispute: the bank only asks, and no money is out yet.'),
    outcome: z
      .string()
      .describe('How a dispute has ended, in the gateway’s word, such as `won` or `lost`.'),
    since: timeSchema.describe('Open since.'),
    gatewayStatus: z
      .union([statusSchema, z.literal('none')])
      .describe(
        'For a refund with a wrong amount, and for ids that contradict, the status of the event. ' +
          'Otherwise, what the gateway answered last.',
      ),
    event: z.string().describe('The id of the event that was not delivered.'),
    type: z.enum(DURABLE_EVENTS).describe('The type of the event that was not delivered.'),
    deliveryId: z.string().describe('What can be sent again.'),
    endpoint: z.string().describe('Where it can be sent again to.'),
    lastStatus: z.int(),
    error: z
      .union([paymentErrorSchema, z.string()])
      .describe('The gateway’s, or why an event was not taken, or cannot be read.'),
  })
  .exactPartial()
  .describe('What happened, as far as it is known. Amounts are in minor units.')

export const raisedAlertSchema = z.object({
  id: z.string(),
  kind: alertKindSchema,
  gateway: z.string(),
  transactionId: z.string().describe('Ours. Empty if it is not known.'),
  detail: alertDetailSchema,
  createdAt: timeSchema,
})

/** Once it was acknowledged. */
export const settledAlertSchema = raisedAlertSchema.extend({
  acknowledgedAt: timeSchema,
  acknowledgedBy: z
    .string()
    .describe(
      'The subject of a person’s token; `refund`: the payment was refunded; `gateway`: it has ' +
        'reported money, or an end, or that of a dispute; `capture`: all of it was captured; ' +
        '`delivery`: the endpoint accepts events again.',
    ),
  gatewayReference: z
    .string()
    .describe('The gateway’s id of what was done about it, such as a refund by hand.')
    .exactOptional(),
})

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
  RefundAmountChanged: moved
    .extend({ previousRefundedAmount: z.int().describe('Minor units.') })
    .describe(
      '`refundedAmount` changed and the status did not: another part was refunded, a refund has ' +
        'failed, or late money went back. Ignore one with a lower `refundRevision` than you have.',
    ),
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
