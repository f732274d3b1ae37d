// The amounts of a settlement file: which sign separates the decimals, what each text is in minor
// units, and whether it is below 0.

import { decimalsOf, toMinor } from '../../worker/payments/domain/money.ts'

export const DECIMAL_SIGNS = ['.', ','] as const
export type DecimalSign = (typeof DECIMAL_SIGNS)[number]

export interface AmountText {
  text: string
  currency: string
}

/** In India, groups of two come before the last one of three. */
const NUMBER: Readonly<Record<DecimalSign, RegExp>> = {
  '.': /^(?:\d{1,3}(?:,\d{3})*|\d{1,2}(?:,\d{2})+,\d{3}|\d+)(?:\.\d+)?$/,
  ',': /^(?:\d{1,3}(?:\.\d{3})*|\d{1,2}(?:\.\d{2})+\.\d{3}|\d+)(?:,\d+)?$/,
}

/** It is a number, and what stands beside it may be a sign that we do not know. */
export function isOfUnknownSign({ text, currency }: AmountText): boolean {
  const { number, sign } = partsOf(text, currency)
  return number !== '' && sign === undefined
}

/** In minor units. Undefined: it is no amount of this currency, or its sign cannot be told. */
export function amountIn({ text, currency }: AmountText, decimal: DecimalSign): number | undefined {
  const { number, sign } = partsOf(text, currency)
  if (!NUMBER[decimal].test(number)) return undefined
  const thousands = decimal === '.' ? ',' : '.'
  const minor = toMinor(number.replaceAll(thousands, '').replace(decimal, '.'), currency)
  return minor === undefined || sign === undefined ? undefined : sign * minor || 0
}

/** As written: where a currency has no decimals, the other sign can only be that of thousands. */
export const amountOf = (amount: AmountText, decimal: DecimalSign): number | undefined =>
  amountIn(amount, decimal) ??
  (decimalsOf(amount.currency) === 0 ? amountIn(amount, decimal === '.' ? ',' : '.') : undefined)

/**
 * Undefined: both are possible, and differ in what the amounts are. `either`: they do not.
 * @forTests Each way of writing amounts, without a file.
 */
export function decimalSignOf(amounts: readonly AmountText[]): DecimalSign | 'either' | undefined {
  const read = amounts.map((amount) => DECIMAL_SIGNS.map((sign) => amountIn(amount, sign)))
  const countOf = (at: number) => read.filter((values) => values[at] !== undefined).length
  const [points, commas] = [countOf(0), countOf(1)]
  if (points !== commas) return points > commas ? '.' : ','
  return read.every(([point, comma]) => point === comma) ? 'either' : undefined
}

/**
 * For each currency by itself, since they have different decimals; one that does not show its sign
 * has that of the others. Otherwise the amounts of one that can be read in two ways.
 */
export function decimalSignsOf(
  amounts: readonly AmountText[],
): { of: ReadonlyMap<string, DecimalSign> } | { twofold: readonly AmountText[] } {
  const byCurrency = [...Map.groupBy(amounts, ({ currency }) => currency)]
  const shown = byCurrency.map(([currency, own]) => ({ currency, own, sign: decimalSignOf(own) }))
  const signs = new Set(shown.flatMap(({ sign }) => (sign === 'either' ? [] : (sign ?? []))))
  const [others] = signs.size === 1 ? signs : []
  const twofold = shown.find(({ sign }) => sign === undefined && others === undefined)
  if (twofold) return { twofold: twofold.own }
  const known = shown.map(({ currency, sign }) => {
    const own = sign === undefined || sign === 'either' ? (others ?? '.') : sign
    return [currency, own] as const
  })
  return { of: new Map(known) }
}

const EASTERN = /[\u0660-\u0669\u06f0-\u06f9]/g

/** Without marks of the direction of writing, which are invisible. */
export const westernDigits = (text: string): string =>
  text
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .replace(EASTERN, (digit) => String(digit.charCodeAt(0) & 0xf))

/** Beside a number. What is in none of them may be a sign that we do not know. */
const BELOW_0 =
  /^(?:[-\u2010-\u2015\u2212]|d|dr|db|debit|soll|s|débit|debet|debe|dare|af|wn|borç|مدين)$/iu
const ABOVE_0 = /^(?:\+|c|cr|credit|haben|h|crédit|haber|avere|bij|ma|alacak|دائن)$/iu
/** Names of currencies; others are the codes of their rows. */
const MONEY = new Set(
  `zł tl kr fr rs kč ft lei rp rm د.ع دع د.إ دإ د.ك دك ر.س رس دينار دینار عراقي درهم ريال ریال
    تومان دولار دۆلار يورو جنيه`.split(/\s+/),
)
/** `A$`, `R$`: letters that alone may be a sign. */
const PREFIXED = /(?<!\p{L})(?:AU?|CA?|HK|NT|NZ|R|S|US|JP|CN|MX)(?=\p{Sc})/giu

/** As most are written, and quickly read. */
const PLAIN = /^(-)?(\d+(?:[.,]\d+)*)$/

/** Without signs of currencies and spaces, in Western digits. `sign`: undefined, it is unknown. */
function partsOf(text: string, currency: string): { number: string; sign: 1 | -1 | undefined } {
  const [, minus, digits] = PLAIN.exec(text) ?? []
  if (digits !== undefined) return { number: digits, sign: minus ? -1 : 1 }
  const folded = westernDigits(text)
    .replaceAll('\u066c', '')
    .replaceAll('\u066b', '.')
    .replaceAll(/(?<=\d)[\s'\u2019](?=\d)/g, '')
    .replaceAll(PREFIXED, '')
    // A bank may leave the zero out; a point that ends a word is none.
    .replace(/(?<![\p{L}\d.,])(?=[.,]\d)/u, '0')
  const numbers = folded.match(/\d[\d.,]*/g) ?? []
  const number = (numbers.length === 1 ? (numbers[0] ?? '') : '').replace(/[.,]$/, '')
  const [before = '', after = ''] = number === '' ? [] : folded.split(number)
  const isBracketed = before.lastIndexOf('(') > before.lastIndexOf(')') && /^[^(]*\)/.test(after)
  const beside = `${before} ${after}`
    .replace(isBracketed ? /[()]/g : /(?!)/, ' ')
    .replaceAll(/[-+\u2010-\u2015\u2212\p{Sc}]/gu, ' $& ')
  const marks = beside
    .split(/\s+/)
    .map((part) => part.replace(/^\((.+)\)$/, '$1').replace(/^\.+/, ''))
    .map((part) => part.replace(/(?<![.,])[.,]+$/, ''))
  const others = marks.filter((mark) => mark !== '' && !isMoney(mark, currency))
  const below = others.filter((mark) => BELOW_0.test(mark))
  const isKnown = others.every((mark) => BELOW_0.test(mark) || ABOVE_0.test(mark))
  const signs = others.length + (isBracketed ? 1 : 0)
  if (!isKnown || signs > 1) return { number, sign: undefined }
  return { number, sign: isBracketed || below.length > 0 ? -1 : 1 }
}

const isMoney = (mark: string, currency: string): boolean =>
  /^\p{Sc}$/u.test(mark) || MONEY.has(mark.toLowerCase()) || mark.toUpperCase() === currency
