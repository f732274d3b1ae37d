// Payments as the host application gets them: in answers to a charge and a refund, and in events,
// with alerts and webhooks. Only the OpenAPI document loads this file.

import * as z from 'zod'
import { timeSchema } from '../../shared/fields.ts'
import { chargeSchema, metadataSchema } from '../charging/charge.ts'
import {
  ALERT_KINDS,
  CALL_KINDS,
  DURABLE_EVENTS,
  type EventName,
  PAYMENT_STATUSES,
} from '../domain/status.ts'

export const statusSchema = z.enum(PAYMENT_STATUSES)

export const paymentErrorSchema = z
  .object({
    code: z.string().describe('Ours, and stable.'),
    rawCode: z.string().describe('The gateway’s.').exactOptional(),
    message: z.string(),
  })
  .describe('Why a payment, charge or refund failed.')

export const paidSchema = z
  .object({ amount: z.int().describe('Minor units.'), currency: z.string() })
  .describe('What came in, as the gateway reported it. It may differ from what was requested.')

export const alertKindSchema = z
  .enum(ALERT_KINDS)
  .describe('Why a person should look at a payment. The most urgent first.')

export const openAlertSchema = z
  .object({ id: z.string(), kind: alertKindSchema })
  .describe(
    'The open alert of this payment: a person, or the shop, should look before it goes on. Of ' +
      'several the most urgent, in the order of `kind`. Not one about an event that was not ' +
      'delivered.',
  )

export const transactionSchema = z
  .object({
    id: z.string(),
    gateway: z.string().describe('Key of the configuration.'),
    reference: z.string().describe('The host application’s own name for what is paid.'),
    attempt: z.int(),
    isRepeat: z
      .literal(true)
      .describe('Begun with `repeat`: another payment of an order that may be paid.')
      .exactOptional(),
    gatewayTransactionId: z
      .string()
      .describe('Missing until the gateway has answered.')
      .exactOptional(),
    externalReferenceId: z
      .string()
      .describe('Our id of it at the gateway; the same however often a charge is repeated.'),
    status: statusSchema,
    amount: z.int().describe('Minor units: what was requested.'),
    currency: z.string(),
    refundedAmount: z
      .int()
      .describe(
        'Part of what was paid, in its currency: the sum of the refunds that the gateway has ' +
          'made. If one fails later it is less, and the status stays.',
      ),
    refundRevision: z
      .int()
      .describe('Rises with each change of `refundedAmount`: of two events, the lower is older.'),
    description: z.string().exactOptional(),
    metadata: metadataSchema.exactOptional(),
    redirectUrl: z.string().exactOptional(),
    expiresAt: timeSchema.exactOptional(),
    correlationId: z.string().exactOptional(),
    error: paymentErrorSchema.exactOptional(),
    createdAt: timeSchema,
    updatedAt: timeSchema,
    paidAt: timeSchema.exactOptional(),
    paid: paidSchema.exactOptional(),
    alert: openAlertSchema.exactOptional(),
  })
  .describe('One attempt to be paid.')

export const paymentResponseSchema = z
  .object({
    status: statusSchema.describe(
      '`Pending` after a new charge; any status when the same is requested again.',
    ),
    gateway: z.string(),
    reference: z.string(),
    transactionId: z.string().describe('Ours: what `GET /api/payments/transactions/{id}` takes.'),
    gatewayTransactionId: z
      .string()
      .describe('Missing only where the gateway never named it: it refused, say.')
      .exactOptional(),
    redirectUrl: z
      .string()
      .describe('Where to send the payer. Missing once the payment cannot be paid there.')
      .exactOptional(),
    expiresAt: timeSchema.describe('The payment can be paid until then.').exactOptional(),
    qrCode: z.string().describe('Only while the payment can be paid.').exactOptional(),
    readableCode: z.string().describe('Only while the payment can be paid.').exactOptional(),
    deepLink: z.string().describe('Only while the payment can be paid.').exactOptional(),
    paid: paidSchema
      .describe('Once it was paid: it may be less than was requested.')
      .exactOptional(),
    error: paymentErrorSchema.describe('Why it failed.').exactOptional(),
    isStranded: z
      .literal(true)
      .describe(
        'Its page has expired, and the gateway has not reported how it ended. `replace` asks the ' +
          'gateway once more, and begins another attempt.',
      )
      .exactOptional(),
    otherOpen: z
      .array(z.object({ gateway: z.string(), transactionId: z.string() }))
      .describe(
        'With `replace`: payments of this order that are open at other gateways, and may be paid ' +
          'there, too. `…/cancel` closes them where that is possible.',
      )
      .exactOptional(),
    alert: openAlertSchema
      .describe('This payment’s, or the `late_payment` of another one of this order.')
      .exactOptional(),
  })
  .describe('The payment as it is, and how to pay it while that is possible.')

export const refundResultSchema = z.object({
  success: z
    .boolean()
    .describe('The gateway took it. A bank that refunds by hand may take days until `Refunded`.'),
  refundId: z.string().describe('The gateway’s id of it, or ours if it gives none.'),
  refundedAmount: z.int().describe('What this refund returns, in minor units.'),
})

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
  isPageClosed: z
    .literal(true)
    .describe('With `Pending`: the payer is done with the page, and it can no longer be paid.')
    .exactOptional(),
  amount: z
    .int()
    .describe(
      'Minor units. With `Refunded` and `PartiallyRefunded`: all that was refunded so far, as ' +
        'the gateway counts it; otherwise what was paid.',
    ),
  currency: z.string(),
  eventId: z.string().describe('The same for every delivery of one event.'),
  occurredAt: timeSchema.describe(
    'The time of the event or of this delivery, never of the payment.',
  ),
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

const { PaymentInitiated, PaymentSucceeded, RefundAmountChanged, AlertRaised, AlertSettled } =
  EVENT_PAYLOADS

/** Of a durable event. */
export const durablePayloadSchema = z
  .union([PaymentInitiated, AlertSettled, AlertRaised, RefundAmountChanged, PaymentSucceeded])
  .describe('All other types: the transaction alone.')
