// Stripe's events, signed as `Stripe-Signature: t=…,v1=…`.

import { createHmac } from 'node:crypto'
import type { Callback, CallbackMaker, SimulatedEvent } from './callback.ts'

export const stripe = {
  signsWith: 'webhook_secret',
  needs: ['reference', 'amount', 'currency'],
  statuses: ['Paid', 'Failed', 'Expired', 'Refunded'],
  async make(event, secret) {
    const { type, object } = eventOf(event)
    return signed({ id: event.eventId, type, object }, secret, event.now)
  },
  // Stripe has no such event type: it is verified, and then ignored.
  async probe(secret, now) {
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
  // There are several while they rotate, and each of them is valid.
  const [secret = ''] = secrets.split(/\s+/)
  const mac = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')
  const headers = {
    'content-type': 'application/json',
    'stripe-signature': `t=${seconds},v1=${mac}`,
  }
  return { headers, body }
}

function eventOf(event: SimulatedEvent): { type: string; object: Record<string, unknown> } {
  const currency = event.currency.toLowerCase()
  // Without our external reference, it would be ignored as a payment of others in the account.
  const external_reference_id = event.externalReference ?? event.transactionId
  const metadata = { external_reference_id, reference: event.reference }
  if (event.status === 'Refunded') {
    const { amount } = event
    const charge = { object: 'charge', amount, amount_refunded: amount, currency, metadata }
    return { type: 'charge.refunded', object: { ...charge, payment_intent: event.transactionId } }
  }
  const session = {
    id: event.transactionId,
    object: 'checkout.session',
    client_reference_id: event.reference,
    amount_total: event.amount,
    currency,
    metadata,
    payment_intent: null,
  }
  switch (event.status) {
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
