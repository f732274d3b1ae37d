// An alert as the API, the events and the host application see it. The types are derived from the
// schemas, which describe the answers in the OpenAPI document.

import * as z from 'zod'
import { DURABLE_EVENTS } from './status.ts'
import { alertKindSchema, paymentErrorSchema, statusSchema, timeSchema } from './transaction.ts'

export const alertDetailSchema = z
  .object({
    reference: z.string().describe('The host application’s, of the payment.'),
    amount: z.int().describe('Of the gateway’s event; without one, of the payment or the refund.'),
    currency: z.string(),
    expectedAmount: z.int().describe('What was requested or, of a refund, what was paid of it.'),
    expectedCurrency: z.string(),
    gatewayTransactionId: z.string().describe('Of an event whose ids contradict.'),
    externalReferenceId: z.string().describe('Of an event whose ids contradict.'),
    eventId: z.string().describe('The gateway’s event that raised it.'),
    otherTransactionId: z
      .string()
      .describe('Ours: the other payment of a paid order, or the one that contradicting ids name.'),
    otherGateway: z.string().describe('The gateway of that other payment.'),
    refundId: z.string().describe('Our id of the refund, or else the gateway’s.'),
    since: timeSchema.describe('Open since.'),
    said: z
      .union([statusSchema, z.literal('nothing')])
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
  transactionId: z.string().describe('Ours.'),
  detail: alertDetailSchema,
  createdAt: timeSchema,
})

/** Once it was acknowledged. */
export const settledAlertSchema = raisedAlertSchema.extend({
  acknowledgedAt: timeSchema,
  acknowledgedBy: z
    .string()
    .describe('The subject of a person’s token; `refund`: the payment was refunded.'),
  gatewayReference: z
    .string()
    .describe('The gateway’s id of what was done about it, such as a refund by hand.')
    .exactOptional(),
})

export type AlertDetail = z.infer<typeof alertDetailSchema>

/** An alert as the host application gets it. */
export type RaisedAlert = z.infer<typeof raisedAlertSchema>

export type SettledAlert = z.infer<typeof settledAlertSchema>
