import { afterEach, describe, expect, it } from 'vitest'
import type { TestServer } from '../../support/http.ts'
import { diagnose, FIB, fakeGateway, grants, REDIRECT, STRIPE } from './fake-system.ts'

const { REDIRECT_GATEWAY_CLIENT_ID: ID, REDIRECT_GATEWAY_CLIENT_SECRET: SECRET } = REDIRECT
const NAMES = 'REDIRECT_GATEWAY_CLIENT_ID and REDIRECT_GATEWAY_CLIENT_SECRET'
const TOKEN = '/oauth2/token'

const open: TestServer[] = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

type Answers = Parameters<typeof fakeGateway>[0]

/** What was found of one gateway by asking it. */
async function asked(answers: Answers, env: Record<string, string>, key: string) {
  const server = await fakeGateway(answers)
  open.push(server)
  const { url } = server
  const names = ['REDIRECT_GATEWAY', 'FIB', 'STRIPE', 'MOLLIE']
  const urls = Object.fromEntries(names.map((name) => [`${name}_BASE_URL`, url]))
  const { findings } = await diagnose('', { LIBSQL_URL: url, ...urls, ...env })
  return findings
    .filter((finding) => finding.includes(` ${key}: `))
    .filter((finding) => !/configured|secrets are|live one/.test(finding))
    .map((finding) => finding.replace(url, 'URL'))
}

describe('the redirect gateway', () => {
  const redirect = (answers: Answers, more: Record<string, string> = {}) =>
    asked(answers, { ...REDIRECT, ...more }, 'redirect')

  it('answers and gives a token', async () => {
    expect(await redirect({ [TOKEN]: grants(ID, SECRET) })).toEqual([
      'ok redirect: URL answers.',
      `ok redirect: It gives an access token for ${NAMES}.`,
    ])
  })

  it('refuses wrong credentials', async () => {
    expect(await redirect({ [TOKEN]: grants(ID, 'another') })).toContain(
      `error redirect: It refuses ${NAMES} (401 invalid_client).`,
    )
  })

  it('refuses the scope, which is neither the id nor the secret', async () => {
    const refuses = () => Response.json({ error: 'invalid_scope' }, { status: 400 })
    expect(await redirect({ [TOKEN]: refuses })).toContain(
      'error redirect: It gives no token for the scope of REDIRECT_GATEWAY_SCOPE ' +
        '(400 invalid_scope).',
    )
  })

  it('shows that client secret and API key are swapped, by accepting the other', async () => {
    const { REDIRECT_GATEWAY_API_KEY: key } = REDIRECT
    expect(await redirect({ [TOKEN]: grants(ID, key) })).toContain(
      'error redirect: REDIRECT_GATEWAY_CLIENT_SECRET and REDIRECT_GATEWAY_API_KEY are swapped: ' +
        'it accepts the latter.',
    )
  })

  it('is not found at a wrong address', async () => {
    expect(await redirect({})).toContain(
      'error redirect: It has no token endpoint (404): is REDIRECT_GATEWAY_BASE_URL right?',
    )
    const page = () => new Response('<html>Welcome</html>')
    expect((await redirect({ [TOKEN]: page })).join()).toContain('answers 200 without a token')
  })

  it('is a warning while it fails, since the configuration may be right', async () => {
    const failing = () => new Response('<html>', { status: 503 })
    expect(await redirect({ '/': failing })).toEqual([
      'warn redirect: URL answers with 503: it is failing.',
    ])
    expect((await redirect({ [TOKEN]: failing })).join()).toContain('warn redirect: Its token')
  })

  it('cannot refund without the scope for it', async () => {
    const scope = { REDIRECT_GATEWAY_SCOPE: 'payment:read payment:write' }
    expect((await redirect({ [TOKEN]: grants(ID, SECRET) }, scope)).join()).toMatch(
      /warn redirect: .*reverse:write/,
    )
  })

  it.each([
    [
      'payment:read',
      'warn',
      'without payment:write reverse:write, which REDIRECT_GATEWAY_SCOPE has',
    ],
    ['', 'warn', 'without payment:read payment:write reverse:write, which'],
    ['reverse:write payment:write payment:read other', 'ok', `for ${NAMES}`],
  ])('that grants the scope "%s" is told as %s', async (scope, level, sentence) => {
    const granted = () => Response.json({ access_token: 'abc', scope })
    const found = await redirect({ [TOKEN]: granted })
    expect(found[1]).toContain(`${level} redirect: It gives an access token ${sentence}`)
  })

  it('is an error when it does not answer', async () => {
    const server = await fakeGateway({})
    await server.close()
    const env = { ...REDIRECT, LIBSQL_URL: server.url, REDIRECT_GATEWAY_BASE_URL: server.url }
    const { code, findings } = await diagnose('', env)
    expect(code).toBe(1)
    expect(findings).toContain(`error redirect: ${server.url} does not answer: ECONNREFUSED.`)
  })
})

describe('other gateways', () => {
  it('the bank gives a token, or refuses', async () => {
    const path = '/auth/realms/fib-online-shop/protocol/openid-connect/token'
    const { FIB_CLIENT_ID: id, FIB_CLIENT_SECRET: secret } = FIB
    expect((await asked({ [path]: grants(id, secret) }, FIB, 'fib')).join()).toContain('ok fib: It')
    expect((await asked({ [path]: grants(id, 'other') }, FIB, 'fib')).join()).toContain(
      'error fib: It refuses FIB_CLIENT_ID and FIB_CLIENT_SECRET (401 invalid_client).',
    )
  })

  it.each([
    [200, 'ok stripe: Stripe accepts STRIPE_SECRET_KEY.'],
    [401, 'error stripe: Stripe refuses STRIPE_SECRET_KEY (401).'],
    [403, 'error stripe: STRIPE_SECRET_KEY is restricted: it cannot read checkout sessions (403).'],
    [404, 'warn stripe: This may not be Stripe: it answers 404.'],
  ])('a %i of Stripe’s is told as %s', async (status, sentence) => {
    const sessions = (_: URLSearchParams, request: Request) =>
      Response.json(
        {},
        { status: request.headers.get('authorization')?.startsWith('Bearer sk_') ? status : 418 },
      )
    expect(await asked({ '/v1/checkout/sessions': sessions }, STRIPE, 'stripe')).toContain(sentence)
  })

  it('names all that a restricted key of Stripe’s may not read', async () => {
    const [all, none] = [() => Response.json({}), () => Response.json({}, { status: 403 })]
    const paths = (sessions: typeof all, intents: typeof all, refunds: typeof all) => ({
      '/v1/checkout/sessions': sessions,
      '/v1/payment_intents': intents,
      '/v1/refunds': refunds,
    })
    const restricted = 'error stripe: STRIPE_SECRET_KEY is restricted: it cannot read'
    expect(await asked(paths(all, none, none), STRIPE, 'stripe')).toContain(
      `${restricted} payment intents, refunds (403).`,
    )
    expect(await asked(paths(none, all, none), STRIPE, 'stripe')).toContain(
      `${restricted} checkout sessions, refunds (403).`,
    )
    expect(await asked(paths(all, all, all), STRIPE, 'stripe')).toContain(
      'ok stripe: Stripe accepts STRIPE_SECRET_KEY.',
    )
  })

  it('a key of Mollie is accepted, refused, or may not read everything', async () => {
    const [all, none] = [() => Response.json({}), () => Response.json({}, { status: 403 })]
    const mollie = { MOLLIE_API_KEY: 'test_key' }
    const paths = (payments: typeof all, refunds: typeof all) => ({
      '/v2/payments': payments,
      '/v2/refunds': refunds,
    })
    expect(await asked(paths(all, all), mollie, 'mollie')).toContain(
      'ok mollie: Mollie accepts MOLLIE_API_KEY.',
    )
    expect(await asked(paths(all, none), mollie, 'mollie')).toContain(
      'error mollie: MOLLIE_API_KEY is restricted: it cannot read refunds (403).',
    )
  })
})
