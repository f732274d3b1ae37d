// Amounts and statuses as people read and type them, with the factors of the edge. Pure.

import type { PaymentStatus } from '../../libraries/api/types.ts'
import { decimalsOf, fromMinor, isCurrency, toMinor } from '../../worker/payments/domain/money.ts'
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

/** The text for an input field: `12.5`. */
export const amountText = (amount: number, currency: string): string =>
  String(fromMinor(amount, currency))

/** Parses a typed amount into minor units; undefined if it cannot be charged. */
export function parseAmount(text: string, currency: string): number | undefined {
  // Accepts the separators with which amounts are shown.
  const amount = toMinor(text.replaceAll(',', '').trim(), currency)
  return amount !== undefined && amount > 0 ? amount : undefined
}
