import { describe, expect, it } from 'vitest'
import { acme } from '../../examples/worker/acme.ts'
import { checkVariables } from '../../local/edge.ts'
import { machineVariables, sidecarVariables, workerVariables } from '../../local/environment.ts'
import signalbox from '../../signalbox.config.ts'
import { gatewayPrefixes } from '../../worker/payments/config.ts'

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
  it('passes the gateways’ variables to the Worker, and nothing else of ours', () => {
    expect(workerVariables(ENV)).toEqual({
      STRIPE_SECRET_KEY: 'sk',
      REDIRECT_GATEWAY_API_KEY: 'rk',
      FIB_CLIENT_ID: 'f',
      PAYMENT_TOLERANCE_SECONDS: '300',
    })
  })

  it('passes those of a gateway that is configured besides, too', () => {
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

  it('shows no secret to the database, and no other board’s token to the sidecar', () => {
    expect(machineVariables(ENV)).toEqual({ PATH: '/bin', HOME: '/home/me' })
    expect(sidecarVariables(ENV)).toEqual({ SIGNALBOX_POLL: '1' })
  })
})

describe('a broken configuration', () => {
  it('is refused before anything starts, in the words of the Worker', () => {
    const variables = { AUTH_SECRETS: 's'.repeat(43), ALLOWED_ORIGINS: 'example.org' }
    expect(() => checkVariables(variables, signalbox)).toThrow(/ALLOWED_ORIGINS is not a URL/)
    expect(() =>
      checkVariables({ ...variables, ALLOWED_ORIGINS: 'https://a.org' }, signalbox),
    ).not.toThrow()
  })

  it('of the keys of somebody else is refused without their name', () => {
    const variables = { AUTH_SECRETS: 's'.repeat(43), AUTH_JWKS_URL: 'https://a.org/keys' }
    expect(() => checkVariables(variables, signalbox)).toThrow(/AUTH_JWKS_URL needs AUTH_ISSUER/)
    expect(() =>
      checkVariables({ ...variables, AUTH_ISSUER: 'https://a.org/' }, signalbox),
    ).not.toThrow()
  })

  it('of a gateway that the environment names by half is refused just the same', () => {
    const variables = { LIBSQL_URL: 'http://127.0.0.1:1', STRIPE_SECRET_KEY: 'sk_test_half' }
    expect(() => checkVariables(variables, signalbox)).toThrow(/STRIPE_WEBHOOK_SECRET is missing/)
  })
})
