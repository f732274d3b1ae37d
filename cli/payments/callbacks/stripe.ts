// Stripe's events, signed as `Stripe-Signature: t=…,v1=…`.

import { createHmac } from 'node:crypto'
import type { Callback, CallbackMaker, Told } from './callback.ts'

export const stripe = {
  signsWith: 'webhook_secret',
  needs: ['reference', 'amount', 'currency'],
  statuses: ['Paid', 'Failed', 'Expired', 'Refunded'],
  async make(told, secret) {
    const { type, object } = eventOf(told)
    return signed({ id: told.eventId, type, object }, secret, told.now)
  },
  // Of a type that nobody makes: it is verified, and ignored.
  async idle(secret, now) {
    return signed({ id: `evt_${now}`, type: 'signalbox.doctor', object: {} }, secret, now)
  },
} satisfies CallbackMaker

interface Event {
  id: string
  type: string
  object: Record<string, unknown>
}

function signed({ id, type, object }: Event, secrets: string, now: number): Callback {
  const seconds = Math.floor(now / 1_000)
  const event = { id, object: 'event', type, created: seconds, data: { object } }
  const body = JSON.stringify(event)
  // Several while they are changed; the first one signs as well as any.
  const [secret = ''] = secrets.split(/\s+/)
  const mac = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')
  const headers = {
    'content-type': 'application/json',
    'stripe-signature': `t=${seconds},v1=${mac}`,
  }
  return { headers, body }
}

function eventOf(told: Told): { type: string; object: Record<string, unknown> } {
  const currency = told.currency.toLowerCase()
  // What lacks our name was made by somebody else in the account, and would be ignored.
  const external_reference_id = told.externalReference ?? told.transactionId
  const metadata = { external_reference_id, reference: told.reference }
  if (told.status === 'Refunded') {
    const { amount } = told
    const charge = { object: 'charge', amount, amount_refunded: amount, currency, metadata }
    return { type: 'charge.refunded', object: { ...charge, payment_intent: told.transactionId } }
  }
  const session = {
    id: told.transactionId,
    object: 'checkout.session',
    client_reference_id: told.reference,
    amount_total: told.amount,
    currency,
    metadata,
    payment_intent: null,
  }
  switch (told.status) {
    case 'Failed':
      return outcome('async_payment_failed', { ...session, status: 'complete' }, 'unpaid')
    case 'Expired':
      return outcome('expired', { ...session, status: 'expired' }, 'unpaid')
    default:
      return outcome('completed', { ...session, status: 'complete' }, 'paid')
  }
}

const outcome = (
  event: string,
  session: Record<string, unknown>,
  payment_status: 'paid' | 'unpaid',
) => ({ type: `checkout.session.${event}`, object: { ...session, payment_status } })
