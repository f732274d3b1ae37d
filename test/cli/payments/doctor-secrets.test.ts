import { describe, expect, it } from 'vitest'
import { checkSecrets, mixtureOf } from '../../../cli/doctor/gateways.ts'
import { configuredGateways } from '../../../worker/payments/config/gateway-settings.ts'
import { FIB, FILE, lineOf, REDIRECT, STRIPE } from './fake-system.ts'

/** The live gateway, so that nothing is amiss but what the test says. */
const LIVE = { ...REDIRECT, REDIRECT_GATEWAY_BASE_URL: 'https://pg-api.zaincash.iq' }

const findings = (env: Record<string, string>): string[] =>
  configuredGateways(FILE, env)
    .filter(({ missing }) => missing.length === 0)
    .flatMap(checkSecrets)
    .map(lineOf)

const fine = (key: string) => [`ok ${key}: Its secrets are of the right kind and length.`]

describe('secrets of the redirect gateway', () => {
  it('are right when they are long and different', () => {
    expect(findings(LIVE)).toEqual(fine('redirect'))
    const two = `the-next-api-key-of-the-merchant-32-bytes ${LIVE.REDIRECT_GATEWAY_API_KEY}`
    expect(findings({ ...LIVE, REDIRECT_GATEWAY_API_KEY: two })).toEqual(fine('redirect'))
  })

  it.each([
    [
      'the client secret in another spelling',
      { REDIRECT_GATEWAY_API_KEY: 'THE-CLIENT-SECRET-OF-THE-MERCHANT=' },
      /^error redirect: REDIRECT_GATEWAY_API_KEY is REDIRECT_GATEWAY_CLIENT_SECRET in another/,
    ],
    [
      'the client id',
      { REDIRECT_GATEWAY_CLIENT_SECRET: 'merchant' },
      /^error redirect: REDIRECT_GATEWAY_CLIENT_SECRET is the client_id/,
    ],
    [
      'too short by far',
      { REDIRECT_GATEWAY_API_KEY: 'fifteen-bytes-x' },
      /^error redirect: REDIRECT_GATEWAY_API_KEY has 15 bytes/,
    ],
    [
      'too short, though the next one is not',
      { REDIRECT_GATEWAY_API_KEY: 'the-next-api-key-of-the-merchant-32-bytes fifteen-bytes-x' },
      /^error redirect: REDIRECT_GATEWAY_API_KEY has 15 bytes/,
    ],
    [
      'shorter than its algorithm asks for',
      { REDIRECT_GATEWAY_API_KEY: 'thirty-one-bytes-are-not-enough' },
      /^warn redirect: REDIRECT_GATEWAY_API_KEY has 31 bytes/,
    ],
    [
      'in quotes',
      { REDIRECT_GATEWAY_CLIENT_SECRET: '"the-client-secret-in-quotes"' },
      /^error redirect: REDIRECT_GATEWAY_CLIENT_SECRET has quotes around it/,
    ],
    [
      'a placeholder',
      { REDIRECT_GATEWAY_CLIENT_SECRET: '<client secret>' },
      /^error redirect: REDIRECT_GATEWAY_CLIENT_SECRET is a placeholder/,
    ],
  ])('are wrong when one is %s', (_, more, why) => {
    expect(findings({ ...LIVE, ...more })).toEqual([expect.stringMatching(why)])
  })
})

describe('secrets of Stripe', () => {
  it('are right when each has the prefix of its kind', () => {
    expect(findings(STRIPE)).toEqual(fine('stripe'))
    const two = `${STRIPE.STRIPE_WEBHOOK_SECRET} whsec_another-one-of-some-length`
    expect(findings({ ...STRIPE, STRIPE_WEBHOOK_SECRET: two })).toEqual(fine('stripe'))
  })

  it.each([
    [
      'swapped',
      {
        STRIPE_SECRET_KEY: STRIPE.STRIPE_WEBHOOK_SECRET,
        STRIPE_WEBHOOK_SECRET: STRIPE.STRIPE_SECRET_KEY,
      },
      /^error stripe: STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET are swapped/,
    ],
    ['a public key', { STRIPE_SECRET_KEY: 'pk_live_4eC39HqLyjWDar' }, /must begin with sk_ or rk_/],
    [
      'no signing secret',
      { STRIPE_WEBHOOK_SECRET: 'hunter2-hunter2-hunter2' },
      /begin with whsec_/,
    ],
    ['a short one', { STRIPE_WEBHOOK_SECRET: 'whsec_short' }, /too short/],
  ])('are wrong when they are %s', (_, more, why) => {
    expect(findings({ ...STRIPE, ...more })).toEqual([expect.stringMatching(why)])
  })
})

describe('keys and their gateways', () => {
  const TEST_KEY = { STRIPE_SECRET_KEY: 'sk_test_4eC39HqLyjWDarjtT1zdp7dc' }

  it('warns of a test key at the live gateway', () => {
    const why = /^warn stripe: STRIPE_SECRET_KEY is a test key: no real money moves/
    expect(findings({ ...STRIPE, ...TEST_KEY })).toEqual([expect.stringMatching(why)])
  })

  it('warns of a live key at a simulator', () => {
    const why = 'warn stripe: STRIPE_SECRET_KEY is a live key, but STRIPE_BASE_URL is this machine.'
    const here = { ...STRIPE, STRIPE_BASE_URL: 'http://127.0.0.1:9000' }
    expect(findings(here)).toEqual([why])
    expect(findings({ ...here, ...TEST_KEY })).toEqual(fine('stripe'))
  })

  it('warns if only some gateways use real money', () => {
    const mixture = (env: Record<string, string>) => mixtureOf(configuredGateways(FILE, env))
    expect(mixture({ ...LIVE, ...FIB, ...STRIPE })).toBeUndefined()
    expect(mixture({ ...REDIRECT, ...STRIPE, ...TEST_KEY })).toBeUndefined()
    expect(mixture({ ...FIB, ...STRIPE, FIB_BASE_URL: 'https://bank.example' })).toBeUndefined()
    expect(mixture({ ...FIB, ...STRIPE, FIB_BASE_URL: 'http://127.0.0.1:9000' })).toBe(
      'stripe uses real money, but fib does not.',
    )
    expect(mixture({ ...REDIRECT, ...STRIPE })).toBe(
      'stripe uses real money, but redirect does not.',
    )
  })
})
