// Translates between Stripe's format and ours. No calls.

import * as z from 'zod'
import { GatewayUnavailableException, type PaymentError } from '../../domain/exceptions.ts'
import { minorUnits } from '../../domain/money.ts'
import type { PaymentStatus } from '../../domain/status.ts'
import type { DisputeSet, ReportedDispute, ReportedRefund } from '../../domain/types.ts'
import { optionalText } from '../fields.ts'
import type { GatewayCharge, GatewayRefund, GatewayReply } from '../gateway.ts'
import { coded, REFUND_CANCELLED, refusal, truncate, unexpectedReply } from '../reply.ts'

/** The format of replies depends on it; events have the version of their webhook endpoint. */
export const API_VERSION = '2026-10-28.endive'

/**
 * Currencies whose minor units are the same for Stripe and for money.ts. Not IQD, which Stripe does
 * not support; nor XAF and similar ones, which have no minor unit at Stripe and hundredths in
 * money.ts: the payer would be charged a hundred times as much.
 */
// biome-ignore format: a list to look things up in.
export const CURRENCIES = [
  'AED', 'AUD', 'BHD', 'CAD', 'CHF', 'CZK', 'DKK', 'EGP', 'EUR', 'GBP', 'HKD', 'INR', 'JOD', 'JPY',
  'KRW', 'KWD', 'MYR', 'NOK', 'NZD', 'OMR', 'PLN', 'QAR', 'SAR', 'SEK', 'SGD', 'THB', 'TRY', 'USD',
  'ZAR',
]

/** Why Stripe refuses an amount, as the rest of a sentence. Undefined: it takes it. */
export function amountProblem(amount: number, currency: string): string | undefined {
  if (minorUnits(currency) < 1_000 || amount % 10 === 0) return undefined
  const [below, above] = [Math.floor(amount / 10) * 10, Math.ceil(amount / 10) * 10]
  const why = `with three decimals, the last digit must be 0 at Stripe`
  return `${why}, such as ${below === 0 ? '' : `${below} or `}${above}.`
}

const currency = z
  .string()
  .length(3)
  .transform((code) => code.toUpperCase())
/** The payer's identity and payment method, except for the card's brand. */
// biome-ignore format: several names a line.
export const PRIVATE_FIELDS = [
  'email', 'name', 'address', 'shipping', 'tax id', 'ip', 'payer id', 'buyer id', 'cashtag',
  'last4', 'iban', 'account number', 'routing number', 'sort code', 'exp month', 'exp year',
  // The URLs show such data without a login, and `fingerprint` identifies a card everywhere.
  'receipt url', 'hosted voucher url', 'fingerprint', 'custom fields',
]
/** Values that we sent with the session: sessionOf(). */
export const ECHOED_FIELDS = ['metadata', 'client_reference_id', 'success_url', 'cancel_url']

const minor = z.int().nonnegative()
/** An object, or its id where it was not expanded. */
const idOf = <T extends z.ZodType>(object: T) => z.union([object, z.string()]).nullish()

/** Set on all that we create: an object without it was created by others in this account. */
const OUR_KEY = 'external_reference_id'
const marked = z.object({
  metadata: z.object({
    [OUR_KEY]: z.string().min(1),
    installation: optionalText,
    reference: optionalText,
  }),
  client_reference_id: optionalText,
})

/** Our references of an object; undefined when it is not ours. */
export function referencesIn(
  object: unknown,
): { externalReferenceId: string; installation?: string; reference: string } | undefined {
  const { metadata, client_reference_id } = marked.safeParse(object).data ?? {}
  if (!metadata) return undefined
  const reference = metadata.reference ?? client_reference_id ?? ''
  const { installation } = metadata
  return {
    externalReferenceId: metadata[OUR_KEY],
    ...(installation != null && { installation }),
    reference,
  }
}

export const intent = z.object({
  id: z.string().min(1),
  amount_received: minor,
  currency,
  status: z.string(),
  last_payment_error: z.object({ code: optionalText, message: optionalText }).nullish(),
})
/** The answer to a new session. */
export const madeSession = z.object({
  id: z.string().min(1),
  url: optionalText,
  expires_at: z.int().optional().catch(undefined),
})
export const session = z
  .object({
    id: z.string().min(1),
    status: optionalText,
    payment_status: z.string(),
    amount_total: minor,
    currency,
    payment_intent: idOf(intent),
    // Before the API of March 2025, of a payer who chose another currency: what was charged.
    currency_conversion: z.object({ amount_total: minor, source_currency: currency }).nullish(),
  })
  .transform(({ currency_conversion: charged, ...read }) =>
    charged
      ? { ...read, amount_total: charged.amount_total, currency: charged.source_currency }
      : read,
  )
/** The id of its payment, also if the rest cannot be read. */
export const intentOnly = z.object({ payment_intent: z.string().nullish() })
export const idIn = (object: unknown): string | undefined =>
  z.object({ id: z.string().min(1) }).safeParse(object).data?.id
export const charge = z.object({ payment_intent: z.string().min(1), amount: minor, currency })
const refund = z.object({
  id: z.string().min(1),
  amount: z.int().positive(),
  status: z.string(),
  failure_reason: optionalText,
  /** Set on refunds that we made. */
  metadata: z.object({ refund_id: optionalText }).optional().catch(undefined),
})
/** The answer to a new refund. */
export const madeRefund = refund.pick({ id: true, status: true, failure_reason: true })
export const refundsPage = z.object({ data: z.array(refund), has_more: z.boolean() })
export const dispute = z.object({
  id: z.string().min(1),
  amount: minor,
  currency,
  status: z.string().min(1),
  reason: optionalText,
  /** The money: taken by the first of them, given back by the second. */
  balance_transactions: z.array(z.unknown()).catch([]),
})
const failure = z.object({
  error: z.object({
    type: optionalText,
    code: optionalText,
    decline_code: optionalText,
    message: optionalText,
  }),
})

export type Session = z.infer<typeof session>
type Refund = z.infer<typeof refund>

/** Stripe's limit; a longer reference is in the metadata only. */
const MAX_CLIENT_REFERENCE_CHARS = 200
const MAX_PRODUCT_NAME_CHARS = 250

/**
 * Nothing in it may depend on the time: Stripe refuses a repeated Idempotency-Key with other
 * parameters.
 */
export const sessionOf = (
  { amount, currency, description, reference, externalReferenceId, installation }: GatewayCharge,
  successUrl: string,
  cancelUrl: string | undefined,
): Record<string, string> => ({
  mode: 'payment',
  ...(reference.length <= MAX_CLIENT_REFERENCE_CHARS && { client_reference_id: reference }),
  success_url: successUrl,
  ...(cancelUrl !== undefined && { cancel_url: cancelUrl }),
  'line_items[0][quantity]': '1',
  'line_items[0][price_data][currency]': currency.toLowerCase(),
  'line_items[0][price_data][unit_amount]': String(amount),
  'line_items[0][price_data][product_data][name]': truncate(MAX_PRODUCT_NAME_CHARS, description),
  // Otherwise Stripe may let the payer pay in another currency.
  'adaptive_pricing[enabled]': 'false',
  [`metadata[${OUR_KEY}]`]: externalReferenceId,
  'metadata[reference]': reference,
  // Stripe copies a PaymentIntent's metadata to its Charge, the only object in `charge.refunded`.
  [`payment_intent_data[metadata][${OUR_KEY}]`]: externalReferenceId,
  'payment_intent_data[metadata][reference]': reference,
  ...(installation !== undefined && {
    'metadata[installation]': installation,
    'payment_intent_data[metadata][installation]': installation,
  }),
})

/**
 * The reason goes into the metadata: Stripe's own field takes three values, and ours is free text.
 */
export const refundOf = (
  { refundAmount, refundId, reason, externalReferenceId }: GatewayRefund,
  intent: string,
): Record<string, string> => ({
  payment_intent: intent,
  amount: String(refundAmount),
  [`metadata[${OUR_KEY}]`]: externalReferenceId,
  'metadata[refund_id]': refundId,
  'metadata[reason]': reason,
})

interface State {
  status: PaymentStatus
  amount: number
  /** The paid amount, where `amount` is the refunded one. */
  paidAmount?: number
  error?: PaymentError
  isBeingPaid?: boolean
  isPageClosed?: true
}

/** The state of a session; of one that is paid, with its refunds. */
export function stateOf(read: Session, refunds: readonly ReportedRefund[]): State {
  const amount = read.amount_total
  if (isPaid(read)) return { ...refundedOf(refunds, amount), paidAmount: amount }
  if (read.status === 'expired') return { status: 'Expired', amount }
  const intent = typeof read.payment_intent === 'object' ? read.payment_intent : undefined
  // Complete but unpaid: the payment method takes days, and the bank may still refuse it.
  const hasFailed = intent?.status === 'requires_payment_method' || intent?.status === 'canceled'
  const isComplete = read.status === 'complete'
  if (!isComplete || !hasFailed) {
    const closed = isComplete && { isPageClosed: true as const }
    return { status: 'Pending', amount, isBeingPaid: isComplete || !isKnown(read), ...closed }
  }
  const { code, message } = intent?.last_payment_error ?? {}
  return { status: 'Failed', amount, error: failed(code, message) }
}

/** Stripe may add words later. */
export const isKnown = ({ payment_status: status }: Session): boolean =>
  ['paid', 'unpaid', 'no_payment_required'].includes(status)

export const isPaid = ({ payment_status: status }: Session): boolean =>
  status === 'paid' || status === 'no_payment_required'

export function refundedOf(
  refunds: readonly ReportedRefund[],
  amount: number,
): Pick<State, 'status' | 'amount'> {
  const made = refunds.filter(({ status }) => status === 'succeeded')
  const sum = made.reduce((total, refund) => total + refund.amount, 0)
  if (sum === 0) return { status: 'Paid', amount }
  return { status: sum >= amount ? 'Refunded' : 'PartiallyRefunded', amount: sum }
}

export const reported = ({ id, amount, status, metadata, ...read }: Refund): ReportedRefund => ({
  id,
  amount,
  ...(metadata?.refund_id !== undefined && { refundId: metadata.refund_id }),
  ...refundState(status, read.failure_reason),
})

/** A status that is not known reserves the amount: it may still be made. */
export function refundState(
  status: string,
  failureReason: string | undefined,
): Pick<ReportedRefund, 'status' | 'error'> {
  switch (status) {
    case 'succeeded':
      return { status }
    case 'failed':
      return { status, error: coded('refund_failed', failureReason, 'The refund failed.') }
    case 'canceled':
      return { status: 'failed', error: REFUND_CANCELLED }
    default:
      return { status: 'accepted' }
  }
}

export const failed = (rawCode?: string, message = 'The payment failed.'): PaymentError =>
  coded('payment_failed', rawCode, message)

const STANDING = ['needs_response', 'under_review']
const INQUIRY = 'warning_'
const STANDING_INQUIRY = STANDING.map((status) => `${INQUIRY}${status}`)
const ENDS = ['won', 'lost', `${INQUIRY}closed`]

/** `isClosed`: by an event, it has ended. */
export function disputeOf(
  { id, amount, currency, status, reason, balance_transactions: moves }: z.infer<typeof dispute>,
  { isClosed, ...read }: Pick<DisputeSet, 'readAt' | 'isCopy'> & { isClosed: boolean },
): DisputeSet {
  const isInquiry = status.startsWith(INQUIRY)
  const isOut = isInquiry ? false : outBy(status, moves.length)
  const isStanding = STANDING.includes(status) || STANDING_INQUIRY.includes(status)
  const isEnded = ENDS.includes(status) || (isClosed && !isStanding)
  const state = isStanding ? 'open' : isEnded ? 'ended' : 'unknown'
  // A lost dispute whose money comes back is won: Stripe does not change its status.
  const outcome = status === 'lost' && isOut === false ? 'won' : status
  const part: ReportedDispute = {
    id,
    amount,
    currency,
    state,
    isInquiry,
    ...(state === 'ended' && { outcome }),
    ...(isOut !== undefined && { isOut }),
  }
  const message = `The payer disputes the payment: ${status}.`
  return { id, ...read, parts: [part], error: coded('dispute', reason, message) }
}

function outBy(status: string, moves: number): boolean | undefined {
  if (moves > 0) return moves % 2 === 1
  if (status === 'won') return false
  return STANDING.includes(status) || status === 'lost' ? true : undefined
}

export const NOTHING_PAID: PaymentError = {
  code: 'gateway_refused',
  message: 'There is no paid amount to refund.',
}

/** Stripe's refusal. Throws GatewayUnavailableException when the reply is not a refusal. */
export function refusalIn(endpoint: string, reply: GatewayReply): PaymentError {
  const error = failure.safeParse(reply.body).data?.error
  const isRefused = reply.status >= 400 && reply.status < 500 && reply.status !== 409
  if (!error || !isRefused) throw unexpectedReply(endpoint, reply)
  // The key was used before with other parameters, with an unknown result.
  if (error.type === 'idempotency_error') {
    throw new GatewayUnavailableException(`${endpoint}: key used`)
  }
  return refusal(error.decline_code ?? error.code ?? error.type, error.message)
}
