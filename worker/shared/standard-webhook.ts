// Signs what is POSTed to the host application, and verifies it there (events/), by the standard of
// https://www.standardwebhooks.com. Imports nothing, because it is in the package, too.

export interface WebhookSigner {
  /** The headers of one attempt to send `body`. `id` is the event's, `now` the attempt's, in ms. */
  sign(id: string, now: number, body: string): Promise<Record<string, string>>
}

const PREFIX = 'whsec_'
/** The standard's limits: fewer bytes can be guessed, and more are hashed anyway. */
const MIN_BYTES = 24
const MAX_BYTES = 64

/** Why this cannot be a secret, without naming it; undefined if it can. */
export function whsecProblem(text: string): string | undefined {
  if (!text.startsWith(PREFIX)) return `a secret must begin with ${PREFIX}`
  const encoded = text.slice(PREFIX.length)
  // atob accepts spaces and missing padding, which other libraries refuse.
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded) || encoded.length % 4 !== 0) {
    return `a secret must hold base64, with its padding, after ${PREFIX}`
  }
  const { length } = bytesOf(text)
  if (length >= MIN_BYTES && length <= MAX_BYTES) return undefined
  return `a secret must have ${MIN_BYTES} to ${MAX_BYTES} bytes, and one has ${length}`
}

/** What a variable holds: one, or two while it is replaced, the newest first. */
export function readWhsecs(text: unknown): { secrets: string[]; problem?: string } {
  const secrets = typeof text === 'string' ? text.split(/\s+/).filter(Boolean) : []
  const [problem] = secrets.flatMap((secret) => whsecProblem(secret) ?? [])
  return { secrets, ...(problem !== undefined && { problem }) }
}

/**
 * Each secret makes a signature, in their order: while one is replaced, receivers with the old and
 * with the new one can verify. The secrets are valid.
 */
export function createWebhookSigner(secrets: readonly string[]): WebhookSigner {
  let keys: Key[] | undefined
  return {
    async sign(id, now, body) {
      // Not before the first request, and only the keys are kept: workerd allows no work before it,
      // and no request may wait for a promise of another one.
      keys ??= await Promise.all(secrets.map((secret) => importKey(secret, 'sign')))
      const timestamp = String(Math.floor(now / 1_000))
      const signed = signedBytes(id, timestamp, body)
      const macs = keys.map((key) => crypto.subtle.sign('HMAC', key, signed))
      const signatures = (await Promise.all(macs)).map((mac) => `v1,${base64(new Uint8Array(mac))}`)
      return {
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': signatures.join(' '),
      }
    },
  }
}

export interface SignedWebhook {
  /** The three headers, as they came. */
  id: string
  timestamp: string
  signatures: string
  body: string
}

/** Whether one of the secrets signed it. Its age is not checked here. */
export type VerifyWebhook = (webhook: SignedWebhook) => Promise<boolean>

/** There are two while a secret is replaced. A stranger can send many, and each costs a digest. */
const MAX_SIGNATURES = 10

/** The secrets are valid. */
export function createWebhookVerifier(secrets: readonly string[]): VerifyWebhook {
  let keys: Key[] | undefined
  return async ({ id, timestamp, signatures, body }) => {
    const macs = signatures.split(' ').slice(0, MAX_SIGNATURES).flatMap(macOf)
    if (macs.length === 0) return false
    // As above: not before the first request, and no promise that several requests wait for.
    keys ??= await Promise.all(secrets.map((secret) => importKey(secret, 'verify')))
    const signed = signedBytes(id, timestamp, body)
    const pairs = keys.flatMap((key) => macs.map((mac) => ({ key, mac })))
    const matches = pairs.map(({ key, mac }) => crypto.subtle.verify('HMAC', key, mac, signed))
    return (await Promise.all(matches)).includes(true)
  }
}

/** SHA-256 has 32 bytes. `v1a` and others are other algorithms. */
const macOf = (signature: string): Uint8Array<ArrayBuffer>[] => {
  const [, encoded] = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(signature) ?? []
  return encoded === undefined ? [] : [fromBase64(encoded)]
}

const signedBytes = (id: string, timestamp: string, body: string) =>
  new TextEncoder().encode(`${id}.${timestamp}.${body}`)

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>

const importKey = (secret: string, use: 'sign' | 'verify'): Promise<Key> => {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  return crypto.subtle.importKey('raw', bytesOf(secret), algorithm, false, [use])
}

const bytesOf = (secret: string) => fromBase64(secret.slice(PREFIX.length))

const fromBase64 = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text), (char) => char.charCodeAt(0))

const base64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))
