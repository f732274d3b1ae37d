// A payment as the API, the events and the host application see it. The types are derived from the
// schemas, which describe the answers in the OpenAPI document; at run time nothing else loads them.

import * as z from 'zod'
import { type chargeSchema, metadataSchema, type refundSchema } from './requests.ts'
import { ALERT_KINDS, PAYMENT_STATUSES } from './status.ts'

export const timeSchema = z.string().meta({ format: 'date-time' })

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
      .describe('Of what was paid, and in its currency. `Refunded`: all that was paid.'),
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
    alert: openAlertSchema
      .describe('Of this payment, or `late_payment` of another one of this order.')
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

export type Metadata = z.infer<typeof metadataSchema>

/** One attempt to be paid. Amounts in minor units, times in ISO 8601. */
export type Transaction = z.infer<typeof transactionSchema>

/** What was paid, as the gateway reported it. */
export type Paid = z.infer<typeof paidSchema>

export type OpenAlert = z.infer<typeof openAlertSchema>

/** A charge as it is asked for. */
export type AskedCharge = z.infer<typeof chargeSchema>

/** What the host application asks to be paid. */
export type ChargeRequest = Omit<AskedCharge, 'replace' | 'repeat'>

/** The answer to a charge: the payment as it is, and how to pay it while that is possible. */
export type PaymentResponse = z.infer<typeof paymentResponseSchema>

/** What a gateway answered when it made a payment. */
export type OpenedPayment = PaymentResponse & { gatewayTransactionId: string }

export type RefundRequest = z.infer<typeof refundSchema>

export type RefundResult = z.infer<typeof refundResultSchema>
