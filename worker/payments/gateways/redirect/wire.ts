// What the hosted redirect gateway (ZainCash Payment Gateway v2) says and wants to hear, put into
// our words and back. No calls.

import * as z from 'zod'
import type { PaymentError } from '../../domain/exceptions.ts'
import { fromMinor, toMinor } from '../../domain/money.ts'
import type { PaymentStatus } from '../../domain/status.ts'
import { optionalText, refusal } from '../client/reply.ts'
import type { GatewayCall, GatewayCharge, GatewayReply, Settings } from '../gateway.ts'

/** Ids come as numbers too. */
export const id = z.union([z.string().min(1), z.number()]).transform(String)
const optionalId = id.optional().catch(undefined)

/** In minor units, with its currency. */
export const money = z
  .object({ value: z.union([z.number(), z.string()]), currency: z.string().min(1) })
  .transform(({ value, currency }, { addIssue }) => {
    const amount = toMinor(value, currency)
    if (amount !== undefined) return { amount, currency }
    addIssue('is no amount')
    return z.NEVER
  })

/** The answer to `transaction/init`. */
export const opened = z.object({
  transactionDetails: z.object({ transactionId: id }),
  redirectUrl: z.string().min(1),
  expiryTime: z.unknown().optional(),
})

/** The answer to `transaction/inquiry`. */
export const inquired = z.object({
  status: z.string().min(1),
  transactionDetails: z.object({ amount: money }),
  errorMessage: optionalText,
})

export const reversed = z.object({ status: z.literal('COMPLETED'), reversalReferenceId: id })

const LANGUAGES = new Map([
  ['ar', 'Ar'],
  ['ku', 'Ku'],
])

/** The body of `transaction/init`. What is not set is left out: the gateway has its defaults. */
export function transactionOf(
  { metadata, customerPhone, returnUrl, ...charge }: GatewayCharge,
  { lang = '', service_type = '', success_url, failure_url }: Settings,
) {
  const successUrl = returnUrl ?? success_url
  const redirectUrls = {
    ...(successUrl !== undefined && { successUrl }),
    ...(failure_url !== undefined && { failureUrl: failure_url }),
  }
  return {
    language: LANGUAGES.get(lang.toLowerCase()) ?? 'En',
    externalReferenceId: charge.externalReferenceId,
    orderId: charge.reference,
    serviceType: String(metadata?.service_type || service_type),
    amount: { value: fromMinor(charge.amount, charge.currency), currency: charge.currency },
    ...(customerPhone !== undefined && { customer: { phone: customerPhone } }),
    ...(Object.keys(redirectUrls).length > 0 && { redirectUrls }),
  }
}

export function meaningOf(
  word: string,
  message: string | undefined,
  call: GatewayCall,
): { status: PaymentStatus; error?: PaymentError; isBeingPaid?: boolean } {
  switch (word.toUpperCase()) {
    case 'SUCCESS':
      return { status: 'Paid' }
    case 'FAILED':
      return { status: 'Failed', error: failure('payment_failed', word, message) }
    case 'EXPIRED':
      return { status: 'Expired' }
    case 'REFUNDED':
      return { status: 'Refunded' }
    case 'PENDING':
      return { status: 'Pending' }
    case 'OTP_SENT':
    case 'CUSTOMER_AUTHENTICATION_REQUIRED':
      return { status: 'Pending', isBeingPaid: true }
    default:
      call.warn('payments.redirect_gateway.unknown_status', { status: word })
      return { status: 'Pending', isBeingPaid: true }
  }
}

export const failure = (
  code: 'payment_failed' | 'refund_failed',
  rawCode: string,
  message: string | undefined,
): PaymentError => ({ code, rawCode, message: message ?? 'The gateway gives no reason.' })

export const OTHER_PAYMENT: PaymentError = {
  code: 'gateway_refused',
  rawCode: 'EXTERNAL_REFERENCE_ALREADY_EXISTS',
  message: 'The gateway has a payment of another amount under this reference.',
}

export interface Duplicate {
  /** Undefined: it is not told which. */
  transactionId: string | undefined
  redirectUrl: string | undefined
}

/** The transaction that has our external reference already, where the gateway refuses another. */
export function duplicateIn(reply: GatewayReply): Duplicate | undefined {
  if (reply.status !== 400 && reply.status !== 409) return undefined
  const values = named(reply.body)
  const isDuplicate = values.some(
    ({ value }) =>
      typeof value === 'string' && /^[A-Z_]*EXTERNAL_REFERENCE[A-Z_]*EXIST/.test(value),
  )
  if (!isDuplicate) return undefined
  const find = (name: string) => values.find((each) => each.name === name)?.value
  return {
    transactionId: optionalId.parse(find('transactionId')),
    redirectUrl: optionalText.parse(find('redirectUrl')),
  }
}

const ERROR_CODES = ['code', 'errorCode', 'error']
const ERROR_MESSAGES = ['message', 'errorMessage', 'error_description', 'detail', 'title']

export function errorIn(reply: GatewayReply): PaymentError {
  const texts = named(reply.body).filter(({ value }) => typeof value === 'string' && value !== '')
  const first = (names: string[]) => {
    const found = texts.find(({ name }) => names.includes(name))?.value
    return typeof found === 'string' ? found : undefined
  }
  return refusal(first(ERROR_CODES) ?? String(reply.status), first(ERROR_MESSAGES))
}

/** Deeper than the gateway nests, and shallow enough for whatever comes instead. */
const DEEPEST = 5

/** All that is named anywhere in it, the outer first: where errors stand is not documented. */
function named(body: unknown, depth = 0): { name: string; value: unknown }[] {
  if (typeof body !== 'object' || body === null || depth > DEEPEST) return []
  const entries = Object.entries(body).map(([name, value]) => ({ name, value }))
  return [...entries, ...entries.flatMap(({ value }) => named(value, depth + 1))]
}

/**
 * Seconds or milliseconds since 1970, or ISO 8601; without a zone it is UTC. In ms; undefined when
 * it is no time.
 */
export function timeOf(value: unknown): number | undefined {
  if (typeof value === 'string' && !/^\d+(\.\d+)?$/.test(value)) {
    const hasZone = /(z|[+-]\d\d:?\d\d)$/i.test(value) || !value.includes(':')
    const ms = Date.parse(hasZone ? value : `${value}Z`)
    return Number.isNaN(ms) ? undefined : ms
  }
  const number = typeof value === 'string' || typeof value === 'number' ? Number(value) : Number.NaN
  if (!(number > 0)) return undefined
  // 1e11 ms is the year 1973, 1e11 s the year 5138.
  return Math.round(number < 1e11 ? number * 1_000 : number)
}
