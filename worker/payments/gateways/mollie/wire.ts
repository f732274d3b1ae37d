// Translates between Mollie's format and ours. No calls.

import * as z from 'zod'
import type { PaymentError } from '../../domain/exceptions.ts'
import { majorText } from '../../domain/money.ts'
import type { PaymentStatus } from '../../domain/status.ts'
import type { DisputeSet, RefundSet, ReportedDispute, ReportedRefund } from '../../domain/types.ts'
import { moneyOf, optionalText } from '../fields.ts'
import type { GatewayCall, GatewayCharge, GatewayRefund, GatewayReply } from '../gateway.ts'
import { coded, REFUND_CANCELLED, refusal, truncate, unexpectedReply } from '../reply.ts'

/**
 * Those of Mollie whose decimals are those of money.ts. Not ISK, which has none at Mollie and two
 * in money.ts: an amount could not be written.
 */
// biome-ignore format: a list to look things up in.
export const CURRENCIES = [
  'AED', 'AUD', 'BRL', 'CAD', 'CHF', 'CZK', 'DKK', 'EUR', 'GBP', 'HKD', 'HUF', 'ILS', 'JPY', 'MXN',
  'MYR', 'NOK', 'NZD', 'PHP', 'PLN', 'RON', 'SEK', 'SGD', 'THB', 'TWD', 'USD', 'ZAR',
]

/** The payer's identity and payment method, of all methods. */
// biome-ignore format: several names a line.
export const PRIVATE_FIELDS = [
  'consumer name', 'consumer account', 'consumer bic', 'card holder', 'card number', 'fingerprint',
  'masked number', 'billing address', 'shipping address', 'email', 'paypal payer id', 'customer id',
  'mandate id', 'bank account', 'transfer reference', 'voucher number',
  // They show the payment without a login.
  'changePaymentState', 'status url', 'qr code',
]

const OUR_KEY = 'external_reference_id'
const MAX_DESCRIPTION_CHARS = 255
const MAX_REFUND_DESCRIPTION_CHARS = 140

const money = moneyOf(z.string())

/** The answer to a new payment. */
export const made = z.object({
  id: z.string().min(1),
  expiresAt: optionalText,
  _links: z.object({ checkout: z.object({ href: z.string().min(1) }).nullish() }),
})
export const refund = z.object({
  id: z.string().min(1),
  amount: money,
  status: z.string(),
  metadata: z.object({ refund_id: optionalText }).nullish().catch(undefined),
})
const chargeback = z.object({
  id: z.string().min(1),
  amount: money,
  reason: z.object({ code: optionalText, description: optionalText }).nullish().catch(undefined),
  reversedAt: optionalText,
})
const marked = z.object({
  [OUR_KEY]: z.string().min(1),
  reference: z.string().catch(''),
  installation: optionalText,
})
/** A payment with what is embedded in it. */
export const payment = z.object({
  id: z.string().min(1),
  mode: z.string(),
  status: z.string().min(1),
  amount: money,
  /** Of a payment that is captured by itself: what was so far, and until when the rest can be. */
  amountCaptured: money.nullish(),
  captureBefore: optionalText,
  expiresAt: optionalText,
  isCancelable: z.boolean().catch(false),
  metadata: z.unknown().optional(),
  statusReason: z.object({ code: optionalText, message: optionalText }).nullish().catch(undefined),
  details: z
    .object({ failureReason: optionalText, failureMessage: optionalText })
    .nullish()
    .catch(undefined),
  _embedded: z
    .object({
      refunds: z.array(refund).default([]),
      chargebacks: z.array(chargeback).default([]),
    })
    .prefault({}),
})
export type Payment = z.infer<typeof payment>

const failure = z.object({
  status: z.int(),
  title: z.string(),
  detail: optionalText,
  field: optionalText,
})

export const modeOf = (apiKey: string): string => (apiKey.startsWith('live_') ? 'live' : 'test')

const amountOf = (minor: number, currency: string) => ({
  value: majorText(minor, currency),
  currency,
})

/**
 * Nothing in it may depend on the time: a repeated key must have the same parameters. `testmode`
 * and `profileId` are for access tokens, and refused with an API key.
 */
export const paymentOf = (charge: GatewayCharge) => ({
  amount: amountOf(charge.amount, charge.currency),
  description: truncate(MAX_DESCRIPTION_CHARS, charge.description),
  redirectUrl: charge.returnUrl,
  cancelUrl: charge.cancelUrl ?? charge.returnUrl,
  ...(charge.callbackUrl !== undefined && { webhookUrl: charge.callbackUrl }),
  metadata: {
    [OUR_KEY]: charge.externalReferenceId,
    reference: charge.reference,
    ...(charge.installation !== undefined && { installation: charge.installation }),
  },
})

export const refundOf = ({ refundAmount, currency, reason, refundId }: GatewayRefund) => ({
  amount: amountOf(refundAmount, currency),
  description: truncate(MAX_REFUND_DESCRIPTION_CHARS, reason),
  metadata: { refund_id: refundId },
})

/** Undefined: others made it in this account. */
export function referencesIn({ metadata }: Payment) {
  const ours = marked.safeParse(metadata).data
  if (!ours) return undefined
  const { [OUR_KEY]: externalReferenceId, reference, installation } = ours
  return { externalReferenceId, reference, ...(installation != null && { installation }) }
}

const STATUSES: ReadonlyMap<string, PaymentStatus> = new Map([
  ['open', 'Pending'],
  ['pending', 'Pending'],
  ['authorized', 'Pending'],
  ['paid', 'Paid'],
  ['canceled', 'Cancelled'],
  ['expired', 'Expired'],
  ['failed', 'Failed'],
])

/** Undefined: it is not captured in parts. It may be 0 in one that was paid by another method. */
const capturedOf = ({ status, amountCaptured }: Payment): number | undefined =>
  status === 'paid' && amountCaptured?.amount === 0 ? undefined : amountCaptured?.amount

export const paidAmountOf = (read: Payment): number => capturedOf(read) ?? read.amount.amount

/** With the first capture, though the rest may still be captured. */
export const isPaid = (read: Payment): boolean =>
  read.status === 'paid' || (capturedOf(read) ?? 0) > 0

/** `amount`: what was refunded once something was, else what was paid, else what is to be paid. */
export function stateOf(
  read: Payment,
  refunds: readonly ReportedRefund[],
  call: GatewayCall,
): { status: PaymentStatus; amount: number; currency: string; error?: PaymentError } {
  const isMoney = isPaid(read)
  const { currency } = read.amount
  const amount = isMoney ? paidAmountOf(read) : read.amount.amount
  const status = isMoney ? 'Paid' : STATUSES.get(read.status)
  if (status === undefined) call.warn('payments.mollie.unknown_status', { status: read.status })
  if (status === 'Failed') return { status, amount, currency, error: failureOf(read) }
  const made = refunds.filter((each) => each.status === 'succeeded')
  const sum = made.reduce((total, each) => total + each.amount, 0)
  // Mollie stays at `paid`. It allows to refund more than was paid: the excess is the shop's own.
  if (status !== 'Paid' || sum === 0) return { status: status ?? 'Pending', amount, currency }
  if (sum >= amount) return { status: 'Refunded', amount, currency }
  return { status: 'PartiallyRefunded', amount: sum, currency }
}

/** Only an `open` payment waits for its payer; an unknown word may mean anything. */
export const isBeingPaid = (read: Payment): boolean =>
  isPageClosed(read) || !STATUSES.has(read.status)

/** Its payer has paid or authorized it: the page is no longer needed. */
export const isPageClosed = ({ status }: Payment): boolean =>
  status === 'pending' || status === 'authorized'

/** Until when it may become paid, in ms: the rest of an authorized one can be captured. */
export function payableUntil({ status, captureBefore, expiresAt }: Payment): number | undefined {
  const until = Date.parse((status === 'authorized' ? captureBefore : expiresAt) ?? '')
  return Number.isNaN(until) ? undefined : until
}

const failureOf = ({ statusReason, details }: Payment): PaymentError =>
  coded(
    'payment_failed',
    statusReason?.code ?? details?.failureReason,
    statusReason?.message ?? details?.failureMessage ?? 'The payment failed.',
  )

export function refundsOf(read: Payment, readAt: number): RefundSet {
  const captured = capturedOf(read)
  return {
    readAt,
    ...(captured !== undefined && { captured }),
    refunds: read._embedded.refunds.map(({ id, amount, status, metadata }) => ({
      id,
      amount: amount.amount,
      ...(metadata?.refund_id !== undefined && { refundId: metadata.refund_id }),
      ...refundState(status),
    })),
  }
}

/** A status that is not known reserves the amount: it may still be made. */
export function refundState(status: string): Pick<ReportedRefund, 'status' | 'error'> {
  switch (status) {
    case 'refunded':
      return { status: 'succeeded' }
    case 'failed':
      return { status: 'failed', error: coded('refund_failed', status, 'The refund failed.') }
    case 'canceled':
      return { status: 'failed', error: REFUND_CANCELLED }
    default:
      return { status: 'accepted' }
  }
}

/** Its chargebacks are one dispute. They change no status. */
export function disputeOf({ id, _embedded }: Payment, readAt: number): DisputeSet | undefined {
  const { chargebacks } = _embedded
  if (chargebacks.length === 0) return undefined
  const { reason } = chargebacks.find(({ reversedAt }) => reversedAt === undefined) ?? {}
  const message = reason?.description ?? 'The payer disputes the payment.'
  return {
    id,
    readAt,
    parts: chargebacks.map(chargedBack),
    error: coded('dispute', reason?.code, message),
  }
}

function chargedBack({ id, amount, reversedAt }: z.infer<typeof chargeback>): ReportedDispute {
  const part = { id, ...amount }
  if (reversedAt === undefined) return { ...part, state: 'open', isOut: true }
  const endedAt = Date.parse(reversedAt)
  const end = Number.isNaN(endedAt) ? {} : { endedAt }
  return { ...part, state: 'ended', outcome: 'won', isOut: false, ...end }
}

export const NOT_CANCELABLE: PaymentError = {
  code: 'gateway_refused',
  rawCode: 'not_cancelable',
  message: 'The payment cannot be cancelled any more.',
}

/**
 * Mollie's own, about what was asked for. A refused key is none, nor is a 409: there
 * may be such a refund already. Throws GatewayUnavailableException when the reply is no refusal.
 */
export function refusalIn(endpoint: string, reply: GatewayReply): PaymentError {
  const failed = failure.safeParse(reply.body).data
  if (![400, 422].includes(reply.status) || failed?.status !== reply.status) {
    throw unexpectedReply(endpoint, reply)
  }
  return refusal(failed.field ?? failed.title, failed.detail ?? failed.title)
}
