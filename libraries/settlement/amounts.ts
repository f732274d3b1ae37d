// The amounts of a settlement file: which sign separates the decimals, and what each text is in
// minor units.

import { toMinor } from '../../worker/payments/domain/money.ts'

export const DECIMAL_SIGNS = ['.', ','] as const
export type DecimalSign = (typeof DECIMAL_SIGNS)[number]

export interface AmountText {
  text: string
  currency: string
}

/** In minor units; below 0 as written. Undefined: it is no amount of this currency. */
export function amountIn({ text, currency }: AmountText, decimal: DecimalSign): number | undefined {
  const { number, isNegative } = partsOf(text)
  const thousands = decimal === '.' ? ',' : '.'
  const escaped = (sign: string) => `\\${sign}`
  const grouped = `\\d{1,3}(?:${escaped(thousands)}\\d{3})*`
  const isOne = new RegExp(`^(?:${grouped}|\\d+)(?:${escaped(decimal)}\\d+)?$`).test(number)
  if (!isOne) return undefined
  const minor = toMinor(number.replaceAll(thousands, '').replace(decimal, '.'), currency)
  return minor !== undefined && isNegative ? -minor : minor
}

/**
 * The sign that separates decimals in all of them. Undefined: both are possible, and differ in what
 * the amounts are.
 */
export function decimalSignOf(amounts: readonly AmountText[]): DecimalSign | undefined {
  const read = amounts.map((amount) => DECIMAL_SIGNS.map((sign) => amountIn(amount, sign)))
  const countOf = (at: number) => read.filter((values) => values[at] !== undefined).length
  const [points, commas] = [countOf(0), countOf(1)]
  if (points !== commas) return points > commas ? '.' : ','
  return read.every(([point, comma]) => point === comma) ? '.' : undefined
}

const EASTERN = /[\u0660-\u0669\u06f0-\u06f9]/g

/** Without signs of currencies and spaces, in Western digits. */
function partsOf(text: string): { number: string; isNegative: boolean } {
  const folded = text
    .normalize('NFKC')
    .replace(EASTERN, (digit) => String(digit.charCodeAt(0) & 0xf))
    .replaceAll('\u066c', '')
    .replaceAll('\u066b', '.')
    .replaceAll(/(?<=\d)[\s'\u2019](?=\d)/g, '')
  const numbers = folded.match(/\d[\d.,]*/g) ?? []
  const number = (numbers.length === 1 ? (numbers[0] ?? '') : '').replace(/[.,]$/, '')
  return { number, isNegative: /[-\u2212]|^\(.*\)$/.test(folded.trim()) }
}
