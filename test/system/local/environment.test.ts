import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../../../cli/commands.ts'
import { OPTION_VARIABLES } from '../../../cli/settings.ts'
import { acme } from '../../../examples/worker/acme.ts'
import signalbox from '../../../signalbox.config.ts'
import {
  checkVariables,
  edgeVariables,
  ignoredSecrets,
  machineVariables,
  misspelt,
  OWN_VARIABLES,
  sidecarVariables,
  workerVariables,
} from '../../../system/local/environment.ts'
import { readConfig, readHostConfig } from '../../../worker/config.ts'
import { gatewayPrefixes } from '../../../worker/payments/config/payments-config.ts'

const ENV = {
  PATH: '/bin',
  HOME: '/home/me',
  STRIPE_SECRET_KEY: 'sk',
  REDIRECT_GATEWAY_API_KEY: 'rk',
  FIB_CLIENT_ID: 'f',
  PAYMENT_TOLERANCE_SECONDS: '300',
  ALLOWED_ORIGINS: '',
  AUTH_SECRETS: 'somebody else’s',
  AWS_SECRET_ACCESS_KEY: 'aws',
  SIGNALBOX_TOKEN: 'another board',
  SIGNALBOX_POLL: '1',
}

describe('the environment of each process', () => {
  it('passes the variables of gateways and payments to the Worker, and no others', () => {
    expect(workerVariables(ENV)).toEqual({
      STRIPE_SECRET_KEY: 'sk',
      REDIRECT_GATEWAY_API_KEY: 'rk',
      FIB_CLIENT_ID: 'f',
      PAYMENT_TOLERANCE_SECONDS: '300',
    })
  })

  it('passes each limit of the edge to the Worker', () => {
    const limits = {
      MAX_STREAMS: '1',
      SILENT_AFTER: '5m',
      MAX_PROCESS_STREAMS: '2',
      MAX_SUBJECT_STREAMS: '3',
      MAX_BOARDS: '4',
      MAX_OPEN_REPOSITORIES: '5',
      SILENCE_SECONDS: '6',
    }
    expect(workerVariables(limits)).toEqual(limits)
  })

  it('also passes those of gateways in the configuration', () => {
    const env = { SHOP_B_API_KEY: 'b', SHOP_C_API_KEY: 'c' }
    const gateways = {
      redirect: { driver: 'redirect' },
      'shop-b': { driver: 'redirect', env_prefix: 'SHOP_B_' },
      acme: { driver: 'acme' },
    }
    const prefixes = gatewayPrefixes({ payments: { gateways, drivers: { acme } } })
    expect(prefixes).toEqual(['REDIRECT_GATEWAY_', 'SHOP_B_', 'ACME_'])
    expect(workerVariables(env, prefixes)).toEqual({ SHOP_B_API_KEY: 'b' })
  })

  it('has gateways call back at the public origin, if one is set', () => {
    const places = { secret: 's'.repeat(43), edge: 'http://127.0.0.1:1', database: 'file:a' }
    const all = { ...places, simulator: 'http://127.0.0.1:2', databaseToken: '' }
    const callbacksOf = (env: Record<string, string>) =>
      edgeVariables(env, signalbox, all).PAYMENT_PUBLIC_URL
    expect(callbacksOf({})).toBe('http://127.0.0.1:1')
    const SIGNALBOX_PUBLIC_URL = 'https://edge.example'
    expect(callbacksOf({ SIGNALBOX_PUBLIC_URL })).toBe(SIGNALBOX_PUBLIC_URL)
    const PAYMENT_PUBLIC_URL = 'https://tunnel.example'
    expect(callbacksOf({ SIGNALBOX_PUBLIC_URL, PAYMENT_PUBLIC_URL })).toBe(PAYMENT_PUBLIC_URL)
  })

  it('passes no secret to the database, and no token of another board to the sidecar', () => {
    expect(machineVariables(ENV)).toEqual({ PATH: '/bin', HOME: '/home/me' })
    expect(sidecarVariables(ENV)).toEqual({ SIGNALBOX_POLL: '1' })
  })
})

describe('a broken configuration', () => {
  it('is refused before anything starts, with the message of the Worker', () => {
    const variables = { AUTH_SECRETS: 's'.repeat(43), ALLOWED_ORIGINS: 'example.org' }
    expect(() => checkVariables(variables, signalbox)).toThrow(/ALLOWED_ORIGINS is not a URL/)
    expect(() =>
      checkVariables({ ...variables, ALLOWED_ORIGINS: 'https://a.org' }, signalbox),
    ).not.toThrow()
  })

  it('with the keys of an issuer is refused without the name of the issuer', () => {
    const variables = { AUTH_SECRETS: 's'.repeat(43), AUTH_JWKS_URL: 'https://a.org/keys' }
    expect(() => checkVariables(variables, signalbox)).toThrow(/AUTH_JWKS_URL needs AUTH_ISSUER/)
    expect(() =>
      checkVariables({ ...variables, AUTH_ISSUER: 'https://a.org/' }, signalbox),
    ).not.toThrow()
  })

  it('with an incomplete gateway is refused, too', () => {
    const variables = { LIBSQL_URL: 'http://127.0.0.1:1', STRIPE_SECRET_KEY: 'sk_test_half' }
    expect(() => checkVariables(variables, signalbox)).toThrow(/STRIPE_WEBHOOK_SECRET is missing/)
  })
})

describe('AUTH_SECRETS', () => {
  it('is said to be of no use to a local system, which has its own', () => {
    expect(ignoredSecrets({ AUTH_SECRETS: 'x' })).toEqual([
      expect.stringMatching(/^AUTH_SECRETS is set and not used: .*local\.json\.$/),
    ])
    expect([ignoredSecrets({}), ignoredSecrets({ AUTH_SECRETS: '' })]).toEqual([[], []])
  })
})

const KNOWN = [...OWN_VARIABLES, ...OPTION_VARIABLES]

describe('a variable that is misspelt', () => {
  const meantBy = (name: string, file = signalbox) =>
    misspelt({ [name]: 'x' }, file, OPTION_VARIABLES).map(
      (it) => /: is (\w+) meant\?$/.exec(it)?.[1],
    )

  it.each([
    ['REDIRECT_GATEWAY_CLIENT_SECRTE', 'REDIRECT_GATEWAY_CLIENT_SECRET'],
    ['STRIPE_SECRET', 'STRIPE_SECRET_KEY'],
    ['AUTH_SECRET', 'AUTH_SECRETS'],
    ['AUTH_SECRETS_FIL', 'AUTH_SECRETS_FILE'],
    ['SIGNALBOX_REPOS', 'SIGNALBOX_REPO'],
  ])('is named beside the nearest one: %s', (name, nearest) => {
    expect(meantBy(name)).toEqual([nearest])
  })

  it('is none that is known, is near to none, is of another program, or is empty', () => {
    const ours = [...KNOWN, 'AUTH_SECRETS_FILE', 'STRIPE_SECRET_KEY_FILE', 'FIB_BASE_URL']
    const others = [
      'STRIPE_PUBLISHABLE_KEY',
      'AUTH_GOOGLE_ID',
      'PAYMENT_PROVIDER',
      'MY_AUTH_SECRET',
    ]
    for (const name of [...ours, ...others]) expect(meantBy(name)).toEqual([])
    expect(misspelt({ STRIPE_SECRET: '' }, signalbox, OPTION_VARIABLES)).toEqual([])
  })

  it('may be one of a gateway with a prefix of its own', () => {
    const gateways = { shop: { driver: 'fib', env_prefix: 'SHOP_' } }
    expect(meantBy('SHOP_CLIENT_IT', { payments: { gateways } })).toEqual(['SHOP_CLIENT_ID'])
    expect(meantBy('STRIPE_SECRET', { payments: { gateways } })).toEqual([])
  })

  it('is compared with all that the programs read', async () => {
    const read = new Set<string>()
    const given: Record<string, string> = {
      AUTH_SECRETS: 's'.repeat(43),
      LIBSQL_URL: 'http://127.0.0.1:1',
      METRICS_PORT: '1',
      FIB_CLIENT_ID: 'a',
      FIB_CLIENT_SECRET: 'b',
      FIB_BASE_URL: 'https://fib.example',
    }
    const get = (_: object, name: string) => {
      read.add(name)
      return given[name]
    }
    const env = new Proxy({}, { get })
    readHostConfig(env, 'node', readConfig(env, signalbox))
    const commands = await Promise.all(Object.values(COMMANDS).map(({ load }) => load?.()))
    const ofOptions = commands.flatMap((it) =>
      it?.command.options.flatMap(({ envVar }) => envVar ?? []),
    )
    const names = [...read].filter((name) => /^(AUTH|LIBSQL|METRICS|PAYMENT|SIGNALBOX)_/.test(name))
    expect(names.length).toBeGreaterThan(17)
    for (const name of [...names, ...ofOptions]) expect(KNOWN).toContain(name)
  })
})
