// Stripe: events are signed as `Stripe-Signature: t=…,v1=…`, and keys begin with their kind.

import { error, type Finding, ok, warn } from '../../findings.ts'
import { ask } from '../ask.ts'
import type { ConfiguredGateway } from '../configured.ts'
import type { DriverTools } from './driver-tools.ts'

export const stripe = {
  callbacks: {
    gateway: 'stripe',
    signsWith: 'webhook_secret',
    needs: ['reference', 'amount', 'currency'],
    ways: {
      Paid: ['pay'],
      // Only a slow payment fails for good: after a declined card, the payer can try again.
      Failed: ['transfer', 'fail'],
      Expired: ['expire'],
      Refunded: ['pay', 'refund'],
    },
    // Stripe has no such event type: it is verified, and then ignored.
    probe: (now) => ({
      id: `evt_${now}`,
      object: 'event',
      type: 'signalbox.doctor',
      created: Math.floor(now / 1_000),
      data: { object: {} },
    }),
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
