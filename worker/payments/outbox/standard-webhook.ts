// Signs what is POSTed to the host application, as https://www.standardwebhooks.com has it.

export interface WebhookSigner {
  /** The headers of one attempt to send `body`. `id` is the event's, `now` the attempt's, in ms. */
  sign(id: string, now: number, body: string): Promise<Record<string, string>>
}

const PREFIX = 'whsec_'
/** The standard's own bounds: fewer bytes can be guessed, more are hashed down anyway. */
const LEAST_BYTES = 24
const MOST_BYTES = 64

/** Why this is no secret to sign with, without naming it; undefined when it is one. */
export function whsecProblem(text: string): string | undefined {
  if (!text.startsWith(PREFIX)) return `a secret must begin with ${PREFIX}`
  const encoded = text.slice(PREFIX.length)
  // atob would take spaces and missing padding, which other libraries refuse.
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded) || encoded.length % 4 !== 0) {
    return `a secret must hold base64, with its padding, after ${PREFIX}`
  }
  const { length } = bytesOf(text)
  if (length >= LEAST_BYTES && length <= MOST_BYTES) return undefined
  return `a secret must have ${LEAST_BYTES} to ${MOST_BYTES} bytes, and one has ${length}`
}

/**
 * Every secret signs, the first in front: while one is being replaced, receivers that know the old
 * or the new one both find theirs. The secrets have no problem.
 */
export function createWebhookSigner(secrets: readonly string[]): WebhookSigner {
  let keys: Key[] | undefined
  return {
    async sign(id, now, body) {
      // Only now, and only the keys are kept: workerd lets nothing happen before the first request,
      // and no request wait for a promise of another.
      keys ??= await Promise.all(secrets.map(importKey))
      const timestamp = Math.floor(now / 1_000)
      const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
      const macs = keys.map((key) => crypto.subtle.sign('HMAC', key, signed))
      const signatures = (await Promise.all(macs)).map((mac) => `v1,${base64(new Uint8Array(mac))}`)
      return {
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signatures.join(' '),
      }
    },
  }
}

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>

const importKey = (secret: string): Promise<Key> => {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  return crypto.subtle.importKey('raw', bytesOf(secret), algorithm, false, ['sign'])
}

const bytesOf = (secret: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(secret.slice(PREFIX.length)), (char) => char.charCodeAt(0))

const base64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))
