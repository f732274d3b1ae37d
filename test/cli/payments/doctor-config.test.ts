import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SignalboxFile } from '../../../worker/payments/define-config.ts'
import type { TestServer } from '../../support/http.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { diagnose, FIB, fakeGateway, grants, REDIRECT, run, STRIPE } from './fake-system.ts'

const WHSEC = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

let gateway: TestServer
let base: Record<string, string>

beforeAll(async () => {
  gateway = await fakeGateway({
    '/oauth2/token': grants(
      REDIRECT.REDIRECT_GATEWAY_CLIENT_ID,
      REDIRECT.REDIRECT_GATEWAY_CLIENT_SECRET,
    ),
    '/auth/realms/fib-online-shop/protocol/openid-connect/token': grants(
      FIB.FIB_CLIENT_ID,
      FIB.FIB_CLIENT_SECRET,
    ),
    '/v1/checkout/sessions': () => Response.json({ data: [] }),
  })
  const { url } = gateway
  base = {
    REDIRECT_GATEWAY_BASE_URL: url,
    FIB_BASE_URL: url,
    STRIPE_BASE_URL: url,
    AUTH_SECRETS: 'a-secret-for-tests-of-32-bytes-or-more',
    // Nobody listens there, which is the database's own test to say more about.
    LIBSQL_URL: gateway.url,
  }
})

afterAll(() => gateway.close())

const withoutBase = (env: Record<string, string>) => ({
  LIBSQL_URL: gateway.url,
  AUTH_SECRETS: base.AUTH_SECRETS,
  ...env,
})

describe('the configuration', () => {
  it('is reported for each gateway: configured, left out, or incomplete with what is missing', async () => {
    const { FIB_CLIENT_SECRET: _, ...half } = FIB
    const { code, findings } = await diagnose('', { ...base, ...REDIRECT, ...half })
    expect(code).toBe(1)
    expect(findings).toContain('ok redirect: It is configured (driver redirect).')
    expect(findings).toContain(
      'error fib: It is incomplete: FIB_CLIENT_ID is set, FIB_CLIENT_SECRET is missing.',
    )
    expect(findings).toContain(
      'warn stripe: It is left out: none of STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET is set, ' +
        'though STRIPE_BASE_URL is.',
    )
    // Each fault once.
    expect(findings.filter((finding) => finding.includes('FIB_CLIENT_SECRET'))).toHaveLength(1)
  })

  it('of an unused gateway is not an error', async () => {
    const { findings } = await diagnose('', withoutBase({ ...REDIRECT, ...base }))
    const left = 'ok fib: It is left out: none of FIB_CLIENT_ID, FIB_CLIENT_SECRET is set'
    expect(findings.some((finding) => finding.replace('warn', 'ok').startsWith(left))).toBe(true)
    expect(findings.filter((finding) => finding.startsWith('error fib'))).toEqual([])
  })

  it('names a missing database, and variables that belong to no gateway', async () => {
    const env = {
      ...base,
      LIBSQL_URL: '',
      ...REDIRECT,
      PAYMENT_TOLERANCE_SECONDS: 'long',
      PAYMENT_ON_AMOUNT_MISMATCH: 'shrug',
    }
    const { code, findings } = await diagnose('', env)
    expect(code).toBe(1)
    for (const name of ['LIBSQL_URL', 'PAYMENT_TOLERANCE_SECONDS', 'PAYMENT_ON_AMOUNT_MISMATCH']) {
      const about = findings.filter((finding) => finding.includes(name))
      expect(about).toHaveLength(1)
      expect(about[0]).toMatch(/^error config:/)
    }
  })

  it('is an error when it is empty', async () => {
    const { code, findings } = await diagnose('', {})
    expect(code).toBe(1)
    expect(findings.join()).toContain('has no payments')
  })

  it('warns if no access token can be valid', async () => {
    const text = 'AUTH_JWKS_URL'
    const { AUTH_SECRETS: _, ...without } = base
    expect((await diagnose('', { ...without, ...REDIRECT })).findings.join()).toContain(text)
    expect((await diagnose('', { ...base, ...REDIRECT })).findings.join()).not.toContain(text)
  })

  it('names what is missing beside AUTH_JWKS_URL', async () => {
    const env = { ...base, ...REDIRECT, AUTH_JWKS_URL: 'https://issuer.test/keys' }
    const { code, findings } = await diagnose('', env)
    expect(code).toBe(1)
    expect(findings.join()).toContain('AUTH_JWKS_URL needs AUTH_ISSUER')
    const whole = await diagnose('', { ...env, AUTH_ISSUER: 'https://issuer.test/' })
    expect(whole.findings.join()).not.toMatch(/\bAUTH_/)
  })

  it('names a gateway with an unknown driver', async () => {
    const file: SignalboxFile = { payments: { gateways: { shop: { driver: 'paypal' } } } }
    const { code, findings } = await diagnose('', base, file)
    expect(code).toBe(1)
    expect(findings.join()).toContain('there is no driver paypal')
  })

  it('names what is wrong of a gateway once, with its key', async () => {
    const wrong = async (gateways: Record<string, object>) => {
      const file = { payments: { gateways } } as SignalboxFile
      const env = { ...base, ...FIB, FIB_BASE_URL: 'http://bank.example' }
      const { findings } = await diagnose('', env, file)
      return findings.filter((it) => /^error (config: payments|fib)/.test(it))
    }
    expect(await wrong({ fib: { driver: 'fib', colour: 'red' }, 'a b': { driver: 'x' } })).toEqual([
      'error fib: It cannot be used: fib has no setting colour; ' +
        'payments.gateways.fib (FIB_*): base_url must be https, or on this machine.',
      'error config: payments.gateways.a b: a key may have only letters, digits, - and _.',
      'error config: payments.gateways.a b: there is no driver x.',
    ])
    expect(await wrong({ fib: { driver: 'fib', scope: 7 }, b: [] })).toEqual([
      'error fib: It cannot be used: payments.gateways.fib.scope must be a text.',
      'error config: payments.gateways.b must be an object.',
    ])
  })

  it('warns of a public address that live gateways cannot reach', async () => {
    const env = { ...REDIRECT, ...base, PAYMENT_PUBLIC_URL: 'http://127.0.0.1:8787' }
    expect((await diagnose('', env)).findings.join()).not.toContain('PAYMENT_PUBLIC_URL')
    const away = { ...env, REDIRECT_GATEWAY_BASE_URL: 'https://gateway.invalid' }
    expect((await diagnose('', away)).findings.join()).toContain(
      'http://127.0.0.1:8787, which is this machine: redirect cannot reach it.',
    )
  })
})

describe('events', () => {
  const events = async (more: Record<string, string>) =>
    (await diagnose('', { ...base, ...REDIRECT, ...more })).findings.filter((it) =>
      /PAYMENT_EVENTS|events:/.test(it),
    )

  it('need a secret of the standard’s form', async () => {
    const PAYMENT_EVENTS_URL = 'https://shop.example/events'
    expect(
      await events({ PAYMENT_EVENTS_URL, PAYMENT_EVENTS_SECRET: `${WHSEC} ${WHSEC}` }),
    ).toEqual(['ok events: They are sent to https://shop.example, signed with 2 secret(s).'])
    for (const secret of ['', 'hunter2-hunter2', 'whsec_c2hvcnQ=']) {
      const found = await events({ PAYMENT_EVENTS_URL, PAYMENT_EVENTS_SECRET: secret })
      expect(found).toHaveLength(1)
      expect(found[0]).toMatch(/^error config: PAYMENT_EVENTS_SECRET/)
    }
  })

  it('are the named ones, and an unknown name is an error', async () => {
    const sent = { PAYMENT_EVENTS_URL: 'https://shop.example', PAYMENT_EVENTS_SECRET: WHSEC }
    const named = { ...sent, PAYMENT_EVENTS_TYPES: 'PaymentSucceeded, CircuitOpened' }
    expect(await events(named)).toEqual([
      expect.stringMatching(/^ok events: .* Only PaymentSucceeded, CircuitOpened\.$/),
    ])
    const [fault] = await events({ ...sent, PAYMENT_EVENTS_TYPES: 'PaymentSuceeded' })
    expect(fault).toBe('error config: PAYMENT_EVENTS_TYPES: there is no event PaymentSuceeded.')
  })

  it('are a warning with a secret and no URL', async () => {
    expect(await events({})).toEqual([])
    expect(await events({ PAYMENT_EVENTS_SECRET: WHSEC })).toEqual([
      expect.stringMatching(/^warn events: .*PAYMENT_EVENTS_URL is not/),
    ])
    expect(await events({ PAYMENT_EVENTS_TYPES: 'PaymentFailed' })).toEqual([
      expect.stringMatching(/^warn events: PAYMENT_EVENTS_TYPES is set/),
    ])
  })
})

describe('the sources of variables', () => {
  it('include an env file instead of the environment', async () => {
    const dir = tempFolder()
    const file = join(dir, '.dev.vars')
    const lines = Object.entries({ ...base, ...REDIRECT }).map(([k, v]) => `${k}="${v}"`)
    await writeFile(file, lines.join('\n'), { mode: 0o600 })
    const { findings } = await diagnose(`--env ${file}`, { ...FIB })
    expect(findings).toContain('ok redirect: It is configured (driver redirect).')
    expect(findings.join()).not.toContain('ok fib: It is configured')
  })

  it('are warned of where one is misspelt', async () => {
    const { findings } = await diagnose('', { ...base, ...FIB, STRIPE_SECRET: 'sk_test_1' })
    expect(findings).toContain(
      'warn config: STRIPE_SECRET is set, and nothing here reads it: is STRIPE_SECRET_KEY meant?',
    )
  })

  it('exit with 2 for a missing file, or a folder in which nothing runs', async () => {
    expect((await run('payments doctor --env /nowhere')).code).toBe(2)
    expect((await run('payments doctor --token-file /nowhere')).code).toBe(2)
    expect((await run('payments doctor --data /nowhere')).code).toBe(2)
  })
})

it('prints one line for each check, and no secret in any of them', async () => {
  const { out } = await run('payments doctor', { ...base, ...REDIRECT, ...FIB, ...STRIPE })
  expect(out.trim().split('\n').length).toBeGreaterThan(8)
  for (const line of out.trim().split('\n')) expect(line).toMatch(/^(ok|warn|error) +\w+ +\S.*\.$/)
})
