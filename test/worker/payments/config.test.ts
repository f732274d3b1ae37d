import { describe, expect, it } from 'vitest'
import { readConfig } from '../../../worker/config.ts'
import { configuredGateways } from '../../../worker/payments/config/gateway-settings.ts'
import { gatewayPrefixes } from '../../../worker/payments/config/payments-config.ts'
import { defineConfig, type SignalboxFile } from '../../../worker/payments/define-config.ts'
import { EVENT_NAMES } from '../../../worker/payments/domain/status.ts'

const WHSEC = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const REDIRECT = {
  REDIRECT_GATEWAY_CLIENT_ID: 'shop',
  REDIRECT_GATEWAY_CLIENT_SECRET: 'a-client-secret-of-some-length',
  REDIRECT_GATEWAY_API_KEY: 'an-api-key-of-some-length-too',
}
const DATABASE = { LIBSQL_URL: 'http://127.0.0.1:8080' }
const file = (payments: SignalboxFile['payments'] = {}) =>
  defineConfig({
    payments: { gateways: { redirect: { driver: 'redirect' } }, ...payments },
  })

function faultOf(env: Record<string, string>, config: SignalboxFile): string {
  try {
    readConfig(env, config)
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('it was taken')
}

describe('the configuration of payments', () => {
  it('is undefined when neither a gateway nor a database is configured', () => {
    expect(readConfig({}, file()).payments).toBeUndefined()
    expect(readConfig({}).payments).toBeUndefined()
  })

  it('has the contract’s defaults', () => {
    const { payments } = readConfig({ ...DATABASE, ...REDIRECT }, file())
    expect(payments).toMatchObject({
      routePrefix: 'payments/webhooks',
      toleranceMs: 300_000,
      operations: { onMismatch: 'log' },
      endpoint: undefined,
      publicUrl: undefined,
    })
    expect(payments?.middleware).toHaveLength(1)
    expect([...(payments?.gateways.keys() ?? [])]).toEqual(['redirect'])
  })

  it('reads tolerance and mismatch policy from the file first, then from the environment', () => {
    const env = {
      ...DATABASE,
      ...REDIRECT,
      PAYMENT_TOLERANCE_SECONDS: '60',
      PAYMENT_ON_AMOUNT_MISMATCH: 'reject',
    }
    expect(readConfig(env, file()).payments).toMatchObject({
      toleranceMs: 60_000,
      operations: { onMismatch: 'reject' },
    })
    const own = file({ webhooks: { tolerance_seconds: 30, on_amount_mismatch: 'log' } })
    expect(readConfig(env, own).payments).toMatchObject({
      toleranceMs: 30_000,
      operations: { onMismatch: 'log' },
    })
  })

  it('names each setting that there is not', () => {
    const misspelled = {
      payment: {},
      payments: { gatways: {}, toString: {}, webhooks: { tolerance: 60 } },
    } as SignalboxFile
    const faults = faultOf({}, misspelled)
    expect(faults).toBe(
      'signalbox.config.ts: there is no setting payment; payments: there is no setting gatways; ' +
        'payments: there is no setting toString; payments.webhooks: there is no setting tolerance.',
    )
  })

  it('names each part of the file that is no object', () => {
    const faults = (payments: unknown) => faultOf({}, { payments } as SignalboxFile)
    expect(faults(null)).toBe('payments must be an object.')
    expect(faults({ webhooks: null, gateways: { bank: null }, references: 'shared' })).toBe(
      'payments.webhooks must be an object; payments.gateways.bank must be an object.',
    )
    expect(faults({ gateways: { bank: { driver: 'fib', expires_in: 3_600 } } })).toBe(
      'payments.gateways.bank.expires_in must be a text.',
    )
    expect(faults({ webhooks: { middleware: 'api', route_prefix: 5 } })).toBe(
      'payments.webhooks.route_prefix must be a text; payments.webhooks.middleware must be a list.',
    )
  })

  it('leaves what is no gateway out of what is looked for before the file is read', () => {
    const gateways = { bank: null, shop: { driver: 'redirect' } } as object
    const own = { payments: { gateways } } as SignalboxFile
    expect(gatewayPrefixes(own)).toEqual(['REDIRECT_GATEWAY_'])
    expect(configuredGateways(own, {}).map(({ key }) => key)).toEqual(['shop'])
  })

  it('takes a reference for one order at all gateways, unless the shops number alike', () => {
    const read = (own: object) => readConfig({ ...DATABASE, ...REDIRECT }, file(own))
    expect(read({}).payments?.rules.references).toBe('shared')
    expect(read({ references: 'per-gateway' }).payments?.rules.references).toBe('per-gateway')
    expect(() => read({ references: 'alike' })).toThrow(
      'payments.references must be shared or per-gateway',
    )
  })

  it('leaves out a gateway without any required setting', () => {
    const config = file({ gateways: { redirect: { driver: 'redirect' }, fib: { driver: 'fib' } } })
    const { payments } = readConfig({ ...DATABASE, ...REDIRECT }, config)
    expect([...(payments?.gateways.keys() ?? [])]).toEqual(['redirect'])
  })

  it('knows the driver of each gateway, and which are simulated: loopback may be a tunnel', () => {
    const config = file({
      gateways: {
        simulated: { driver: 'redirect', base_url: 'http://127.0.0.1:8799/' },
        tunnel: { driver: 'redirect', base_url: 'http://127.0.0.1:8800' },
        bank: { driver: 'redirect' },
      },
    })
    const accounts = (more: Record<string, string>) => {
      const { payments } = readConfig({ ...DATABASE, ...REDIRECT, ...more }, config)
      return Object.fromEntries(payments?.accounts ?? [])
    }
    const local = { driver: 'redirect', isLocal: true }
    const real = { driver: 'redirect', isLocal: false }
    expect(accounts({})).toEqual({ simulated: real, tunnel: real, bank: real })
    const simulator = { PAYMENT_SIMULATOR_URL: 'http://127.0.0.1:8799' }
    expect(accounts(simulator)).toEqual({ simulated: local, tunnel: real, bank: real })
  })

  it('refuses plain http to a gateway or an endpoint of another machine', () => {
    const config = file({
      gateways: { far: { driver: 'redirect', base_url: 'http://pg.example' } },
    })
    expect(faultOf({ ...DATABASE, ...REDIRECT }, config)).toContain(
      'payments.gateways.far (REDIRECT_GATEWAY_*): base_url must be https',
    )
    const events = { ...DATABASE, PAYMENT_EVENTS_SECRET: WHSEC }
    const urlFault = (url: string) => faultOf({ ...events, PAYMENT_EVENTS_URL: url }, file())
    expect(urlFault('http://shop.example/events')).toContain('PAYMENT_EVENTS_URL must be https')
    expect(urlFault('localhost:3000')).not.toContain('must be https')
    const here = { ...events, PAYMENT_EVENTS_URL: 'http://127.0.0.1:3000/events?key=s3cret' }
    expect(readConfig(here, file()).payments?.endpoint?.url).toContain('?key=')
    for (const user of ['ann@', 'ann:s3cret@', ':s3cret@']) {
      const fault = urlFault(`https://${user}shop.example/events`)
      expect(fault).toContain('PAYMENT_EVENTS_URL must not have a user')
      expect(fault).not.toContain('s3cret')
    }
  })

  it('supports several gateways with one driver', () => {
    const config = file({
      gateways: {
        redirect: { driver: 'redirect' },
        'shop-b': { driver: 'redirect', env_prefix: 'SHOP_B_' },
        'shop-c': { driver: 'redirect', client_id: 'c', client_secret: 's', api_key: 'k' },
      },
    })
    const shopB = { SHOP_B_CLIENT_ID: 'b', SHOP_B_CLIENT_SECRET: 'x', SHOP_B_API_KEY: 'y' }
    const { payments } = readConfig({ ...DATABASE, ...REDIRECT, ...shopB }, config)
    expect([...(payments?.gateways.keys() ?? [])]).toEqual(['redirect', 'shop-b', 'shop-c'])
    expect(payments?.gateways.get('shop-b')?.key).toBe('shop-b')
  })

  it('names everything that is missing or malformed in one error', () => {
    const env = {
      REDIRECT_GATEWAY_CLIENT_ID: 'shop',
      PAYMENT_TOLERANCE_SECONDS: 'soon',
      PAYMENT_ON_AMOUNT_MISMATCH: 'shrug',
      PAYMENT_EVENTS_URL: 'https://shop.example/events',
      PAYMENT_PUBLIC_URL: 'ftp://edge.example',
      MAX_STREAMS: 'many',
    }
    const config = file({
      gateways: { redirect: { driver: 'redirect' }, other: { driver: 'carrier-pigeon' } },
      webhooks: { middleware: ['api', 'nope'], route_prefix: 'api/hooks' },
    })
    const fault = faultOf({ ...env, LIBSQL_URL: 'file:money.db' }, config)
    for (const named of [
      'REDIRECT_GATEWAY_CLIENT_SECRET',
      'REDIRECT_GATEWAY_API_KEY',
      'PAYMENT_TOLERANCE_SECONDS',
      'PAYMENT_ON_AMOUNT_MISMATCH',
      'PAYMENT_EVENTS_SECRET',
      'PAYMENT_PUBLIC_URL',
      'LIBSQL_URL',
      'MAX_STREAMS',
      'carrier-pigeon',
      'nope',
      'route_prefix',
    ]) {
      expect(fault).toContain(named)
    }
  })

  it('has callbacks come to the edge’s origin, unless gateways reach it elsewhere', () => {
    const urlOf = (env: Record<string, string>) =>
      readConfig({ ...DATABASE, ...env }, file()).payments?.publicUrl
    const own = { SIGNALBOX_PUBLIC_URL: 'https://edge.example' }
    expect(urlOf({})).toBeUndefined()
    expect(urlOf(own)).toBe('https://edge.example')
    const tunnel = { PAYMENT_PUBLIC_URL: 'https://tunnel.example/edge/' }
    expect(urlOf({ ...own, ...tunnel })).toBe('https://tunnel.example/edge')
  })

  it('requires a database when a gateway is configured', () => {
    expect(faultOf(REDIRECT, file())).toContain('LIBSQL_URL is missing')
  })

  it('refuses an invalid signing secret without showing it', () => {
    const env = { ...DATABASE, PAYMENT_EVENTS_URL: 'https://shop.example' }
    const fault = faultOf({ ...env, PAYMENT_EVENTS_SECRET: `${WHSEC} hunter2` }, file())
    expect(fault).toContain('PAYMENT_EVENTS_SECRET')
    expect(fault).not.toContain('hunter2')
    const { payments } = readConfig({ ...env, PAYMENT_EVENTS_SECRET: `${WHSEC} ${WHSEC}` }, file())
    expect(payments?.endpoint?.secrets).toHaveLength(2)
  })

  it('reads the events that an endpoint wants, and refuses unknown names', () => {
    const env = { ...DATABASE, PAYMENT_EVENTS_URL: 'https://shop.example' }
    const types = (names: string) => {
      const named = { ...env, PAYMENT_EVENTS_SECRET: WHSEC, PAYMENT_EVENTS_TYPES: names }
      return readConfig(named, file()).payments?.endpoint?.types
    }
    expect(types(' PaymentSucceeded,PaymentRefunded  CircuitOpened, ')).toEqual(
      new Set(['PaymentSucceeded', 'PaymentRefunded', 'CircuitOpened']),
    )
    expect(types(EVENT_NAMES.join(' '))).toEqual(new Set(EVENT_NAMES))
    expect(types('RefundAmountChanged')).toEqual(new Set(['RefundAmountChanged']))
    expect(types('')).toBeUndefined()
    const wrong = { ...env, PAYMENT_EVENTS_SECRET: WHSEC, PAYMENT_EVENTS_TYPES: 'PaymentSuceeded' }
    expect(faultOf(wrong, file())).toContain('PAYMENT_EVENTS_TYPES: there is no event PaymentSuc')
  })

  it('keeps the keys of events for ever, or for a whole number of days above 90', () => {
    const kept = (days: string) =>
      readConfig({ ...DATABASE, ...REDIRECT, PAYMENT_EVENT_KEYS_DAYS: days }, file()).payments
        ?.eventKeysMs
    expect(readConfig({ ...DATABASE, ...REDIRECT }, file()).payments?.eventKeysMs).toBeUndefined()
    expect(['', '91', '99999'].map(kept)).toEqual([undefined, 91 * 86_400_000, 99_999 * 86_400_000])
    for (const days of ['0', '90', '-1', '91.5', '1e3', 'a year', '100000']) {
      const env = { ...DATABASE, ...REDIRECT, PAYMENT_EVENT_KEYS_DAYS: days }
      expect(faultOf(env, file()), days).toContain('must be a whole number of days above 90')
    }
  })

  it('refuses a listener of an unknown event, and a setting that the driver does not have', () => {
    const config = file({
      gateways: { redirect: { driver: 'redirect', colour: 'red' } },
      listeners: { PaymentSuceeded: () => undefined } as object,
    })
    const fault = faultOf({ ...DATABASE, ...REDIRECT }, config)
    expect(fault).toContain('PaymentSuceeded')
    expect(fault).toContain('colour')
  })
})
