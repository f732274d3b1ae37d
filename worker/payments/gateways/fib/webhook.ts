// Webhooks of the bank: how their origin is proven, and what is read from one. The bank does not
// sign them, so one is only a hint to read the payment from the bank.

import * as z from 'zod'
import { hmac } from '../../../shared/sha256.ts'

const REFERENCE = 'reference'
const PROOF = 'proof'

/**
 * The address where the bank sends callbacks: ours, with our external reference of the payment and
 * a signature that proves that we wrote it. The bank never returns that reference, and its answer
 * to the charge may be lost: then only this address connects its payment to ours. Callbacks are
 * unsigned and our references can be guessed: without the proof, a stranger could use another
 * payment of the bank's account to mark an order here as paid.
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

/** Strangers may send it, and it becomes part of a URL that is called with our token. */
const PAYMENT_ID = /^[A-Za-z0-9-]{1,64}$/

/** The id in a callback; undefined when there is none that the bank could have sent. */
export function idIn(body: string): string | undefined {
  try {
    const { id } = z
      .object({ id: z.string().regex(PAYMENT_ID).toLowerCase() })
      .parse(JSON.parse(body))
    return id
  } catch {
    // Not JSON, or no id: the bank does not send this.
    return undefined
  }
}
