import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { greeting } from '../../../cli/greeting.ts'
import { acme } from '../../../examples/worker/acme.ts'
import signalbox from '../../../signalbox.config.ts'
import { checkVariables, edgeVariables } from '../../../system/local/environment.ts'
import {
  describeGateways,
  gatewaySecrets,
  gatewaysHere,
  simulatedCallback,
  simulatedGateways,
} from '../../../system/local/gateways.ts'
import { readConfig } from '../../../worker/config.ts'

const SIMULATOR = 'http://127.0.0.1:9'
const secrets = gatewaySecrets('s'.repeat(43))

describe('the secrets of simulated gateways', () => {
  it('are the same at every start with a data folder, and different in another', () => {
    expect(gatewaySecrets('s'.repeat(43))).toEqual(secrets)
    const all = [secrets, gatewaySecrets('t'.repeat(43))].flatMap((each) =>
      Object.values(each).flatMap(({ client_id, ...own }: Record<string, string>) =>
        Object.values(own),
      ),
    )
    expect(new Set(all).size).toBe(12)
    expect(all.every((secret) => secret.length >= 43)).toBe(true)
  })
})

describe('the gateways of a local system', () => {
  const modes = (given: Record<string, string>, file = signalbox) =>
    Object.fromEntries(gatewaysHere(file, given).map(({ key, mode }) => [key, mode]))
  const ALL_SIMULATED = {
    redirect: 'simulated',
    fib: 'simulated',
    stripe: 'simulated',
    mollie: 'simulated',
  }

  it('are all simulated if the environment has no credentials', () => {
    expect(modes({ PAYMENT_TOLERANCE_SECONDS: '60' })).toEqual(ALL_SIMULATED)
    const variables = simulatedGateways(secrets, SIMULATOR)
    expect(variables).toEqual({
      PAYMENT_SIMULATOR_URL: SIMULATOR,
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
      MOLLIE_BASE_URL: SIMULATOR,
      MOLLIE_API_KEY: secrets.mollie.api_key,
    })
    expect(describeGateways(variables)).toEqual({
      redirect: { api_key: secrets.redirect.api_key },
      fib: { client_id: 'signalbox-local' },
      stripe: { webhook_secret: secrets.stripe.webhook_secret },
    })
  })

  it.each(
    // biome-ignore format: several names a line.
    [
      'REDIRECT_GATEWAY_FAILURE_URL', 'REDIRECT_GATEWAY_SUCCESS_URL', 'REDIRECT_GATEWAY_LANG',
      'REDIRECT_GATEWAY_SERVICE_TYPE', 'REDIRECT_GATEWAY_SCOPE', 'STRIPE_CANCEL_URL',
      'STRIPE_SUCCESS_URL', 'FIB_EXPIRES_IN', 'FIB_REFUNDABLE_FOR',
    ],
  )('are simulated with %s, too', (name) => {
    expect(modes({ [name]: 'https://shop.example/' })).toEqual(ALL_SIMULATED)
  })

  it('are real with all of their credentials, each by itself', () => {
    const given = { STRIPE_SECRET_KEY: 'sk_test_a', STRIPE_WEBHOOK_SECRET: 'whsec_new whsec_old' }
    expect(modes(given)).toEqual({ ...ALL_SIMULATED, stripe: 'real' })
    expect(describeGateways(given)).toEqual({ stripe: { webhook_secret: 'whsec_new' } })
    const real = gatewaysHere(signalbox, given).find(({ key }) => key === 'stripe')
    expect(real).toMatchObject({ url: 'https://api.stripe.com', missing: [], unused: [] })
  })

  it('are missing with a part of them, which is named', () => {
    const given = { REDIRECT_GATEWAY_API_KEY: 'key', REDIRECT_GATEWAY_LANG: 'ar' }
    expect(gatewaysHere(signalbox, given)[0]).toEqual({
      key: 'redirect',
      driver: 'redirect',
      mode: 'missing',
      url: 'https://pg-api-uat.zaincash.iq',
      missing: ['REDIRECT_GATEWAY_CLIENT_ID', 'REDIRECT_GATEWAY_CLIENT_SECRET'],
      unused: ['REDIRECT_GATEWAY_API_KEY'],
    })
  })

  it('have no address of their own without credentials, and say so', () => {
    const given = { FIB_BASE_URL: 'https://fib.stage.fib.iq' }
    const { mode, unused } = gatewaysHere(signalbox, given)[1] ?? {}
    expect([mode, unused]).toEqual(['simulated', ['FIB_BASE_URL']])
  })

  it('are not simulated under another prefix, at another address, or by a driver of one’s own', () => {
    const file = (entry: { driver: string; [setting: string]: string }, drivers = {}) => ({
      payments: { gateways: { shop: entry }, drivers },
    })
    const prefixed = file({ driver: 'redirect', env_prefix: 'SHOP_B_' })
    expect(modes({}, prefixed)).toEqual({ shop: 'missing' })
    expect(gatewaysHere(prefixed, {})[0]?.missing).toContain('SHOP_B_API_KEY')
    expect(modes({}, file({ driver: 'stripe', base_url: 'https://a.test' }))).toEqual({
      shop: 'missing',
    })
    expect(modes({}, file({ driver: 'acme' }, { acme }))).toEqual({ shop: 'missing' })
    expect(modes({}, file({ driver: 'stripe' }, { stripe: acme }))).toEqual({ shop: 'missing' })
    const own = file({ driver: 'stripe' })
    expect(modes({}, own)).toEqual({ shop: 'simulated' })
    const callback = simulatedCallback('http://edge.test', own, gatewaysHere(own, {}))
    expect(callback('stripe')).toBe('http://edge.test/payments/webhooks/shop')
    expect(callback('redirect')).toBe('http://edge.test/payments/webhooks/redirect')
  })
})

describe('the edge of a local system', () => {
  const places = {
    secret: 's'.repeat(43),
    edge: 'http://127.0.0.1:1',
    database: 'file:a',
    databaseToken: '',
    simulator: SIMULATOR,
  }
  const edge = (env: Record<string, string>) => edgeVariables(env, signalbox, places)

  it('has the optional variables of a simulated gateway, but the address of the simulator', () => {
    const given = {
      REDIRECT_GATEWAY_FAILURE_URL: 'https://shop.example/no',
      REDIRECT_GATEWAY_BASE_URL: 'https://pg-api.example',
    }
    expect(edge(given)).toMatchObject({
      REDIRECT_GATEWAY_FAILURE_URL: 'https://shop.example/no',
      REDIRECT_GATEWAY_BASE_URL: SIMULATOR,
      REDIRECT_GATEWAY_API_KEY: secrets.redirect.api_key,
    })
  })

  it('starts without a gateway that has a part of its credentials, and with all others', () => {
    const variables = edge({ STRIPE_SECRET_KEY: 'sk_test_half', STRIPE_CANCEL_URL: 'https://a.b/' })
    expect(Object.keys(variables).filter((name) => name.startsWith('STRIPE_'))).toEqual([
      'STRIPE_CANCEL_URL',
    ])
    expect(() => checkVariables(variables, signalbox, { embeds: true })).not.toThrow()
    const { payments } = readConfig(variables, signalbox, { embeds: true })
    expect([...(payments?.gateways.keys() ?? [])]).toEqual(['redirect', 'fib', 'mollie'])
  })
})

const greetingWith = (given: Record<string, string>): string =>
  greeting({
    boards: [{ path: '/b', dir: '/b', layout: 'cairn' }],
    dataDir: '/b/.signalbox',
    trustsData: false,
    host: 'node',
    link: '',
    isExample: false,
    cwd: '/b',
    gateways: gatewaysHere(signalbox, given),
    local: {
      url: 'http://127.0.0.1:1',
      path: '/b',
      boards: [],
      database: 'file:a',
      databaseToken: '',
      simulator: SIMULATOR,
      tokens: { board: '', sidecar: '', payments: '' },
      gateways: {},
    },
  })

it('the greeting offers a charge to try only at a simulated gateway', () => {
  const [, data = ''] = /\n +-d (.*)\n/.exec(greetingWith({})) ?? []
  const body = execFileSync('/bin/sh', ['-c', `printf %s ${data}`], { encoding: 'utf8' })
  // A new one for each time that it is typed: a paid order is not charged again.
  const order = { reference: expect.stringMatching(/^order-\d{10}$/), amount: 25_000 }
  expect(JSON.parse(body)).toMatchObject({ gateway: 'redirect', ...order })
  const real = Object.fromEntries(
    ['CLIENT_ID', 'CLIENT_SECRET', 'API_KEY'].map((name) => [`REDIRECT_GATEWAY_${name}`, name]),
  )
  const text = greetingWith(real)
  expect(text).toContain('redirect: real')
  expect(text).not.toContain('/api/payments/charges')
})

it('the greeting says of each gateway whether it is real, simulated or left out', () => {
  const text = greetingWith({
    STRIPE_SECRET_KEY: 'sk_test_a',
    STRIPE_WEBHOOK_SECRET: 'whsec_a',
    FIB_CLIENT_ID: 'shop',
    REDIRECT_GATEWAY_BASE_URL: 'https://a.test',
  })
  expect(text).toContain(`
gateways    redirect: simulated (${SIMULATOR}); REDIRECT_GATEWAY_BASE_URL has no effect without REDIRECT_GATEWAY_CLIENT_ID, REDIRECT_GATEWAY_CLIENT_SECRET, REDIRECT_GATEWAY_API_KEY
            fib: left out (missing: FIB_CLIENT_SECRET)
            stripe: real (https://api.stripe.com)
            mollie: simulated (${SIMULATOR})
`)
})
