// Callbacks of the redirect gateway: an HS256 JWT, signed with the merchant's API key.

import { SignJWT } from 'jose'
import { fromMinor } from '../../../worker/payments/domain/money.ts'
import type { Callback, CallbackMaker, SimulatedEvent, SimulatedStatus } from './callback.ts'

const STATUSES: Partial<Record<SimulatedStatus, string>> = {
  Paid: 'SUCCESS',
  Failed: 'FAILED',
  Expired: 'EXPIRED',
  Refunded: 'REFUNDED',
}

export const redirect = {
  signsWith: 'api_key',
  needs: ['reference', 'amount', 'currency'],
  statuses: ['Paid', 'Failed', 'Expired', 'Refunded'],
  make: (event, apiKey) => signed(claimsOf(event), apiKey),
  // Without the fields of an event: its signature is valid, but it cannot be read.
  probe: (apiKey, now) => signed({ timestamp: new Date(now).toISOString() }, apiKey),
} satisfies CallbackMaker

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
