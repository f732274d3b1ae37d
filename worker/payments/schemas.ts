// Payments and their webhooks as the API and the host application see them. The OpenAPI document is
// made of these schemas, and the types of `domain/types.ts` of that.

import * as z from 'zod'
import { CURRENCY, MAX_AMOUNT } from './domain/money.ts'
import { ALERT_KINDS, PAYMENT_STATUSES } from './domain/status.ts'

export const timeSchema = z.string().meta({ format: 'date-time' })

export const statusSchema = z.enum(PAYMENT_STATUSES)

const METADATA_CHARS = 4_096
export const metadataSchema = z
  .record(z.string().max(64), z.union([z.string(), z.number(), z.boolean(), z.null()]))
  .refine((data) => JSON.stringify(data).length <= METADATA_CHARS, 'must fit into 4 KiB')
  .describe('Up to 4 KiB. It is returned in every event.')

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

/**
 * A text of a reply that may be missing. Some gateways write null or another type, which must not
 * make a reply invalid whose amounts are correct.
 */
export const optionalText = z.string().min(1).optional().catch(undefined)

/** Half a surrogate pair has no UTF-8: neither the database nor a gateway could take it. */
const wellFormed = (maxChars: number) =>
  z
    .string()
    .min(1)
    .max(maxChars)
    .refine((text) => text.isWellFormed(), 'must be whole characters')

const NO_CONTROLS = 'must not hold control characters'

const line = (maxChars: number) =>
  wellFormed(maxChars).regex(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it keeps out.
    /^[^\u0000-\u001f\u007f]*$/,
    NO_CONTROLS,
  )

/** Characters are counted as a person does: an emoji is two units of UTF-16, and one character. */
const lines = (maxChars: number) =>
  z
    .string()
    .min(1)
    .refine((text) => [...text].length <= maxChars, `must have ${maxChars} characters at most`)
    .refine((text) => text.isWellFormed(), 'must be whole characters')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it keeps out.
    .refine((text) => !/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(text), NO_CONTROLS)
    .meta({ maxLength: maxChars })

const isPage = (text: string): boolean => {
  if (/[\s\p{Cc}]/u.test(text) || !URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}

const httpUrl = z
  .string()
  .max(2_048)
  .refine(isPage, 'must be an http(s) URL without white space and without a user')
  .meta({ format: 'uri' })

export const chargeSchema = z.strictObject({
  gateway: z.string().min(1).describe('Key of the configuration, such as `redirect`.'),
  reference: line(255).describe(
    'Your id of the order. Repeating the charge of an order is safe: it cannot be paid twice.',
  ),
  amount: z
    .int()
    .positive()
    .max(MAX_AMOUNT, 'must have 15 digits at most')
    .describe('Minor units: IQD 25,000 is 25000, USD 12.50 is 1250.'),
  currency: z.string().regex(CURRENCY, 'must be three capital letters'),
  description: line(500).describe('The text that the payer sees.'),
  returnUrl: httpUrl
    .describe('The page that the payer returns to; overrides the configured one.')
    .exactOptional(),
  cancelUrl: httpUrl
    .describe(
      'The page for a payer who does not pay; overrides the configured one. Without both, it is ' +
        '`returnUrl`.',
    )
    .exactOptional(),
  customerPhone: line(32).describe('Sent to the gateway, and not stored.').exactOptional(),
  metadata: metadataSchema.exactOptional(),
  replace: z
    .boolean()
    .describe(
      'If this charge was requested before, and its page or code was lost or has expired: once ' +
        'its gateway is certain that it is not paid, it is cancelled, and another attempt ' +
        'begins. An open charge of this order with another request is closed at its gateway ' +
        'first, where that can be cancelled. This field is not part of the comparison with the ' +
        'earlier request.',
    )
    .exactOptional(),
  repeat: z
    .boolean()
    .describe(
      'Charges an order again though it is paid: another payment, for its own ' +
        '`Idempotency-Key`, which it needs. An open payment of the order is returned as it is. ' +
        'This field is not part of the comparison with the earlier request.',
    )
    .exactOptional(),
})

export const refundSchema = z.strictObject({
  transactionId: wellFormed(255).describe('Ours, or the gateway’s.'),
  amount: z
    .int()
    .positive()
    .describe('Minor units. For a gateway that refunds only in full: what was charged.'),
  reason: wellFormed(500),
})

export const sendAllSchema = z.strictObject({
  endpoint: line(2_048).describe('As `GET /api/payments/failing-endpoints` lists it.'),
})

export const noteAskedSchema = z.strictObject({
  text: lines(2_000).describe('It may have several lines.'),
})

export const acknowledgementSchema = z.strictObject({
  gatewayReference: line(255)
    .describe('The gateway’s id of what was done about it, such as a refund by hand.')
    .exactOptional(),
})
