// Translates between the format of ZainCash Payment Gateway v2 and ours. No calls.

import * as z from 'zod'
import type { PaymentError } from '../../domain/exceptions.ts'
import { fromMinor } from '../../domain/money.ts'
import type { PaymentStatus } from '../../domain/status.ts'
import { moneyOf, optionalText } from '../fields.ts'
import type { GatewayCall, GatewayCharge, GatewayReply, Settings } from '../gateway.ts'
import { coded, refusal, unexpectedReply } from '../reply.ts'

/** Ids come as numbers too. Those that a number cannot hold are text already: `parseJson`. */
export const id = z.union([z.string().min(1), z.int()]).transform(String)
export const optionalId = id.optional().catch(undefined)

export const money = moneyOf(z.union([z.number(), z.string()]))

/** The answer to `transaction/init`. */
export const opened = z.object({
  transactionDetails: z.object({ transactionId: id }),
  redirectUrl: z.string().min(1),
  expiryTime: z.unknown().optional(),
})

/** The answer to `transaction/inquiry`. */
export const inquired = z.object({
  status: z.string().min(1),
  transactionDetails: z.object({
    amount: money,
    transactionId: optionalId,
    externalReferenceId: optionalId,
  }),
  errorMessage: optionalText,
})

export const reversed = z.object({ status: z.literal('COMPLETED'), reversalReferenceId: id })

const LANGUAGES = new Map([
  ['ar', 'Ar'],
  ['ku', 'Ku'],
])

/**
 * The body of `transaction/init`. Settings without a value are left out: the gateway has defaults.
 */
export function transactionOf(
  { metadata, customerPhone, returnUrl, cancelUrl, ...charge }: GatewayCharge,
  { lang = '', service_type = '', success_url, failure_url }: Settings,
) {
  const successUrl = returnUrl ?? success_url
  const failureUrl = cancelUrl ?? failure_url ?? returnUrl
  const redirectUrls = {
    ...(successUrl !== undefined && { successUrl }),
    ...(failureUrl !== undefined && { failureUrl }),
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
  status: string,
  message: string | undefined,
  call: GatewayCall,
): { status: PaymentStatus; error?: PaymentError; isBeingPaid?: boolean } {
  switch (status.toUpperCase()) {
    case 'SUCCESS':
      return { status: 'Paid' }
    case 'FAILED':
      return { status: 'Failed', error: failure('payment_failed', status, message) }
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
      call.warn('payments.redirect_gateway.unknown_status', { status })
      return { status: 'Pending', isBeingPaid: true }
  }
}

export const failure = (
  code: 'payment_failed' | 'refund_failed',
  rawCode: string,
  message: string | undefined,
): PaymentError => coded(code, rawCode, message ?? 'The gateway gave no reason.')

export const OTHER_PAYMENT: PaymentError = {
  code: 'gateway_refused',
  rawCode: 'EXTERNAL_REFERENCE_ALREADY_EXISTS',
  message: 'The gateway has a payment of another amount under this reference.',
}

export interface Duplicate {
  /** Undefined: the gateway does not name it. */
  transactionId: string | undefined
  redirectUrl: string | undefined
}

/**
 * The transaction that already has our external reference, if the gateway refused a second one. Any
 * conflict with a transaction that it names is asked about: it may be the one that we lost.
 */
export function duplicateIn(reply: GatewayReply): Duplicate | undefined {
  if (reply.status !== 400 && reply.status !== 409) return undefined
  const values = namedValues(reply.body)
  const isDuplicate = values.some(({ value }) => typeof value === 'string' && isTaken(value))
  const find = (name: string) => values.find((each) => each.name === name)?.value
  const transactionId = optionalId.parse(find('transactionId'))
  if (!isDuplicate && (reply.status !== 409 || transactionId === undefined)) return undefined
  return {
    transactionId,
    redirectUrl: optionalText.parse(find('redirectUrl')),
  }
}

/** A code such as `DUPLICATE_EXTERNAL_REFERENCE_EXISTS`. */
function isTaken(text: string): boolean {
  const [code = ''] = /^[A-Z_]*/.exec(text) ?? []
  const [, ...after] = code.split('EXTERNAL_REFERENCE')
  return after.join().includes('EXIST')
}

const ERROR_CODES = ['code', 'errorCode', 'error']
const ERROR_MESSAGES = ['message', 'errorMessage', 'error_description', 'detail', 'title']

/**
 * The gateway's own. Of any other 4xx, such as a proxy's, it is not known what was done: throws
 * GatewayUnavailableException.
 */
export function refusalIn(endpoint: string, reply: GatewayReply): PaymentError {
  const texts = namedValues(reply.body).filter(
    ({ value }) => typeof value === 'string' && value !== '',
  )
  const first = (names: string[]) => {
    const found = texts.find(({ name }) => names.includes(name))?.value
    return typeof found === 'string' ? found : undefined
  }
  const code = first(ERROR_CODES) ?? reply.authError
  const message = first(ERROR_MESSAGES)
  if (code === undefined && message === undefined) throw unexpectedReply(endpoint, reply)
  return refusal(code ?? String(reply.status), message)
}

/** Deeper than the gateway nests, and low enough for any other input. */
const MAX_DEPTH = 5

/** All named values at any depth, outer ones first: the place of errors is not documented. */
function namedValues(body: unknown, depth = 0): { name: string; value: unknown }[] {
  if (typeof body !== 'object' || body === null || depth > MAX_DEPTH) return []
  const entries = Object.entries(body).map(([name, value]) => ({ name, value }))
  return [...entries, ...entries.flatMap(({ value }) => namedValues(value, depth + 1))]
}

/**
 * Reads seconds or milliseconds since 1970, or ISO 8601 (UTC if it has no zone). In ms; undefined
 * when it is not a time.
 */
export function timeOf(value: unknown): number | undefined {
  if (typeof value === 'string' && !/^\d+(\.\d+)?$/.test(value)) {
    // `+03` is ISO 8601, too, but Date.parse refuses it.
    const isShort = /[+-]\d\d$/.test(value) && value.split(/\s/).at(-1)?.includes(':')
    const text = isShort ? `${value}:00` : value
    const hasZone = /(z|[+-]\d\d:?\d\d)$/i.test(text) || !text.includes(':')
    const ms = Date.parse(hasZone ? text : `${text}Z`)
    return Number.isNaN(ms) ? undefined : ms
  }
  const number = typeof value === 'string' || typeof value === 'number' ? Number(value) : Number.NaN
  if (!(number > 0)) return undefined
  // 1e11 ms is the year 1973, 1e11 s the year 5138.
  return Math.round(number < 1e11 ? number * 1_000 : number)
}
