// The redirect gateway: callbacks are an HS256 JWT, signed with the merchant's API key.

import { SignJWT } from 'jose'
import { fromMinor } from '../../../worker/payments/domain/money.ts'
import { error, type Finding, warn } from '../../findings.ts'
import type { ConfiguredGateway } from '../configured.ts'
import type { Callback, DriverTools, SimulatedEvent, SimulatedStatus } from './driver-tools.ts'

const STATUSES: Partial<Record<SimulatedStatus, string>> = {
  Paid: 'SUCCESS',
  Failed: 'FAILED',
  Expired: 'EXPIRED',
  Refunded: 'REFUNDED',
}

export const redirect = {
  callbacks: {
    signsWith: 'api_key',
    needs: ['reference', 'amount', 'currency'],
    statuses: ['Paid', 'Failed', 'Expired', 'Refunded'],
    make: (event, apiKey) => signed(claimsOf(event), apiKey),
    // Without the fields of an event: its signature is valid, but it cannot be read.
    probe: (apiKey, now) => signed({ timestamp: new Date(now).toISOString() }, apiKey),
  },
  checkSecrets,
} satisfies DriverTools

async function signed(claims: Record<string, unknown>, apiKey: string): Promise<Callback> {
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .sign(new TextEncoder().encode(apiKey))
  const headers = { 'content-type': 'application/json' }
  return { headers, body: JSON.stringify({ webhook_token: token }) }
}

function claimsOf({ status, amount, currency, ...event }: SimulatedEvent): Record<string, unknown> {
  const isRefund = status === 'Refunded'
  return {
    eventType: isRefund ? 'REFUND_COMPLETED' : 'STATUS_CHANGED',
    eventId: event.eventId,
    timestamp: new Date(event.now).toISOString(),
    data: {
      transactionId: event.transactionId,
      ...(event.externalReference !== undefined && {
        merchantReferenceId: event.externalReference,
      }),
      orderId: event.reference,
      customerMsisdn: null,
      errorMessage: status === 'Failed' ? 'Simulated.' : null,
      previousStatus: isRefund ? 'SUCCESS' : 'PENDING',
      currentStatus: STATUSES[status],
      amount: { currency, value: fromMinor(amount, currency) },
    },
  }
}

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
