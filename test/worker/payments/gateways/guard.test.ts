import { describe, expect, it } from 'vitest'
import {
  type Answer,
  GatewaySetup,
  json,
  noConnection,
  page,
  silence,
} from '../../../../libraries/testing/gateway-setup.ts'
import { type BreakerState, createGuard } from '../../../../worker/payments/gateways/guard.ts'
import { redirect } from '../../../../worker/payments/gateways/redirect/redirect.ts'
import { stripe } from '../../../../worker/payments/gateways/stripe/stripe.ts'
import { keptLog } from '../../../support/payments.ts'
import { gateway, SETTINGS, TOKEN } from '../../../support/redirect-fixtures.ts'

/** Gives `token-1`, `token-2`, … */
function tokens(lifetimeS: unknown = 3_600): Answer {
  let count = 0
  return () => json({ access_token: `token-${++count}`, expires_in: lifetimeS })
}
const setupOf = (token: Answer = tokens()) =>
  new GatewaySetup(redirect.create('shop', SETTINGS), gateway({ token }))
const fetched = ({ asked }: GatewaySetup) => asked.filter((each) => each === TOKEN).length

describe('the guard', () => {
  it('opens the circuit after five failures, and 30 seconds later admits one call', async () => {
    const { guard, clock } = setupOf()
    const opened: boolean[] = []
    for (let call = 0; call < 6; call++) {
      opened.push((await guard.report('shop', 'charge', 'failure')).opened)
    }
    expect(opened).toEqual([false, false, false, false, true, false])
    expect(await guard.admit('shop', 'charge', 'call')).toEqual({
      ok: false,
      reason: 'circuit_open',
      retryAfterMs: 30_000,
    })
    await clock.advance(30_000)
    expect((await guard.admit('shop', 'charge', 'call')).ok).toBe(true)
    expect((await guard.admit('shop', 'charge', 'call')).ok).toBe(false)
    await guard.report('shop', 'charge', 'success')
    expect((await guard.admit('shop', 'charge', 'call')).ok).toBe(true)
  })

  it('shows what failed last, and logs it when the circuit opens, until a call succeeds', async () => {
    const { log, lines } = keptLog()
    const { clock, fetch } = setupOf()
    const guard = createGuard({ gateways: new Map(), clock, fetch, log, store: new Map() })
    const charges = async () => (await guard.health(['shop'])).shop?.charge
    const failures = ['timeout', 'timeout', 'timeout', 'timeout', 'token: invalid_scope']
    for (const failure of failures) await guard.report('shop', 'charge', 'failure', failure)
    expect(lines.filter(({ event }) => event === 'payments.gateway.circuit_opened')).toMatchObject([
      { fields: { gateway: 'shop', kind: 'charge', failure: 'token: invalid_scope' } },
    ])
    await guard.report('shop', 'charge', 'neutral')
    expect(await charges()).toMatchObject({ state: 'open', lastFailure: 'token: invalid_scope' })
    await clock.advance(30_000)
    expect(await charges()).toMatchObject({ state: 'probing', lastFailure: 'token: invalid_scope' })
    await guard.report('shop', 'charge', 'success')
    expect(await charges()).toEqual({ state: 'closed', failures: 0 })
  })

  it('has a separate circuit for each gateway', async () => {
    const { guard } = setupOf()
    for (let call = 0; call < 5; call++) await guard.report('shop', 'charge', 'failure')
    expect((await guard.admit('shop', 'charge', 'call')).ok).toBe(false)
    expect((await guard.admit('other', 'charge', 'call')).ok).toBe(true)
  })

  it('has a separate circuit for each kind of call: failed checks stop no charge', async () => {
    const { guard } = setupOf()
    for (let call = 0; call < 5; call++) await guard.report('shop', 'status', 'failure')
    expect((await guard.admit('shop', 'status', 'call')).ok).toBe(false)
    expect((await guard.admit('shop', 'charge', 'call')).ok).toBe(true)
    expect((await guard.admit('shop', 'refund', 'call')).ok).toBe(true)
  })

  it('keeps its state after a restart', async () => {
    const setup = setupOf()
    for (let call = 0; call < 5; call++) await setup.guard.report('shop', 'charge', 'failure')
    const { breakers: store, clock, fetch } = setup
    const again = createGuard({ gateways: new Map(), clock, store, fetch, log: () => undefined })
    expect((await again.admit('shop', 'charge', 'call')).ok).toBe(false)
  })

  it('does not write to the store for a success after a success', async () => {
    let writes = 0
    const { clock, fetch } = setupOf()
    const kept = new Map<string, BreakerState>()
    const set = (key: string, state: BreakerState) => {
      writes++
      kept.set(key, state)
    }
    const store = { get: (key: string) => kept.get(key), set }
    const guard = createGuard({ gateways: new Map(), clock, store, fetch, log: () => undefined })
    for (let call = 0; call < 3; call++) {
      await guard.admit('shop', 'charge', 'call')
      await guard.report('shop', 'charge', 'success')
    }
    expect(writes).toBe(0)
    await guard.report('shop', 'charge', 'failure')
    expect(writes).toBe(1)
  })

  it('shows the state of circuits without starting a probe', async () => {
    const { guard, clock } = setupOf()
    for (let call = 0; call < 5; call++) await guard.report('shop', 'charge', 'failure')
    expect(await guard.health(['other', 'shop'])).toMatchObject({
      other: { charge: { state: 'closed', failures: 0 } },
      shop: { charge: { state: 'open', failures: 5 }, refund: { state: 'closed', failures: 0 } },
    })
    await clock.advance(30_000)
    expect((await guard.health(['shop'])).shop?.charge).toEqual({ state: 'probing', failures: 5 })
    expect((await guard.admit('shop', 'charge', 'call')).ok).toBe(true)
  })

  it('limits unproven callbacks, and not calls or callbacks with a proof', async () => {
    const { guard } = setupOf()
    const answers = []
    for (let time = 0; time < 100; time++)
      answers.push(await guard.admit('shop', 'charge', 'unproven'))
    expect(answers.filter(({ ok }) => ok)).toHaveLength(10)
    const limited = { ok: false, reason: 'rate_limited', retryAfterMs: 1_000 }
    expect(answers.at(-1)).toEqual(limited)
    expect((await guard.admit('shop', 'charge', { proven: 'a' })).ok).toBe(true)
    for (let time = 0; time < 100; time++)
      expect((await guard.admit('shop', 'charge', 'call')).ok).toBe(true)
  })

  it('never uses an unproven callback as the probe of an open circuit', async () => {
    const { guard, clock } = setupOf()
    for (let call = 0; call < 5; call++) await guard.report('shop', 'charge', 'failure')
    await clock.advance(30_000)
    const refused = { ok: false, reason: 'circuit_open', retryAfterMs: 30_000 }
    expect(await guard.admit('shop', 'charge', 'unproven')).toEqual(refused)
    expect((await guard.admit('shop', 'charge', { proven: 'a' })).ok).toBe(true)
    await guard.report('shop', 'charge', 'success')
    expect((await guard.admit('shop', 'charge', 'unproven')).ok).toBe(true)
  })
})

describe('an access token', () => {
  it('is fetched once for concurrent callers, with the client’s credentials', async () => {
    const setup = setupOf()
    const asked = Array.from({ length: 20 }, () => setup.guard.accessToken('shop'))
    const answers = await setup.end(Promise.all(asked))
    expect(new Set(answers.map((answer) => answer.ok && answer.token))).toEqual(
      new Set(['token-1']),
    )
    expect(setup.asked).toEqual([TOKEN])
    const [request] = setup.sent
    expect(request?.headers.get('content-type')).toContain('application/x-www-form-urlencoded')
    expect(Object.fromEntries(new URLSearchParams(request?.body))).toEqual({
      grant_type: 'client_credentials',
      client_id: SETTINGS.client_id,
      client_secret: SETTINGS.client_secret,
      scope: SETTINGS.scope,
    })
  })

  it.each([
    [3_600, 3_570],
    [600, 570],
    [60, 54],
    ['60', 54],
    ['soon', 54],
    [null, 54],
  ])('that lives %s s is kept for %s s, and comes with the admission', async (lives, keptS) => {
    const setup = setupOf(tokens(lives))
    await setup.end(setup.guard.accessToken('shop'))
    await setup.clock.advance(keptS * 1_000 - 1)
    expect(await setup.guard.admit('shop', 'charge', 'call')).toEqual({
      ok: true,
      accessToken: 'token-1',
    })
    await setup.clock.advance(1)
    expect(await setup.guard.admit('shop', 'charge', 'call')).toEqual({ ok: true })
    expect(await setup.end(setup.guard.accessToken('shop'))).toEqual({ ok: true, token: 'token-2' })
  })

  it('is fetched again when it was refused, once for all callers', async () => {
    const setup = setupOf()
    await setup.end(setup.guard.accessToken('shop'))
    const refused = Array.from({ length: 5 }, () => setup.guard.accessToken('shop', 'token-1'))
    const answers = await setup.end(Promise.all(refused))
    expect(answers).toEqual(Array.from({ length: 5 }, () => ({ ok: true, token: 'token-2' })))
    expect(fetched(setup)).toBe(2)
  })

  it('is not fetched again for a caller whose refused token is older', async () => {
    const setup = setupOf()
    await setup.end(setup.guard.accessToken('shop'))
    await setup.end(setup.guard.accessToken('shop', 'token-1'))
    const late = await setup.end(setup.guard.accessToken('shop', 'token-1'))
    expect(late).toEqual({ ok: true, token: 'token-2' })
    expect(fetched(setup)).toBe(2)
  })

  it('is not part of an admission while a refused one is replaced', async () => {
    let isSlow = false
    const give = tokens()
    const setup = setupOf((request) => (isSlow ? silence(request) : give(request)))
    await setup.end(setup.guard.accessToken('shop'))
    isSlow = true
    const replacing = setup.guard.accessToken('shop', 'token-1')
    expect(await setup.guard.admit('shop', 'charge', 'call')).toEqual({ ok: true })
    await setup.end(replacing)
  })

  it('is given up after 15 s without an answer, and fetched again next time', async () => {
    let isSilent = true
    const give = tokens()
    const setup = setupOf((request) => (isSilent ? silence(request) : give(request)))
    expect(await setup.end(setup.guard.accessToken('shop'))).toEqual({
      ok: false,
      message: 'timeout',
      timedOutAfterMs: 15_000,
    })
    expect(fetched(setup)).toBe(1)
    isSilent = false
    expect(await setup.end(setup.guard.accessToken('shop'))).toEqual({ ok: true, token: 'token-1' })
  })

  it('is tried three times when the gateway fails', async () => {
    const stumbles: Answer[] = [noConnection, () => page('Sorry', 502)]
    const give = tokens()
    const setup = setupOf((request) => (stumbles.shift() ?? give)(request))
    expect(await setup.end(setup.guard.accessToken('shop'))).toEqual({ ok: true, token: 'token-1' })
    expect(fetched(setup)).toBe(3)
  })

  it('is not tried again when the credentials are refused, and no secret is revealed', async () => {
    const setup = setupOf(() =>
      json({ error: 'invalid_client', secret: SETTINGS.client_secret }, 401),
    )
    const answer = await setup.end(setup.guard.accessToken('shop'))
    const message = 'token answered 401 without a token: invalid_client'
    expect(answer).toEqual({ ok: false, message })
    expect(fetched(setup)).toBe(1)
  })

  it.each([
    ['invalid_scope', ': invalid_scope'],
    ['unauthorized_client', ': unauthorized_client'],
    [`the secret ${SETTINGS.client_secret} is wrong`, ''],
    [{ code: 7 }, ''],
  ])(
    'is refused with the code of OAuth, and nothing else of the answer: %j',
    async (error, why) => {
      const setup = setupOf(() => json({ error, error_description: SETTINGS.client_secret }, 400))
      const message = `token answered 400 without a token${why}`
      expect(await setup.end(setup.guard.accessToken('shop'))).toEqual({ ok: false, message })
    },
  )

  it.each([[{}], [[]], ['token'], [{ access_token: '' }], [{ access_token: 7 }]])(
    'is not made of %j',
    async (body) => {
      const setup = setupOf(() => json(body))
      expect(await setup.end(setup.guard.accessToken('shop'))).toMatchObject({ ok: false })
    },
  )

  it('does not exist for a gateway without tokens, or an unknown gateway', async () => {
    const keys = { secret_key: 'sk_test_1', webhook_secret: 'whsec_1' }
    const setup = new GatewaySetup(stripe.create('stripe', keys), () => json({}))
    expect(await setup.guard.accessToken('stripe')).toMatchObject({ ok: false })
    expect(await setup.guard.accessToken('nobody')).toMatchObject({ ok: false })
    expect(setup.sent).toEqual([])
  })
})
