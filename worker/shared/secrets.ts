// What must not be read by those who read logs, stored callbacks and events: by its name, or by its
// looks. Pure.

export const REDACTED = '[redacted]'

const IN_NAME =
  /authori[sz]ation|cookie|token|secret|key|signature|card|msisdn|phone|ticket|passw|passphrase/i
/** Too short to be looked for inside of other words: `pin` stands in `spin`. */
const AS_WORD = /(^|[^a-z])(pin|otp|cvv|cvc|pan)($|[^a-z])/

/** Whether what is called this is a secret, or the payer's own. */
export const isSecretName = (name: string): boolean =>
  IN_NAME.test(name) || AS_WORD.test(name.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase())

// Both are searched run by run, so that no text, however it is made, takes more than one pass.
const BEARER = /(?<=\bBearer )\S+/gi
const RUN = /[\w.-]+/g

/** Without what looks like a JWT or follows "Bearer": other people's errors bring both along. */
export const hideTokens = (text: string): string =>
  text.replace(BEARER, REDACTED).replace(RUN, (run) => {
    const start = run.indexOf('eyJ')
    if (start < 0 || run.slice(start).split('.', 3).length < 3) return run
    return run.slice(0, start) + REDACTED
  })
