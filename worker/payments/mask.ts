// Masks secrets and personal data of the payer in what gateways send. The structure stays, so that
// a person can still read it. Values of the host application are never masked. Pure; never throws,
// for any input.

import { hideTokens, isSecretName, nameMatcher, REDACTED } from '../shared/secrets.ts'
import type { PaymentError } from './domain/exceptions.ts'
import type { Report } from './domain/types.ts'

/**
 * As JSON. Longer values are cut: they are stored for months and read by people.
 * @forTests One byte more than it.
 */
export const MAX_RAW_BYTES = 64 << 10
/** A character takes at most three bytes as text inside JSON. */
const MAX_BEGINNING_CHARS = MAX_RAW_BYTES / 4

/** More nesting than any gateway uses; deeper values are redacted. */
const MAX_DEPTH = 32

export interface MaskedFields {
  /**
   * Fields in the gateway's data that hold personal data of the payer: `wallet number` matches
   * `walletNumber`, `wallet_number` and `payerWalletNumber`. They are masked before anything is
   * stored or sent. Secrets, phone numbers, card numbers and IBANs are always masked.
   */
  readonly privateFields: readonly string[]
  /** Fields, spelled exactly, that return values of the host application: never masked. */
  readonly echoedFields: readonly string[]
}

type TestName = (name: string) => boolean

/** Which fields of a gateway's data are masked, and which are never. */
interface FieldRules {
  isPrivate: TestName
  isEchoed: TestName
}

const SECRETS_ONLY: FieldRules = { isPrivate: isSecretName, isEchoed: () => false }

/**
 * For all names and values together. A stranger chooses the headers of a forged callback, and 200
 * KB of digits would take a hundred times as long as its refusal. Longer values show only their
 * length.
 */
const MAX_HEADER_CHARS = 8 << 10

export function maskHeaders(headers: Headers): Record<string, string> {
  const masked: [string, string][] = []
  let room = MAX_HEADER_CHARS
  for (const [name, value] of headers) {
    if (name.length > room) break
    room -= name.length
    masked.push([name, maskHeader(name, value, room)])
    room -= Math.min(room, value.length)
  }
  return Object.fromEntries(masked)
}

function maskHeader(name: string, value: string, room: number): string {
  if (isSecretName(name)) return REDACTED
  return value.length > room ? `[${value.length} characters]` : maskText(value, SECRETS_ONLY, 0)
}

/** The texts of an error come from the gateway. */
export const maskError = <E extends PaymentError>({ rawCode, message, ...rest }: E) => ({
  ...rest,
  ...(rawCode !== undefined && { rawCode: maskText(rawCode, SECRETS_ONLY, 0) }),
  message: maskText(message, SECRETS_ONLY, 0),
})

function mask(value: unknown, rules: FieldRules, depth: number): unknown {
  if (typeof value === 'string') return maskText(value, rules, depth)
  if (typeof value !== 'object' || value === null) return value
  if (depth > MAX_DEPTH) return REDACTED
  if (Array.isArray(value)) return value.map((each) => mask(each, rules, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      if (rules.isEchoed(name) || inner === null) return [name, inner]
      return [name, rules.isPrivate(name) ? REDACTED : mask(inner, rules, depth + 1)]
    }),
  )
}

/** The text may be JSON, or have `name=value` pairs as in forms and URLs. */
function maskText(text: string, rules: FieldRules, depth: number): string {
  if (/^\s*[{[]/.test(text)) {
    const parsed = parse(text)
    if (parsed !== undefined) return JSON.stringify(mask(parsed, rules, depth + 1))
  }
  const plain = text.includes('=') ? maskPairs(text, rules.isPrivate) : text
  return hideAccountNumbers(hideTokens(plain))
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const PIECE = /[^\s&?#;,"'(<{]+/g

const maskPairs = (text: string, isPrivate: TestName): string =>
  text.replace(PIECE, (piece) => {
    const at = piece.indexOf('=')
    const isHidden = at > 0 && isPrivate(unescaped(piece.slice(0, at)))
    return isHidden ? `${piece.slice(0, at)}=${REDACTED}` : piece
  })

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** A cut value is still valid JSON, and has the length of the whole. */
function cut(value: unknown): unknown {
  const text = JSON.stringify(value) ?? ''
  // A UTF-16 unit has at most three bytes.
  if (text.length * 3 <= MAX_RAW_BYTES) return value
  const bytes = new TextEncoder().encode(text).length
  if (bytes <= MAX_RAW_BYTES) return value
  return { isCut: true, bytes, beginning: text.slice(0, MAX_BEGINNING_CHARS).toWellFormed() }
}

/** A masked copy of what a gateway sent, cut if it is too long. */
export type MaskRaw = (value: unknown) => unknown

/** Made once for each gateway: its lists never change, and every webhook needs them. */
export function rawMask({ privateFields, echoedFields }: MaskedFields): MaskRaw {
  const isListed = nameMatcher(privateFields)
  const echoed = new Set(echoedFields)
  const rules: FieldRules = {
    isPrivate: (name) => isSecretName(name) || isListed(name),
    isEchoed: (name) => echoed.has(name),
  }
  return (value) => cut(mask(value, rules, 0))
}

/** A copy without secrets and personal data. */
export type MaskReport = <Of extends Report>(gateway: string, report: Of) => Of

/** The one way from a driver to the ledger and to listeners. */
export function reportMask(gateways: ReadonlyMap<string, MaskedFields>): MaskReport {
  const masks = new Map([...gateways].map(([key, fields]) => [key, rawMask(fields)]))
  return (gateway, report) => {
    const { raw, refunds, disputes } = report
    return {
      ...withMaskedError(report),
      ...(refunds && { refunds: { ...refunds, refunds: refunds.refunds.map(withMaskedError) } }),
      ...(disputes && { disputes: withMaskedError(disputes) }),
      ...(raw !== undefined && { raw: masks.get(gateway)?.(raw) }),
    }
  }
}

const withMaskedError = <Of extends { error?: PaymentError }>(of: Of): Of =>
  of.error ? { ...of, error: maskError(of.error) } : of

/** The shortest card number. Most texts of gateways are shorter and need no search. */
const MIN_CHARS = 13

/**
 * Finds card numbers and IBANs in free text, by their format and check digits.
 * @forTests Each format, by itself.
 */
export function hideAccountNumbers(text: string): string {
  if (text.length < MIN_CHARS) return text
  const withoutCards = text.replace(DIGITS, hideCards)
  return withoutCards.replace(IBAN, (found) => (isIban(found) ? REDACTED : found))
}

/** Groups of digits, as in `4111 1111 1111 1111`. */
const DIGITS = /\d+(?:[ \u00a0-]\d+)*/g
const MAX_CARD_DIGITS = 19

/** Other numbers, such as the expiry, may be beside a card number. Groups are never split. */
function hideCards(run: string): string {
  if (run.length < MIN_CHARS) return run
  const groups = [...run.matchAll(/\d+/g)]
  let result = ''
  let from = 0
  for (let at = 0; at < groups.length; at++) {
    let digits = ''
    for (let to = at; to < groups.length && digits.length < MAX_CARD_DIGITS; to++) {
      const { 0: group = '', index = 0 } = groups[to] ?? {}
      digits += group
      if (digits.length < MIN_CHARS || !isCard(digits)) continue
      result += run.slice(from, groups[at]?.index) + REDACTED
      from = index + group.length
      at = to
      break
    }
  }
  return result + run.slice(from)
}

const CARD = new RegExp(
  [
    '4\\d{12}(?:\\d{3}){0,2}', // Visa
    '5[0-8]\\d{14}|2(?:2[2-9]|[3-6]\\d|7[0-2])\\d{13}', // Mastercard, Maestro
    '220[0-4]\\d{12}', // Mir
    '3[47]\\d{13}', // American Express
    '3(?:0[0-5]|[689]\\d)\\d{11}', // Diners Club
    '35\\d{14}', // JCB
    '6\\d{15,18}', // Discover, UnionPay, Maestro
  ]
    .map((pattern) => `^(?:${pattern})$`)
    .join('|'),
)

const isCard = (digits: string): boolean => CARD.test(digits) && passesLuhn(digits)

function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[digits.length - 1 - at])
    const doubled = digit * 2
    sum += at % 2 === 0 ? digit : doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

/** The length of an IBAN for each country (the registry of ISO 13616). */
const IBAN_LENGTHS = `
  AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18
  DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23
  IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27
  MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19
  SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30`

const IBAN = new RegExp(
  `(?<![a-z0-9])(?:${IBAN_LENGTHS.trim()
    .split(/\s+/)
    .map((entry) => {
      const [country, length] = [entry.slice(0, 2), Number(entry.slice(2))]
      return `${country}\\d\\d(?:[ \\u00a0-]?[a-z0-9]){${length - 4}}`
    })
    .join('|')})(?![a-z0-9])`,
  'gi',
)

/** Letters count from A = 10 and the first four characters move to the end; modulo 97 it is 1. */
function isIban(found: string): boolean {
  const compact = found.replace(/[^a-z0-9]/gi, '')
  let remainder = 0
  for (const character of compact.slice(4) + compact.slice(0, 4)) {
    const value = Number.parseInt(character, 36)
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97
  }
  return remainder === 1
}
