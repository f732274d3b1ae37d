// What must not be read by those who read logs, stored callbacks and events: by its name, or by its
// looks. Pure.

export const REDACTED = '[redacted]'

const BETWEEN_WORDS = /(?<=[\p{Ll}\d])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|[^\p{L}\d]+/u

/** In small letters and without the `s` of a plural. */
const wordsOf = (name: string): string[] =>
  name
    .split(BETWEEN_WORDS)
    .filter(Boolean)
    .map((word) => word.toLowerCase().replace(/s$/, ''))

// The same few names stand in every event. Bounded, because callbacks bring names along.
const MAX_REMEMBERED = 500
const MAX_REMEMBERED_CHARS = 64

function remembered(judge: (name: string) => boolean): (name: string) => boolean {
  const judged = new Map<string, boolean>()
  return (name) => {
    const known = judged.get(name)
    if (known !== undefined) return known
    const verdict = judge(name)
    if (judged.size < MAX_REMEMBERED && name.length <= MAX_REMEMBERED_CHARS) {
      judged.set(name, verdict)
    }
    return verdict
  }
}

/** Neighbouring words of a name that are read as one, so that `cardNumber` is `card_number`. */
const MAX_WORDS = 4

/**
 * Matches names that hold a listed one as whole words, however they are written: `wallet number`
 * is in `walletNumber`, `payer_wallet-number` and `walletnumber`, and `key` is not in `keyboard`.
 */
export function nameMatcher(listed: readonly string[]): (name: string) => boolean {
  const wanted = new Set(listed.map((name) => wordsOf(name).join('')))
  return remembered((name) => {
    const words = wordsOf(name)
    return words.some((_, at) =>
      words.slice(at, at + MAX_WORDS).some((_, more) => {
        return wanted.has(words.slice(at, at + more + 1).join(''))
      }),
    )
  })
}

const SECRET_NAMES = [
  ...['authorization', 'authorisation', 'cookie', 'credential', 'token', 'secret', 'key'],
  ...['signature', 'password', 'passwd', 'passphrase', 'pin', 'otp', 'cvv', 'cvc', 'ticket'],
  ...['pan', 'card number', 'msisdn', 'phone'],
  // Often written as one word.
  ...['api key', 'access key', 'secret key', 'access token', 'auth token', 'client secret'],
]

/** Whether what is called this is a secret, or a phone number. */
export const isSecretName = nameMatcher(SECRET_NAMES)

// Both are searched run by run, so that no text, however it is made, takes more than one pass.
const BEARER = /(?<=\bBearer )\S+/gi
const RUN = /[\w.-]+/g

/** Without what looks like a JWT or follows "Bearer": other people's errors bring both along. */
export const hideTokens = (text: string): string => (MARK.test(text) ? withoutTokens(text) : text)

const MARK = /eyJ|\bBearer /i

const withoutTokens = (text: string): string =>
  text.replace(BEARER, REDACTED).replace(RUN, (run) => {
    const start = run.indexOf('eyJ')
    if (start < 0 || run.slice(start).split('.', 3).length < 3) return run
    return run.slice(0, start) + REDACTED
  })
