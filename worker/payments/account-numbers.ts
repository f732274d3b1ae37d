// Finds card numbers and IBANs in free text, by their format and check digits. Pure.

import { REDACTED } from '../shared/secrets.ts'

/** The shortest card number. Most texts of gateways are shorter and need no search. */
const MIN_CHARS = 13

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
