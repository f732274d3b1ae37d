// Amounts are integers in minor units: 25,000 IQD is 25000, 12.50 USD is 1250. Pure.

/** Minor units in one unit. What is not listed has a hundred, as ISO 4217 has it for most. */
const FACTORS: ReadonlyMap<string, number> = new Map([
  // ISO 4217 gives the dinar three decimals; fils have not been used for decades, and no gateway
  // here takes them.
  ['IQD', 1],
  ['JPY', 1],
  ['KRW', 1],
  ['VND', 1],
  ['CLP', 1],
  ['BHD', 1_000],
  ['JOD', 1_000],
  ['KWD', 1_000],
  ['OMR', 1_000],
  ['TND', 1_000],
])

/** The currencies that have not two decimals. */
export const OTHER_DECIMALS: readonly string[] = [...FACTORS.keys()]

export const minorUnits = (currency: string): number => FACTORS.get(currency.toUpperCase()) ?? 100

/** Digits after the decimal point. */
export const decimalsOf = (currency: string): number => String(minorUnits(currency)).length - 1

export const CURRENCY = /^[A-Z]{3}$/

export const isCurrency = (text: string): boolean => CURRENCY.test(text)

/** With more digits, two amounts can become the same decimal number at a gateway. */
export const MAX_AMOUNT = 999_999_999_999_999

/** An amount that can be charged or refunded. */
export const isAmount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value <= MAX_AMOUNT

/**
 * A gateway's number or decimal text, in whole units, as minor units. Undefined if it is not a
 * number, is negative, or has more decimals than the currency: rounding would hide that something
 * is wrong.
 */
export function toMinor(value: unknown, currency: string): number | undefined {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value).trim() : ''
  const [, whole, fraction = ''] = /^(\d{1,15})(?:\.(\d+))?$/.exec(text) ?? []
  if (whole === undefined) return undefined
  const digits = decimalsOf(currency)
  const kept = fraction.slice(0, digits).padEnd(digits, '0')
  if (/[1-9]/.test(fraction.slice(digits))) return undefined
  const minor = Number(`${whole}${kept}`)
  return Number.isSafeInteger(minor) ? minor : undefined
}

/**
 * A gateway's amount and its spelling of the currency (`iqd`), as we compare and store them.
 * Undefined also if that is no currency: it would have a hundred minor units.
 */
export function moneyIn(
  value: unknown,
  spelled: string,
): { amount: number; currency: string } | undefined {
  const code = spelled.trim()
  if (!/^[a-z]{3}$/i.test(code)) return undefined
  const currency = code.toUpperCase()
  const amount = toMinor(value, currency)
  return amount === undefined ? undefined : { amount, currency }
}

/** Minor units as the decimal number that a gateway takes. */
export const fromMinor = (amount: number, currency: string): number => amount / minorUnits(currency)

/** Minor units as a text of whole units, such as `-12.50`: exact, whatever their number. */
export function majorText(amount: number, currency: string): string {
  const decimals = decimalsOf(currency)
  const digits = String(Math.abs(amount)).padStart(decimals + 1, '0')
  const sign = amount < 0 ? '-' : ''
  if (decimals === 0) return `${sign}${digits}`
  return `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}
