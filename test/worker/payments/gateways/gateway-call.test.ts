// Requests to a gateway of the test, with the real guard and the real call.

import { describe, expect, it } from 'vitest'
import {
  type Answer,
  GatewaySetup,
  json,
  noConnection,
  page,
  silence,
} from '../../../../libraries/testing/gateway-setup.ts'
import type { AnyGateway, GatewayRequest } from '../../../../worker/payments/gateways/gateway.ts'
import { redirect } from '../../../../worker/payments/gateways/redirect/redirect.ts'
import { pause } from '../../../../worker/shared/clock.ts'
import { SETTINGS } from '../../../support/redirect-fixtures.ts'

const UNAVAILABLE = { code: 'gateway_unavailable' }
const shop: AnyGateway = redirect.create('shop', SETTINGS)

const ASK: GatewayRequest = {
  endpoint: 'things',
  method: 'GET',
  url: 'https://gateway.test/things/7?x=1',
  isIdempotent: true,
}
const ONCE: GatewayRequest = { ...ASK, method: 'POST', json: { a: 1 }, isIdempotent: false }

/** Answers in this order, and then always with the last one. */
function setupOf(...answers: Answer[]): GatewaySetup {
  let count = 0
  const last = answers.at(-1) ?? (() => json({}))
  return new GatewaySetup(shop, (request) => (answers[count++] ?? last)(request))
}

const sentTo = async (...answers: Answer[]) => {
  const setup = setupOf(...answers)
  return await setup.end(setup.call().send(ASK))
}

describe('a call to a gateway', () => {
  it('sends JSON and returns JSON', async () => {
    const setup = setupOf(() => json({ id: 1 }, 201))
    const call = setup.call()
    expect(call.verdict()).toBe('neutral')
    const headers = { 'x-shop': '7' }
    expect(await setup.end(call.send({ ...ONCE, headers }))).toMatchObject({
      status: 201,
      body: { id: 1 },
      unanswered: 0,
    })
    const [sent] = setup.sent
    expect(sent).toMatchObject({ method: 'POST', path: '/things/7?x=1', body: '{"a":1}' })
    expect(sent?.headers.get('content-type')).toBe('application/json')
    expect(sent?.headers.get('accept')).toBe('application/json')
    expect(sent?.headers.get('x-shop')).toBe('7')
    expect(sent?.headers.has('authorization')).toBe(false)
    expect(call.verdict()).toBe('success')
  })

  it('sends a form', async () => {
    const setup = setupOf(() => json({}))
    const form = { a: '1 2', b: 'ü&' }
    await setup.end(setup.call().send({ ...ASK, method: 'POST', form }))
    expect(Object.fromEntries(new URLSearchParams(setup.sent[0]?.body))).toEqual(form)
    expect(setup.sent[0]?.headers.get('content-type')).toContain(
      'application/x-www-form-urlencoded',
    )
  })

  it('returns undefined for an empty body', async () => {
    const setup = setupOf(() => new Response(null, { status: 204 }))
    expect(await setup.end(setup.call().send(ASK))).toMatchObject({
      status: 204,
      body: undefined,
      unanswered: 0,
    })
  })

  it('returns a refusal without a retry, with a neutral verdict', async () => {
    const setup = setupOf(() => json({ code: 'NO' }, 422))
    const call = setup.call()
    expect(await setup.end(call.send(ASK))).toMatchObject({
      status: 422,
      body: { code: 'NO' },
      unanswered: 0,
    })
    expect(setup.sent).toHaveLength(1)
    expect(call.verdict()).toBe('neutral')
  })

  it('tries again up to three times, waiting longer each time', async () => {
    const times: number[] = []
    const setup = setupOf(() => {
      times.push(setup.clock.elapsed())
      return page('Sorry', 503)
    })
    const call = setup.call()
    await expect(setup.end(call.send(ASK))).rejects.toMatchObject(UNAVAILABLE)
    const [first = 0, second = 0, third = 0] = times
    // 200 and 400 ms, jittered down: the clock's random is a half.
    expect([times.length, second - first, third - second]).toEqual([3, 150, 300])
    expect(call.verdict()).toBe('failure')
  })

  it('is a success when the last try succeeds', async () => {
    const setup = setupOf(
      noConnection,
      () => page('Sorry'),
      () => json({ ok: 1 }),
    )
    const call = setup.call()
    expect(await setup.end(call.send(ASK))).toMatchObject({
      status: 200,
      body: { ok: 1 },
      unanswered: 0,
    })
    expect(call.verdict()).toBe('success')
    expect(setup.lines.map(({ fields }) => fields.reason)).toEqual(['connection', 'not_json'])
  })

  it('counts the tries of the whole call without an answer, of what changes something', async () => {
    const setup = setupOf(
      noConnection,
      () => page('Sorry'),
      () => json({}),
      () => json({}, 503),
      () => json({}),
    )
    const call = setup.call()
    const change = { ...ONCE, isIdempotent: true }
    expect(await setup.end(call.send(change))).toMatchObject({ unanswered: 2 })
    expect(await setup.end(call.send(ASK))).toMatchObject({ unanswered: 2 })
    expect([call.unanswered(), setup.sent.length]).toEqual([2, 5])
  })

  it.each<[string, Answer]>([
    ['no connection', noConnection],
    ['a 500', () => json({}, 500)],
    ['a 429', () => json({}, 429)],
    ['a page', () => page('Sorry')],
    ['silence', silence],
  ])('does not repeat after %s what could charge twice', async (_, answer) => {
    const setup = setupOf(answer)
    await expect(setup.end(setup.call().send(ONCE))).rejects.toMatchObject(UNAVAILABLE)
    expect(setup.sent).toHaveLength(1)
  })

  it.each([408, 425, 429, 500, 501, 503, 599])(
    'does not accept JSON with %i as an answer',
    async (status) => {
      const setup = setupOf(() => json({ code: 'BUSY' }, status))
      await expect(setup.end(setup.call().send(ASK))).rejects.toMatchObject(UNAVAILABLE)
    },
  )

  it('waits as long as the gateway asks for, if that is short', async () => {
    const headers = { 'retry-after': '1' }
    const setup = setupOf(
      () => Response.json({}, { status: 429, headers }),
      () => json({}),
    )
    const startedAt = setup.clock.elapsed()
    let took = 0
    await setup.end(
      setup
        .call()
        .send(ASK)
        .finally(() => {
          took = setup.clock.elapsed() - startedAt
        }),
    )
    expect(took).toBe(1_000)
  })

  it('does not wait for long, but returns the Retry-After', async () => {
    const headers = { 'retry-after': '120' }
    const setup = setupOf(() => Response.json({}, { status: 503, headers }))
    const sent = setup.end(setup.call().send(ASK))
    await expect(sent).rejects.toMatchObject({ ...UNAVAILABLE, retryAfterMs: 120_000 })
    expect(setup.sent).toHaveLength(1)
  })

  it('gives an attempt 15 s and all of them 17 s, and reports each timeout', async () => {
    const setup = setupOf(silence)
    const startedAt = setup.clock.elapsed()
    await expect(setup.end(setup.call().send(ASK))).rejects.toMatchObject(UNAVAILABLE)
    const timeout = { gateway: 'shop', endpoint: 'things' }
    expect(setup.timeouts).toEqual([
      { ...timeout, durationMs: 15_000 },
      { ...timeout, durationMs: 1_850 },
    ])
    expect(setup.clock.elapsed() - startedAt).toBe(17_000)
  })

  it('sends nothing when no time is left, with a neutral verdict', async () => {
    const setup = setupOf(() => json({}))
    const call = setup.call({ deadlineAt: setup.clock.elapsed() + 999 })
    const unsent = { ...UNAVAILABLE, isUnsent: true }
    await expect(setup.end(call.send(ASK))).rejects.toMatchObject(unsent)
    expect(setup.sent).toEqual([])
    expect(call.verdict()).toBe('neutral')
  })

  it('does not wait for a retry that would have no time', async () => {
    const setup = setupOf(noConnection)
    const call = setup.call({ deadlineAt: setup.clock.elapsed() + 1_100 })
    // A question that was sent changes nothing; what was posted may have.
    await expect(setup.end(call.send(ASK))).rejects.toMatchObject({
      ...UNAVAILABLE,
      isUnsent: true,
    })
    const posted = setup.end(call.send(ONCE))
    await expect(posted).rejects.toMatchObject({ ...UNAVAILABLE, isUnsent: false })
    expect(setup.sent).toHaveLength(2)
  })

  it('gives up on a body that does not end', async () => {
    const setup = setupOf(() => new Response(new ReadableStream()))
    await expect(setup.end(setup.call().send(ONCE))).rejects.toMatchObject(UNAVAILABLE)
    expect(setup.timeouts).toHaveLength(1)
  })

  it('leaves no timer behind', async () => {
    const setup = setupOf(() => json({}))
    await setup.end(setup.call().send(ASK))
    expect(setup.clock.pending).toBe(0)
  })

  it('reads at most one MiB', async () => {
    const fits = `"${'x'.repeat(1024 * 1024 - 2)}"`
    const setup = setupOf(() => new Response(fits))
    expect((await setup.end(setup.call().send(ASK))).status).toBe(200)
    const more = setupOf(() => new Response(`${fits} `))
    await expect(more.end(more.call().send(ONCE))).rejects.toMatchObject(UNAVAILABLE)
  })

  it('stops reading an endless body', async () => {
    let pulled = 0
    const endless = () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            pulled++
            controller.enqueue(new Uint8Array(64 * 1024))
          },
        }),
      )
    const setup = setupOf(endless)
    await expect(setup.end(setup.call().send(ONCE))).rejects.toMatchObject(UNAVAILABLE)
    expect(pulled).toBeLessThan(30)
  })

  it('does not follow a redirect', async () => {
    const headers = { location: 'https://elsewhere.test/' }
    const asked: Request[] = []
    const setup = setupOf((request) => {
      asked.push(request)
      return new Response(null, { status: 307, headers })
    })
    await expect(setup.end(setup.call().send(ONCE))).rejects.toMatchObject(UNAVAILABLE)
    expect(asked.map(({ redirect }) => redirect)).toEqual(['manual'])
  })

  it('keeps a failure as its verdict, even after a later success', async () => {
    const setup = setupOf(noConnection, () => json({}))
    const call = setup.call()
    await expect(setup.end(call.send(ONCE))).rejects.toThrow()
    await setup.end(call.send(ASK))
    expect(call.verdict()).toBe('failure')
  })

  it('adds the gateway to warnings of the driver', () => {
    const setup = setupOf()
    setup.call().warn('payments.redirect_gateway.unknown_status', { status: 'X' })
    expect(setup.lines).toEqual([
      {
        event: 'payments.redirect_gateway.unknown_status',
        fields: { gateway: 'shop', status: 'X' },
      },
    ])
  })
})

describe('a call with an access token', () => {
  const WITH = { ...ASK, withToken: true }
  /** Gives tokens `t1`, `t2`, …; other requests need an accepted token. */
  function tokenSetup(
    accepts: (token: string) => boolean,
    refusal = () => json({}, 401),
  ): GatewaySetup {
    let count = 0
    return new GatewaySetup(shop, ({ url, headers }) => {
      if (url.endsWith('/oauth2/token'))
        return json({ access_token: `t${++count}`, expires_in: 600 })
      const token = headers.get('authorization')?.replace('Bearer ', '') ?? ''
      return accepts(token) ? json({ token }) : refusal()
    })
  }

  it('uses the given token without asking the guard', async () => {
    const setup = tokenSetup((token) => token === 'given')
    const call = setup.call({ token: 'given' })
    expect((await setup.end(call.send(WITH))).body).toEqual({ token: 'given' })
    expect(setup.sent).toHaveLength(1)
  })

  it('asks the guard for a token, and uses it for the next request too', async () => {
    const setup = tokenSetup(() => true)
    const call = setup.call()
    await setup.end(call.send(WITH))
    await setup.end(call.send(WITH))
    expect(setup.asked).toEqual(['POST /oauth2/token', 'GET /things/7?x=1', 'GET /things/7?x=1'])
  })

  it.each([
    ['JSON', () => json({}, 401)],
    ['an empty body', () => new Response(null, { status: 401 })],
    ['a page', () => page('Unauthorized', 401)],
  ])(
    'gets a new token after a 401 with %s, even for a request that must not be repeated',
    async (_, refusal) => {
      const setup = tokenSetup((token) => token === 't1', refusal)
      const call = setup.call({ token: 'expired' })
      const reply = await setup.end(call.send({ ...ONCE, withToken: true }))
      expect(reply).toMatchObject({ status: 200, body: { token: 't1' }, unanswered: 0 })
      expect(setup.sent).toHaveLength(3)
    },
  )

  it('returns a second 401, since the token is not the cause', async () => {
    const setup = tokenSetup(() => false)
    expect(await setup.end(setup.call().send(WITH))).toMatchObject({
      status: 401,
      body: {},
      unanswered: 0,
    })
    expect(setup.asked).toHaveLength(4)
  })

  const challenge = {
    'www-authenticate': 'Bearer realm="a", error="insufficient_scope", scope="b"',
  }
  it.each<[string, Answer, unknown]>([
    [
      'in the header',
      () => new Response(null, { status: 403, headers: challenge }),
      { status: 403, authError: 'insufficient_scope' },
    ],
    [
      'in the body',
      () => json({ error: 'insufficient_scope' }, 403),
      { status: 403, authError: 'insufficient_scope' },
    ],
    [
      'of the gateway’s own',
      () => json({ error: 'Too much: 5' }, 403),
      { status: 403, authError: undefined },
    ],
  ])('returns a refusal with the code %s', async (_, refused, reply) => {
    const { status, authError } = await sentTo(refused)
    expect({ status, authError }).toEqual(reply)
  })

  it('names OAuth’s code of a refusal that is a page', async () => {
    const refused = () => new Response('<p>No</p>', { status: 403, headers: challenge })
    await expect(sentTo(refused)).rejects.toThrow(
      'answered 403 with a body that is not JSON (insufficient_scope)',
    )
  })

  it('is unavailable without a token, and reports its timeout', async () => {
    const setup = new GatewaySetup(shop, silence)
    const call = setup.call()
    const unsent = { ...UNAVAILABLE, isUnsent: true }
    await expect(setup.end(call.send(WITH))).rejects.toMatchObject(unsent)
    expect(call.verdict()).toBe('failure')
    expect(setup.timeouts).toEqual([{ gateway: 'shop', endpoint: 'token', durationMs: 15_000 }])
    expect(setup.asked).toEqual(['POST /oauth2/token'])
  })

  it('is unsent when its token is refused and there is no new one', async () => {
    const setup = new GatewaySetup(shop, ({ url }) =>
      url.endsWith('/oauth2/token') ? page('Sorry', 502) : json({}, 401),
    )
    const call = setup.call({ token: 'expired' })
    const unsent = { ...UNAVAILABLE, isUnsent: true }
    await expect(setup.end(call.send({ ...ONCE, withToken: true }))).rejects.toMatchObject(unsent)
    expect(setup.asked[0]).toBe('POST /things/7?x=1')
    expect(call.verdict()).toBe('failure')
  })

  it('is not unsent when an earlier try had no answer', async () => {
    let tries = 0
    const setup = new GatewaySetup(shop, ({ url }) => {
      if (url.endsWith('/oauth2/token')) return page('Sorry', 502)
      return ++tries === 1 ? page('Sorry', 502) : json({}, 401)
    })
    const sent = setup.end(setup.call({ token: 'expired' }).send({ ...WITH, method: 'POST' }))
    await expect(sent).rejects.toMatchObject({ ...UNAVAILABLE, isUnsent: false })
    expect(tries).toBe(2)
  })

  it('has the time of one call for all parts, even if each is slow', async () => {
    const setup = new GatewaySetup(shop, async (request) => {
      const isToken = request.url.endsWith('/oauth2/token')
      await pause(setup.clock, isToken ? 10_000 : 14_000)
      return isToken ? json({ access_token: 't1', expires_in: 600 }) : json({}, 500)
    })
    const startedAt = setup.clock.now()
    await expect(setup.end(setup.call().send(WITH))).rejects.toMatchObject(UNAVAILABLE)
    expect(setup.clock.now() - startedAt).toBe(17_000)
  })

  it('does not wait longer than its deadline for a token', async () => {
    // Each try fails just before its timeout.
    const setup = new GatewaySetup(shop, async () => {
      await pause(setup.clock, 7_000)
      return json({}, 500)
    })
    const startedAt = setup.clock.now()
    await expect(setup.end(setup.call().send(WITH))).rejects.toMatchObject(UNAVAILABLE)
    expect(setup.clock.now() - startedAt).toBeLessThanOrEqual(15_000)
  })

  it('does not reveal a token that cannot be sent', async () => {
    const setup = tokenSetup(() => true)
    const call = setup.call({ token: 'bad\ntoken' })
    const error = await setup.end(call.send(WITH)).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject(UNAVAILABLE)
    expect(`${error instanceof Error && error.stack} ${JSON.stringify(setup.lines)}`).not.toContain(
      'bad',
    )
  })
})
