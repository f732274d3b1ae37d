// Formats and parses amounts for people, with the factors of the edge. Pure.

import { fromMinor, isCurrency, minorUnits, toMinor } from '../../worker/payments/domain/money.ts'
import { locale } from '../words.ts'

const formats = new Map<string, Intl.NumberFormat>()

function formatOf(currency: string): Intl.NumberFormat {
  const known = formats.get(currency)
  if (known) return known
  const digits = String(minorUnits(currency)).length - 1
  const made = new Intl.NumberFormat(locale, {
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

interface Part {
  isCurrency: boolean
  text: string
}

/** Number and currency as separate parts, for different styles. */
export function moneyParts(amount: number, currency: string): Part[] {
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
