// What gateways send, without secrets and without what is the payer's own. It keeps the shape, so
// that a person still sees what came. What the host application gave is never masked. Pure, and
// never throws whatever came.

import { hideTokens, isSecretName, nameMatcher, REDACTED } from '../../shared/secrets.ts'
import type { PaymentError } from '../domain/exceptions.ts'
import type { Gateway } from '../gateways/gateway.ts'
import { hideAccountNumbers } from './account-numbers.ts'

/** Of JSON. Longer values are cut: they are kept for months, to be read by people. */
export const MAX_RAW_BYTES = 64 << 10
/** Each takes three bytes at most when it is a text inside of JSON. */
const MAX_BEGINNING_CHARS = MAX_RAW_BYTES / 4

/** Values inside of values, beyond any gateway's; then all is hidden. */
const MAX_DEPTH = 32

export type MaskedFields = Pick<Gateway, 'privateFields' | 'echoedFields'>

type TestName = (name: string) => boolean

interface Names {
  isPrivate: TestName
  isEchoed: TestName
}

const SECRETS_ALONE: Names = { isPrivate: isSecretName, isEchoed: () => false }

/**
 * Of all names and values. Who forges a callback chooses its headers, and 200 KB of digits would
 * cost a hundred times what refusing it does. Of a value beyond it stands how long it is.
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
  return value.length > room ? `[${value.length} characters]` : maskText(value, SECRETS_ALONE, 0)
}

/** A copy of what this gateway sent, cut where it is too long. */
export const maskRaw = (value: unknown, fields: MaskedFields): unknown =>
  cut(mask(value, namesOf(fields), 0))

/** The texts of a failure are the gateway's own. */
export const maskError = <E extends PaymentError>({ rawCode, message, ...rest }: E) => ({
  ...rest,
  ...(rawCode !== undefined && { rawCode: maskText(rawCode, SECRETS_ALONE, 0) }),
  message: maskText(message, SECRETS_ALONE, 0),
})

function mask(value: unknown, names: Names, depth: number): unknown {
  if (typeof value === 'string') return maskText(value, names, depth)
  if (typeof value !== 'object' || value === null) return value
  if (depth > MAX_DEPTH) return REDACTED
  if (Array.isArray(value)) return value.map((each) => mask(each, names, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      if (names.isEchoed(name) || inner === null) return [name, inner]
      return [name, names.isPrivate(name) ? REDACTED : mask(inner, names, depth + 1)]
    }),
  )
}

/** It may be JSON, or hold `name=value` as forms and the queries of URLs do. */
function maskText(text: string, names: Names, depth: number): string {
  if (/^\s*[{[]/.test(text)) {
    const parsed = parse(text)
    if (parsed !== undefined) return JSON.stringify(mask(parsed, names, depth + 1))
  }
  const plain = text.includes('=') ? maskPairs(text, names.isPrivate) : text
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

/** Valid JSON again, that says how much there was. */
function cut(value: unknown): unknown {
  const text = JSON.stringify(value) ?? ''
  // A UTF-16 unit is three bytes at most.
  if (text.length * 3 <= MAX_RAW_BYTES) return value
  const bytes = new TextEncoder().encode(text).length
  if (bytes <= MAX_RAW_BYTES) return value
  return { isCut: true, bytes, beginning: text.slice(0, MAX_BEGINNING_CHARS).toWellFormed() }
}

/** A gateway's lists never change, and each webhook asks for them. */
const known = new WeakMap<MaskedFields, Names>()

function namesOf(fields: MaskedFields): Names {
  const found = known.get(fields)
  if (found) return found
  const { privateFields, echoedFields } = fields
  const isListed = nameMatcher(privateFields)
  const echoed = new Set(echoedFields)
  const names = {
    isPrivate: (name: string) => isSecretName(name) || isListed(name),
    isEchoed: (name: string) => echoed.has(name),
  }
  known.set(fields, names)
  return names
}
