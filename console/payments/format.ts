// Amounts and statuses as people read and type them, with the factors of the edge. Pure.

import type { PaymentStatus, Transaction } from '../../libraries/api/types.ts'
import {
  decimalsOf,
  fromMinor,
  isAmount,
  isCurrency,
  toMinor,
} from '../../worker/payments/domain/money.ts'
import { LANGUAGE } from '../ui/format.ts'

/** In the order of the life of a payment. */
export const STATUSES: Readonly<Record<PaymentStatus, string>> = {
  Pending: 'Pending',
  Paid: 'Paid',
  PartiallyRefunded: 'Partly refunded',
  Refunded: 'Refunded',
  Failed: 'Failed',
  Cancelled: 'Cancelled',
  Expired: 'Expired',
}

/** Ends without money. */
const UNPAID_ENDS: readonly PaymentStatus[] = ['Failed', 'Cancelled', 'Expired']

/**
 * How a payment stands, and the class that colours it. The status alone hides money that came after
 * the end, and a refund that failed.
 */
export function standingOf({ status, paid, refundedAmount }: Transaction) {
  if (paid && UNPAID_ENDS.includes(status)) {
    return refundedAmount < paid.amount
      ? { text: 'Paid late', tone: 'late_payment' }
      : { text: 'Paid late, refunded', tone: 'Refunded' }
  }
  const isRefund = status === 'Refunded' || status === 'PartiallyRefunded'
  if (isRefund && refundedAmount === 0) return { text: 'Refund failed', tone: 'failed' }
  return { text: STATUSES[status], tone: status }
}

const formats = new Map<string, Intl.NumberFormat>()

function formatOf(currency: string): Intl.NumberFormat {
  const known = formats.get(currency)
  if (known) return known
  const digits = decimalsOf(currency)
  const made = new Intl.NumberFormat(LANGUAGE, {
    style: 'currency',
    currency,
    // The currency code, since several currencies share a sign.
    currencyDisplay: 'code',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
  formats.set(currency, made)
  return made
}

/** Number and currency as separate parts, for different styles. */
export function moneyParts(amount: number, currency: string) {
  // A gateway may send an invalid currency, for which Intl throws.
  if (!isCurrency(currency)) return [{ isCurrency: false, text: `${amount} ${currency}` }]
  const parts = formatOf(currency).formatToParts(fromMinor(amount, currency))
  return parts.map(({ type, value }) => ({ isCurrency: type === 'currency', text: value }))
}

/** `USD 12.50` of 1250 USD. */
export const money = (amount: number, currency: string): string =>
  moneyParts(amount, currency)
    .map(({ text }) => text)
    .join('')

/** The text for an input field: `12.50`. */
export const amountText = (amount: number, currency: string): string =>
  fromMinor(amount, currency).toFixed(decimalsOf(currency))

/**
 * Parses a typed amount into minor units; undefined if it is none. A comma is refused: it separates
 * thousands for some people and decimals for others, and guessing wrong moves a hundred times the
 * money.
 */
export function parseAmount(text: string, currency: string): number | undefined {
  const typed = text.trim()
  const decimals = decimalsOf(currency)
  const [whole, fraction = ''] = /^\d+(?:\.(\d+))?$/.exec(typed) ?? []
  const isTyped = whole !== undefined && fraction.length <= decimals
  const amount = isTyped ? toMinor(typed, currency) : undefined
  return isAmount(amount) ? amount : undefined
}

/** What to type instead of an amount that `parseAmount` refused. */
export function amountProblem(currency: string): string {
  const decimals = decimalsOf(currency)
  const how =
    decimals === 0 ? 'digits only' : `digits, and at most one point with ${decimals} decimals`
  return `Enter the amount in ${currency} with ${how}, like ${exampleAmount(currency)}.`
}

/** A typical amount, as a person types it. */
export const exampleAmount = (currency: string): string =>
  decimalsOf(currency) === 0 ? '25000' : '12.50'
