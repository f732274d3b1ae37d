// Callbacks of gateways for tests: those of redirect are signed with jose, those of Stripe with the
// package of Stripe.

import Stripe from 'stripe'
import type { PaymentResponse } from '../../worker/payments/domain/types.ts'
import { SECRETS } from './payment-system.ts'
import { bytes, claims, sign } from './redirect-fixtures.ts'

export interface Callback {
  path: string
  headers: Record<string, string>
  body: string
}

export interface Claimed {
  status?: string
  eventType?: string
  eventId?: string
  /** ms */
  at?: number
  amount?: number
  currency?: string
  /** For a payment that was not charged here. */
  transactionId?: string
  externalReferenceId?: string
  orderId?: string
}

/** The claims of the redirect gateway for a payment. */
export function claimsOf(charge: Partial<PaymentResponse>, own: Claimed = {}) {
  const { status = 'SUCCESS', at = Date.now(), amount = 25_000, currency = 'IQD' } = own
  return claims({
    eventType: own.eventType ?? 'STATUS_CHANGED',
    eventId: own.eventId ?? crypto.randomUUID(),
    timestamp: new Date(at).toISOString(),
    data: {
      transactionId: own.transactionId ?? charge.gatewayTransactionId ?? crypto.randomUUID(),
      // For a payment that was charged here it would have to be ours.
      merchantReferenceId:
        own.externalReferenceId ?? (charge.gatewayTransactionId ? undefined : crypto.randomUUID()),
      orderId: own.orderId ?? charge.reference ?? 'nobodys-order',
      currentStatus: status,
      amount: { currency, value: amount },
    },
  })
}

/** Signed with the API key of the merchant, unless another key is given. */
export async function redirectCallback(
  payload: unknown,
  key = SECRETS.redirect.api_key,
): Promise<Callback> {
  return tokenCallback(await sign(payload, bytes(key)))
}

export const tokenCallback = (token: unknown): Callback => ({
  path: '/payments/webhooks/redirect',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ webhook_token: token }),
})

/** The token of a callback that has one. */
export const tokenOf = ({ body }: Callback): string =>
  (JSON.parse(body) as { webhook_token: string }).webhook_token

export const fibCallback = (id: string): Callback => ({
  path: '/payments/webhooks/fib',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ id, status: 'PAID' }),
})

export function stripeCallback(
  type: string,
  object: object,
  { secret = SECRETS.stripe.webhook_secret, at = Date.now(), eventId = '' } = {},
): Callback {
  const id = eventId || `evt_${crypto.randomUUID()}`
  const payload = JSON.stringify({ id, object: 'event', type, data: { object } }, undefined, 2)
  const signature = Stripe.webhooks.generateTestHeaderString({
    payload,
    secret,
    timestamp: Math.floor(at / 1_000),
  })
  return {
    path: '/payments/webhooks/stripe',
    headers: { 'Content-Type': 'application/json', 'Stripe-Signature': signature },
    body: payload,
  }
}
