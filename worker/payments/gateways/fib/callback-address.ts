// Where the bank is to call back: our own address with our name of the payment in it, and a proof
// that we wrote it there.

import { toHex } from '../../../shared/sha256.ts'

const NAME = 'reference'
const PROOF = 'proof'

/**
 * The bank never tells our name back, and its answer to the charge may be lost: then only this ties
 * its payment to ours. Callbacks are unsigned and our names can be guessed: without the proof, a
 * stranger could have a payment that was made elsewhere in the bank's account pay an order here.
 */
export interface CallbackAddress {
  named(callbackUrl: string, externalReferenceId: string): Promise<string>
  /** Our name in the address of a callback; undefined when we did not write it there. */
  nameIn(query: URLSearchParams): Promise<string | undefined>
}

/** Of one configured gateway: another's addresses prove nothing here. */
export function callbackAddress(gateway: string, secret: string): CallbackAddress {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const encode = (text: string) => new TextEncoder().encode(text)
  const imported = () =>
    crypto.subtle.importKey('raw', encode(secret), algorithm, false, ['sign', 'verify'])
  const signed = (name: string) => encode(JSON.stringify(['callback', gateway, name]))

  return {
    async named(callbackUrl, name) {
      const proof = await crypto.subtle.sign('HMAC', await imported(), signed(name))
      const url = new URL(callbackUrl)
      url.searchParams.set(NAME, name)
      url.searchParams.set(PROOF, toHex(proof))
      return url.href
    },
    async nameIn(query) {
      const name = query.get(NAME)
      const proof = query.get(PROOF)
      if (name === null || proof === null || !/^[0-9a-f]{64}$/.test(proof)) return undefined
      const bytes = Uint8Array.from(proof.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
      const isOurs = await crypto.subtle.verify('HMAC', await imported(), bytes, signed(name))
      return isOurs ? name : undefined
    },
  }
}
