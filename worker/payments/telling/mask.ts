// What gateways send and what is told of it, with secrets and the payer's own taken out. It keeps
// the shape, so that a person still sees what came. Pure, and never throws whatever came.

import { hideTokens, isSecretName, REDACTED } from '../../shared/secrets.ts'

/** Longer ones are cut: they are kept for months, to be read by people. */
export const MOST_MASKED_BYTES = 64 << 10
const CUT = '… [cut]'

/** Texts inside of texts and values inside of values, beyond any gateway's; then all is hidden. */
const DEEPEST = 32

export const maskHeaders = (headers: Headers | Readonly<Record<string, string>>) =>
  Object.fromEntries(
    [...(headers instanceof Headers ? headers : Object.entries(headers))].map(([name, value]) => [
      name,
      isSecretName(name) ? REDACTED : maskBody(value),
    ]),
  )

/** JSON, a form, a query string, or any text. What is masked already stays as it is. */
export const maskBody = (text: string): string => cut(maskText(text, 0))

/** A copy of what an event tells. */
export const maskValue = <Value>(value: Value): Value => mask(value, 0) as Value

function mask(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return depth === 0 ? maskBody(value) : maskText(value, depth)
  if (typeof value !== 'object' || value === null) return value
  if (depth > DEEPEST) return REDACTED
  if (Array.isArray(value)) return value.map((each) => mask(each, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      hideTokens(name),
      isSecretName(name) ? REDACTED : mask(each, depth + 1),
    ]),
  )
}

const STRUCTURED = /[={["]/

function maskText(text: string, depth: number): string {
  if (depth > DEEPEST) return REDACTED
  // Neither JSON nor a pair: most are one word, and to take those apart costs as much as all else.
  if (!STRUCTURED.test(text)) return hideTokens(text)
  try {
    if (/^\s*[{[]/.test(text)) return JSON.stringify(mask(JSON.parse(text), depth + 1))
  } catch {
    // Cut off, or something else after all: what follows needs no whole JSON.
  }
  return /"\s*:/.test(text) ? maskNearlyJson(text, depth + 1) : maskPairs(text, depth)
}

/** `name=value` wherever it stands: forms, queries of URLs, cookies, sentences. */
const maskPairs = (text: string, depth: number): string =>
  hideTokens(
    text
      .split(/([&\s]+)/)
      .map((piece) => {
        const at = piece.indexOf('=')
        if (at < 0) return piece
        const value = piece.slice(at + 1)
        // The last word before it: `https://host/path?name`, `("name`.
        const name =
          piece
            .slice(0, at)
            .split(/[?#;,"'(<{]/)
            .at(-1) ?? ''
        const masked = isSecretName(unescaped(name)) ? REDACTED : maskPart(value, depth + 1)
        return `${piece.slice(0, at)}=${masked}`
      })
      .join(''),
  )

/** A form's value may be JSON or a URL with a query of its own. */
function maskPart(value: string, depth: number): string {
  const plain = unescaped(value)
  const masked = maskText(plain, depth)
  if (masked === plain) return value
  // Half a surrogate pair has no UTF-8, and would throw.
  return plain === value ? masked : encodeURIComponent(masked.toWellFormed())
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/** `"name": value`, in JSON that is broken off or stands inside of other text. */
const STRINGS_AND_REST = /"(?:[^"\\]|\\[\s\S])*"?|[^"]+/g

function maskNearlyJson(text: string, depth: number): string {
  const tokens = text.match(STRINGS_AND_REST) ?? []
  let masked = ''
  let isHidden = false
  for (const [at, token] of tokens.entries()) {
    const isString = token.startsWith('"')
    if (isString) masked += isHidden ? `"${REDACTED}"` : maskString(token, depth)
    else if (!isHidden) masked += maskPairs(token, depth)
    else {
      const found: RegExpExecArray | null = /^(\s*:\s*)([^\s,}\]]*)/.exec(token)
      const [both, colon, value] = found ?? ['', '', '']
      // Where such an object ends cannot be told, so nothing of the rest is kept.
      if (/^[{[]/.test(value ?? '')) return `${masked}${colon}"${REDACTED}"${CUT}`
      masked += value ? `${colon}"${REDACTED}"${token.slice(both.length)}` : token
      // Otherwise the value is the string that comes next.
      if (!value) continue
    }
    const isName = isString && /^\s*:/.test(tokens[at + 1] ?? '')
    isHidden = isName && isSecretName(parsed(token) ?? token)
  }
  return masked
}

function maskString(token: string, depth: number): string {
  const isWhole = token.length > 1 && token.endsWith('"')
  const plain = parsed(isWhole ? token : `${token}"`) ?? token.slice(1)
  const masked = maskText(plain, depth)
  return masked === plain ? token : JSON.stringify(masked)
}

function parsed(token: string): string | undefined {
  try {
    return String(JSON.parse(token))
  } catch {
    return undefined
  }
}

function cut(text: string): string {
  // A UTF-16 unit is three bytes at most.
  if (text.length * 3 <= MOST_MASKED_BYTES) return text
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= MOST_MASKED_BYTES) return text
  const kept = bytes.subarray(0, MOST_MASKED_BYTES - new TextEncoder().encode(CUT).length)
  // `stream` leaves out a character that the cut went through.
  return new TextDecoder().decode(kept, { stream: true }) + CUT
}
