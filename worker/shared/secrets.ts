// What must not be read by those who read logs, stored callbacks and events: by its name, or by its
// looks. Pure.

export const REDACTED = '[redacted]'

const IN_NAME =
  /authori[sz]ation|cookie|token|secret|key|signature|card|msisdn|phone|ticket|passw|passphrase/i
/** Too short to be looked for inside of other words: `pin` stands in `spin`. */
const AS_WORD = /(^|[^a-z])(pin|otp|cvv|cvc|pan)($|[^a-z])/

/** Whether what is called this is a secret, or the payer's own. */
export function isSecretName(name: string): boolean {
  const known = judged.get(name)
  if (known !== undefined) return known
  const words = name.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase()
  const isSecret = IN_NAME.test(name) || AS_WORD.test(words)
  if (judged.size < MOST_JUDGED && name.length <= LONGEST_JUDGED) judged.set(name, isSecret)
  return isSecret
}

// The same few names stand in every line of a log. Bounded, because callbacks bring names along.
const MOST_JUDGED = 500
const LONGEST_JUDGED = 64
const judged = new Map<string, boolean>()

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
