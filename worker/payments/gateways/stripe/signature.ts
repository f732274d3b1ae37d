// `Stripe-Signature: t=…,v1=…`: HMAC-SHA256 over the time and the raw body, before any parsing.

import { InvalidWebhookSignatureException } from '../../domain/exceptions.ts'

/**
 * While secrets rotate, Stripe sends one signature for each valid secret. Each costs an HMAC over
 * the body for each of our secrets, and a stranger can send any number.
 */
const MAX_SIGNATURES = 8
const MAX_HEADER_CHARS = 2_048

/** The time of the signature, in ms. Throws InvalidWebhookSignatureException. */
export async function verifySignature(
  header: string | null,
  body: string,
  secrets: readonly string[],
): Promise<number> {
  const { time, signatures } = partsOf(header)
  const encode = new TextEncoder()
  const signed = encode.encode(`${time}.${body}`)
  for (const secret of secrets) {
    const hash = { name: 'HMAC', hash: 'SHA-256' }
    const key = await crypto.subtle.importKey('raw', encode.encode(secret), hash, false, ['verify'])
    for (const signature of signatures) {
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) return Number(time) * 1_000
    }
  }
  throw new InvalidWebhookSignatureException('No signature matches')
}

function partsOf(header: string | null): { time: string; signatures: Uint8Array<ArrayBuffer>[] } {
  if (header === null) throw new InvalidWebhookSignatureException('Stripe-Signature is missing')
  if (header.length > MAX_HEADER_CHARS) {
    throw new InvalidWebhookSignatureException('Stripe-Signature is too long')
  }
  const values = (name: string, shape: RegExp) =>
    header
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part.startsWith(`${name}=`))
      .map((part) => part.slice(name.length + 1))
      .filter((value) => shape.test(value))
  const [time] = values('t', /^\d{1,11}$/)
  const signatures = values('v1', /^[0-9a-f]{64}$/i).slice(0, MAX_SIGNATURES)
  if (time === undefined || signatures.length === 0) {
    throw new InvalidWebhookSignatureException('Stripe-Signature has no time or no v1 signature')
  }
  return { time, signatures: signatures.map(fromHex) }
}

const fromHex = (hex: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
