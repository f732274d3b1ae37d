// A proof in the address of callbacks, for gateways that do not sign them.

import { hmac } from '../../shared/sha256.ts'

const REFERENCE = 'reference'
const PROOF = 'proof'

/**
 * The address where a gateway sends callbacks: ours, with our external reference of the payment and
 * a signature that proves that we wrote it. If the gateway never returns that reference, and its
 * answer to the charge was lost, only this address connects its payment to ours. Callbacks are
 * unsigned and our references can be guessed: without the proof, a stranger could use another
 * payment of the account to mark an order here as paid.
 *
 * For one configured gateway: the addresses of another gateway are not valid here.
 */
export function callbackAddress(gateway: string, secret: string) {
  const key = hmac(secret)
  const signedBytes = (reference: string) =>
    new TextEncoder().encode(JSON.stringify(['callback', gateway, reference]))

  return {
    async sign(callbackUrl: string, reference: string): Promise<string> {
      const url = new URL(callbackUrl)
      url.searchParams.set(REFERENCE, reference)
      url.searchParams.set(PROOF, await key.sign(signedBytes(reference)))
      return url.href
    },
    /** The external reference in a callback's address; undefined when its proof is not ours. */
    async verify(query: URLSearchParams): Promise<string | undefined> {
      const reference = query.get(REFERENCE)
      const proof = query.get(PROOF)
      if (reference === null || proof === null || !/^[0-9a-f]{64}$/.test(proof)) return undefined
      return (await key.verify(proof, signedBytes(reference))) ? reference : undefined
    },
  }
}
