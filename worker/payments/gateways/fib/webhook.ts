// Callbacks of the bank: an id, which a stranger may send too. They go to our address with our
// external reference of the payment, and a signature that proves that we wrote it.

import * as z from 'zod'
import { hmac } from '../../../shared/sha256.ts'

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

const REFERENCE = 'reference'
const PROOF = 'proof'

/**
 * The bank never returns our external reference, and its answer to the charge may be lost: then
 * only this address connects its payment to ours. Callbacks are unsigned and our references can be
 * guessed: without the proof, a stranger could use another payment of the bank's account to mark an
 * order here as paid.
 */
interface CallbackAddress {
  sign(callbackUrl: string, externalReferenceId: string): Promise<string>
  /** The external reference in a callback's address; undefined when its proof is not ours. */
  verify(query: URLSearchParams): Promise<string | undefined>
}

/** For one configured gateway: the addresses of another gateway are not valid here. */
export function callbackAddress(gateway: string, secret: string): CallbackAddress {
  const key = hmac(secret)
  const signedBytes = (reference: string) =>
    new TextEncoder().encode(JSON.stringify(['callback', gateway, reference]))

  return {
    async sign(callbackUrl, reference) {
      const url = new URL(callbackUrl)
      url.searchParams.set(REFERENCE, reference)
      url.searchParams.set(PROOF, await key.sign(signedBytes(reference)))
      return url.href
    },
    async verify(query) {
      const reference = query.get(REFERENCE)
      const proof = query.get(PROOF)
      if (reference === null || proof === null || !/^[0-9a-f]{64}$/.test(proof)) return undefined
      return (await key.verify(proof, signedBytes(reference))) ? reference : undefined
    },
  }
}
