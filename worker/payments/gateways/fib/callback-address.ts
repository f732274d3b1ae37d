// The address where the bank sends callbacks: ours, with our external reference of the payment and
// a signature that proves that we wrote it.

import { toHex } from '../../../shared/sha256.ts'

const REFERENCE = 'reference'
const PROOF = 'proof'

/**
 * The bank never returns our external reference, and its answer to the charge may be lost: then
 * only this address connects its payment to ours. Callbacks are unsigned and our references can be
 * guessed: without the proof, a stranger could use another payment of the bank's account to mark an
 * order here as paid.
 */
export interface CallbackAddress {
  sign(callbackUrl: string, externalReferenceId: string): Promise<string>
  /** The external reference in a callback's address; undefined when its proof is not ours. */
  verify(query: URLSearchParams): Promise<string | undefined>
}

/** For one configured gateway: the addresses of another gateway are not valid here. */
export function callbackAddress(gateway: string, secret: string): CallbackAddress {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const encode = (text: string) => new TextEncoder().encode(text)
  const importKey = () =>
    crypto.subtle.importKey('raw', encode(secret), algorithm, false, ['sign', 'verify'])
  const signedBytes = (reference: string) =>
    encode(JSON.stringify(['callback', gateway, reference]))

  return {
    async sign(callbackUrl, reference) {
      const proof = await crypto.subtle.sign('HMAC', await importKey(), signedBytes(reference))
      const url = new URL(callbackUrl)
      url.searchParams.set(REFERENCE, reference)
      url.searchParams.set(PROOF, toHex(proof))
      return url.href
    },
    async verify(query) {
      const reference = query.get(REFERENCE)
      const proof = query.get(PROOF)
      if (reference === null || proof === null || !/^[0-9a-f]{64}$/.test(proof)) return undefined
      const bytes = Uint8Array.from(proof.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
      const isOurs = await crypto.subtle.verify(
        'HMAC',
        await importKey(),
        bytes,
        signedBytes(reference),
      )
      return isOurs ? reference : undefined
    },
  }
}
