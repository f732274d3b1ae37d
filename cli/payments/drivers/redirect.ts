// The redirect gateway: callbacks are an HS256 JWT, signed with the merchant's API key.

import { error, type Finding, warn } from '../../findings.ts'
import type { ConfiguredGateway } from '../configured.ts'
import type { DriverTools } from './driver-tools.ts'

export const redirect = {
  callbacks: {
    gateway: 'redirect',
    signsWith: 'api_key',
    needs: ['reference', 'amount', 'currency'],
    ways: { Paid: ['pay'], Failed: ['fail'], Expired: ['expire'], Refunded: ['pay', 'refund'] },
    // Without the fields of an event: its signature is valid, but it cannot be read.
    probe: (now) => ({ timestamp: new Date(now).toISOString() }),
  },
  checkSecrets,
} satisfies DriverTools

/** RFC 7518 requires a key as long as the digest. */
const HS256_BYTES = 32
/** With one callback, an attacker can find a shorter key by trying all keys. */
const MIN_BYTES = 16

function checkSecrets({ key, settings, variables }: ConfiguredGateway): Finding[] {
  const { client_id = '', client_secret = '', api_key = '' } = settings
  const apiKey = variables.api_key ?? 'api_key'
  const clientSecret = variables.client_secret ?? 'client_secret'
  const bytes = new TextEncoder().encode(api_key).length
  // Equal keys are refused with the configuration; these differ only in case or punctuation.
  const bare = (text: string) => text.replace(/[^\w]|_/g, '').toLowerCase()
  const isAlike = api_key !== client_secret && bare(api_key) === bare(client_secret)
  return [
    ...(isAlike
      ? [error(key, `${apiKey} is ${clientSecret} in another spelling; they must differ.`)]
      : []),
    ...(api_key === client_id || client_secret === client_id
      ? [error(key, `${api_key === client_id ? apiKey : clientSecret} is the client_id.`)]
      : []),
    ...(bytes < MIN_BYTES
      ? [error(key, `${apiKey} has ${bytes} bytes: an attacker who sees a callback can find it.`)]
      : []),
    ...(bytes >= MIN_BYTES && bytes < HS256_BYTES
      ? [warn(key, `${apiKey} has ${bytes} bytes; HS256 requires ${HS256_BYTES}.`)]
      : []),
  ]
}
