import { describe, expect, it } from 'vitest'
import {
  describeGateways,
  gatewaySecrets,
  simulatedGateways,
  simulatedNames,
} from '../../local/gateways.ts'

const SIMULATOR = 'http://127.0.0.1:9'
const secrets = gatewaySecrets('s'.repeat(43))

describe('the secrets of simulated gateways', () => {
  it('are the same at every start with a data folder, and different in another', () => {
    expect(gatewaySecrets('s'.repeat(43))).toEqual(secrets)
    const all = [secrets, gatewaySecrets('t'.repeat(43))].flatMap(({ redirect, fib, stripe }) =>
      [redirect, fib, stripe].flatMap(({ client_id, ...own }: Record<string, string>) =>
        Object.values(own),
      ),
    )
    expect(new Set(all).size).toBe(10)
    expect(all.every((secret) => secret.length >= 43)).toBe(true)
  })
})

describe('the gateways of a local system', () => {
  it('are all simulated if the environment names none', () => {
    const variables = simulatedGateways({ PAYMENT_TOLERANCE_SECONDS: '60' }, secrets, SIMULATOR)
    expect(variables).toEqual({
      REDIRECT_GATEWAY_BASE_URL: SIMULATOR,
      REDIRECT_GATEWAY_CLIENT_ID: 'signalbox-local',
      REDIRECT_GATEWAY_CLIENT_SECRET: secrets.redirect.client_secret,
      REDIRECT_GATEWAY_API_KEY: secrets.redirect.api_key,
      FIB_BASE_URL: SIMULATOR,
      FIB_CLIENT_ID: 'signalbox-local',
      FIB_CLIENT_SECRET: secrets.fib.client_secret,
      STRIPE_BASE_URL: SIMULATOR,
      STRIPE_SECRET_KEY: secrets.stripe.secret_key,
      STRIPE_WEBHOOK_SECRET: secrets.stripe.webhook_secret,
    })
    expect(describeGateways(variables)).toEqual({
      redirect: { api_key: secrets.redirect.api_key },
      fib: { client_id: 'signalbox-local' },
      stripe: { webhook_secret: secrets.stripe.webhook_secret },
    })
  })

  it('are not simulated, each by itself, if the environment has one of its variables', () => {
    const given = { REDIRECT_GATEWAY_LANG: 'ar', STRIPE_WEBHOOK_SECRET: 'whsec_new whsec_old' }
    expect(simulatedNames(given)).toEqual(['fib'])
    const variables = { ...simulatedGateways(given, secrets, SIMULATOR), ...given }
    expect(Object.keys(variables).toSorted((a, b) => a.localeCompare(b))).toEqual([
      'FIB_BASE_URL',
      'FIB_CLIENT_ID',
      'FIB_CLIENT_SECRET',
      'REDIRECT_GATEWAY_LANG',
      'STRIPE_WEBHOOK_SECRET',
    ])
    expect(describeGateways(variables)).toEqual({
      fib: { client_id: 'signalbox-local' },
      stripe: { webhook_secret: 'whsec_new' },
    })
  })
})
