// Callbacks of the redirect gateway: an HS256 JWT, signed with the merchant's API key.

import { SignJWT } from 'jose'
import { fromMinor } from '../../../worker/payments/domain/money.ts'
import type { Callback, CallbackMaker, Told, ToldStatus } from './callback.ts'

const WORDS: Partial<Record<ToldStatus, string>> = {
  Paid: 'SUCCESS',
  Failed: 'FAILED',
  Expired: 'EXPIRED',
  Refunded: 'REFUNDED',
}

export const redirect = {
  signsWith: 'api_key',
  needs: ['reference', 'amount', 'currency'],
  statuses: ['Paid', 'Failed', 'Expired', 'Refunded'],
  make: (told, apiKey) => signed(claimsOf(told), apiKey),
  // Without what every event has: it can be verified, and not read.
  idle: (apiKey, now) => signed({ timestamp: new Date(now).toISOString() }, apiKey),
} satisfies CallbackMaker

async function signed(claims: Record<string, unknown>, apiKey: string): Promise<Callback> {
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .sign(new TextEncoder().encode(apiKey))
  const headers = { 'content-type': 'application/json' }
  return { headers, body: JSON.stringify({ webhook_token: token }) }
}

function claimsOf({ status, amount, currency, ...told }: Told): Record<string, unknown> {
  const isRefund = status === 'Refunded'
  return {
    eventType: isRefund ? 'REFUND_COMPLETED' : 'STATUS_CHANGED',
    eventId: told.eventId,
    timestamp: new Date(told.now).toISOString(),
    data: {
      transactionId: told.transactionId,
      ...(told.externalReference !== undefined && { merchantReferenceId: told.externalReference }),
      orderId: told.reference,
      customerMsisdn: null,
      errorMessage: status === 'Failed' ? 'Simulated.' : null,
      previousStatus: isRefund ? 'SUCCESS' : 'PENDING',
      currentStatus: WORDS[status],
      amount: { currency, value: fromMinor(amount, currency) },
    },
  }
}
