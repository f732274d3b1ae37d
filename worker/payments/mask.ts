// Masks secrets and personal data of the payer in what gateways send. The structure stays, so that
// a person can still read it. Values of the host application are never masked. Pure; never throws,
// for any input.

import { hideTokens, isSecretName, nameMatcher, REDACTED } from '../shared/secrets.ts'
import { hideAccountNumbers } from './account-numbers.ts'
import type { PaymentError } from './domain/exceptions.ts'
import type { RefundSet } from './domain/refund-set.ts'
import type { VerifiedWebhook } from './domain/types.ts'

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

/** A cut value is still valid JSON and says how long the whole was. */
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

export type MaskWebhook = (gateway: string, verified: VerifiedWebhook) => VerifiedWebhook

/** The one way from a driver to the ledger and to listeners. */
export function webhookMask(gateways: ReadonlyMap<string, MaskedFields>): MaskWebhook {
  const masks = new Map([...gateways].map(([key, fields]) => [key, rawMask(fields)]))
  return (gateway, { raw, error, refunds, ...verified }) => ({
    ...verified,
    ...(error && { error: maskError(error) }),
    ...(refunds && { refunds: maskRefunds(refunds) }),
    ...(raw !== undefined && { raw: masks.get(gateway)?.(raw) }),
  })
}

const maskRefunds = ({ refunds, ...read }: RefundSet): RefundSet => ({
  ...read,
  refunds: refunds.map((refund) =>
    refund.error ? { ...refund, error: maskError(refund.error) } : refund,
  ),
})
