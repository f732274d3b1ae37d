// Stripe: events are signed as `Stripe-Signature: t=…,v1=…`, and keys begin with their kind.

import { createHmac } from 'node:crypto'
import { error, type Finding, ok, warn } from '../../findings.ts'
import { ask } from '../ask.ts'
import type { ConfiguredGateway } from '../configured.ts'
import type { Callback, DriverTools, SimulatedEvent } from './driver-tools.ts'

export const stripe = {
  callbacks: {
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
  },
  checkSecrets,
  checkCredentials,
  moneyKey: {
    setting: 'secret_key',
    modeOf(key) {
      if (/^(sk|rk)_test_/.test(key)) return 'test'
      return /^(sk|rk)_live_/.test(key) ? 'live' : 'unknown'
    },
  },
} satisfies DriverTools

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

const MIN_SECRET_CHARS = 24

function checkSecrets({ key, settings, variables }: ConfiguredGateway): Finding[] {
  const { secret_key = '', webhook_secret = '' } = settings
  const secretKey = variables.secret_key ?? 'secret_key'
  const webhookSecret = variables.webhook_secret ?? 'webhook_secret'
  const secrets = webhook_secret.split(/\s+/)
  const isApiKey = (text: string) => /^(sk|rk)_/.test(text)
  const isSigning = (text: string) => text.startsWith('whsec_')
  if (isSigning(secret_key) && secrets.some(isApiKey)) {
    return [error(key, `${secretKey} and ${webhookSecret} are swapped.`)]
  }
  return [
    ...(isApiKey(secret_key) ? [] : [error(key, `${secretKey} must begin with sk_ or rk_.`)]),
    ...(secrets.every(isSigning)
      ? []
      : [error(key, `Each secret of ${webhookSecret} must begin with whsec_.`)]),
    ...(secrets.some((secret) => isSigning(secret) && secret.length < MIN_SECRET_CHARS)
      ? [error(key, `${webhookSecret} is too short for a secret of Stripe.`)]
      : []),
  ]
}

async function checkCredentials({
  key,
  settings,
  variables,
}: ConfiguredGateway): Promise<Finding[]> {
  const headers = { authorization: `Bearer ${settings.secret_key}` }
  const base = (settings.base_url ?? '').replace(/\/+$/, '')
  const answer = await ask(`${base}/v1/checkout/sessions?limit=1`, { headers })
  const name = variables.secret_key ?? 'secret_key'
  if (!answer.ok) return [error(key, `Stripe does not answer to ${name}: ${answer.why}.`)]
  switch (answer.status) {
    case 200:
      return [ok(key, `Stripe accepts ${name}.`)]
    case 401:
      return [error(key, `Stripe refuses ${name} (401).`)]
    case 403:
      return [error(key, `${name} is restricted: it cannot read checkout sessions (403).`)]
    default:
      return [warn(key, `This may not be Stripe: it answers ${answer.status}.`)]
  }
}
