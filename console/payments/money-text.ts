// Amounts as people read and type them. Pure; the factors are those of the edge.

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
    // The code, since several countries have the same sign.
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

/** In its parts, so that the currency can be drawn softer. */
export function moneyParts(amount: number, currency: string): Part[] {
  // What a gateway says is shown, whatever it is; Intl throws at what is no currency.
  if (!isCurrency(currency)) return [{ isCurrency: false, text: `${amount} ${currency}` }]
  const parts = formatOf(currency).formatToParts(fromMinor(amount, currency))
  return parts.map(({ type, value }) => ({ isCurrency: type === 'currency', text: value }))
}

/** `USD 12.50` of 1250 USD. */
export const money = (amount: number, currency: string): string =>
  moneyParts(amount, currency)
    .map(({ text }) => text)
    .join('')

/** What stands in a field: `12.5`. */
export const typed = (amount: number, currency: string): string =>
  String(fromMinor(amount, currency))

/** What was typed, in minor units; undefined when it is no amount that can be charged. */
export function readTyped(text: string, currency: string): number | undefined {
  // As it is shown, it may be typed.
  const amount = toMinor(text.replaceAll(',', '').trim(), currency)
  return amount !== undefined && amount > 0 ? amount : undefined
}
