// Recognises secrets in logs, stored callbacks and events, by the name of a field or the form of a
// value. Pure.

export const REDACTED = '[redacted]'

const BETWEEN_WORDS = /(?<=[\p{Ll}\d])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|[^\p{L}\d]+/u

/** Lower case, without the `s` of a plural. */
const wordsOf = (name: string): string[] =>
  name
    .split(BETWEEN_WORDS)
    .filter(Boolean)
    .map((word) => word.toLowerCase().replace(/s$/, ''))

// Every event has the same few names, so results are cached. The cache is bounded, because
// callbacks may hold any names.
const MAX_CACHED = 500
const MAX_CACHED_CHARS = 64

function cached(test: (name: string) => boolean): (name: string) => boolean {
  const results = new Map<string, boolean>()
  return (name) => {
    const known = results.get(name)
    if (known !== undefined) return known
    const result = test(name)
    if (results.size < MAX_CACHED && name.length <= MAX_CACHED_CHARS) results.set(name, result)
    return result
  }
}

/** This many neighbouring words are also compared joined, so `cardNumber` equals `card_number`. */
const MAX_WORDS = 4

/**
 * Matches names that contain a listed name as whole words, in any notation: `wallet number` matches
 * `walletNumber`, `payer_wallet-number` and `walletnumber`; `key` does not match `keyboard`.
 */
export function nameMatcher(listed: readonly string[]): (name: string) => boolean {
  const wanted = new Set(listed.map((name) => wordsOf(name).join('')))
  return cached((name) => {
    const words = wordsOf(name)
    return words.some((_, at) =>
      words.slice(at, at + MAX_WORDS).some((_, more) => {
        return wanted.has(words.slice(at, at + more + 1).join(''))
      }),
    )
  })
}

// biome-ignore format: several names a line.
const SECRET_NAMES = [
  'authorization', 'authorisation', 'cookie', 'credential', 'token', 'secret', 'key',
  'signature', 'password', 'passwd', 'passphrase', 'pin', 'otp', 'cvv', 'cvc', 'ticket',
  'pan', 'card number', 'msisdn', 'phone',
  // Often written as one word, without a border between the words.
  'api key', 'access key', 'secret key', 'access token', 'auth token', 'client secret',
]

/** Whether a field of this name holds a secret or a phone number. */
export const isSecretName = nameMatcher(SECRET_NAMES)

// Both patterns take one pass over any text, even one made by an attacker.
const BEARER = /(?<=\bBearer )\S+/gi
const RUN = /[\w.-]+/g

/** Redacts JWTs and what follows "Bearer". Error messages of libraries may contain both. */
export const hideTokens = (text: string): string =>
  MAY_HOLD_TOKEN.test(text) ? hideJwts(text.replace(BEARER, REDACTED)) : text

const MAY_HOLD_TOKEN = /eyJ|\bBearer /i

/** JSON Web Tokens: three parts or more. The first begins like every JSON object. */
export function hideJwts(text: string): string {
  if (!text.includes('eyJ')) return text
  // Run by run, since a pattern would begin again at each `eyJ` of a long one.
  return text.replace(RUN, (run) => {
    const start = run.indexOf('eyJ')
    if (start < 0 || run.slice(start).split('.', 3).length < 3) return run
    return run.slice(0, start) + REDACTED
  })
}
