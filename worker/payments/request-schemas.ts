// What a charge, a refund and an acknowledgement must be before anything is stored or asked.

import * as z from 'zod'
import { CURRENCY, MAX_AMOUNT } from './domain/money.ts'
import { metadataSchema } from './schemas.ts'

/** Half a surrogate pair has no UTF-8: neither the database nor a gateway could take it. */
const wellFormed = (maxChars: number) =>
  z
    .string()
    .min(1)
    .max(maxChars)
    .refine((text) => text.isWellFormed(), 'must be whole characters')

const line = (maxChars: number) =>
  wellFormed(maxChars).regex(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it keeps out.
    /^[^\u0000-\u001f\u007f]*$/,
    'must not hold control characters',
  )

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

export const acknowledgementSchema = z.strictObject({
  gatewayReference: line(255)
    .describe('The gateway’s id of what was done about it, such as a refund by hand.')
    .exactOptional(),
})
