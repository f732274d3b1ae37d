// Requests to a gateway of the test, with the real guard and the real call.

import { describe, expect, it } from 'vitest'
import type { AnyGateway, GatewayRequest } from '../../../../worker/payments/gateways/gateway.ts'
import { redirect } from '../../../../worker/payments/gateways/redirect/redirect.ts'
import { pause } from '../../../../worker/shared/clock.ts'
import {
  type Answer,
  GatewayBed,
  json,
  noConnection,
  page,
  silence,
} from '../../../support/gateway-bed.ts'
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
function bedOf(...answers: Answer[]): GatewayBed {
  let count = 0
  const last = answers.at(-1) ?? (() => json({}))
  return new GatewayBed(shop, (request) => (answers[count++] ?? last)(request))
}

describe('a call to a gateway', () => {
  it('sends JSON and returns JSON', async () => {
    const bed = bedOf(() => json({ id: 1 }, 201))
    const call = bed.call()
    expect(call.verdict()).toBe('neutral')
    const headers = { 'x-shop': '7' }
    expect(await bed.end(call.send({ ...ONCE, headers }))).toEqual({ status: 201, body: { id: 1 } })
    const [sent] = bed.sent
    expect(sent).toMatchObject({ method: 'POST', path: '/things/7?x=1', body: '{"a":1}' })
    expect(sent?.headers.get('content-type')).toBe('application/json')
    expect(sent?.headers.get('accept')).toBe('application/json')
    expect(sent?.headers.get('x-shop')).toBe('7')
    expect(sent?.headers.has('authorization')).toBe(false)
    expect(call.verdict()).toBe('success')
  })

  it('sends a form', async () => {
    const bed = bedOf(() => json({}))
    const form = { a: '1 2', b: 'ü&' }
    await bed.end(bed.call().send({ ...ASK, method: 'POST', form }))
    expect(Object.fromEntries(new URLSearchParams(bed.sent[0]?.body))).toEqual(form)
    expect(bed.sent[0]?.headers.get('content-type')).toContain('application/x-www-form-urlencoded')
  })

  it('returns undefined for an empty body', async () => {
    const bed = bedOf(() => new Response(null, { status: 204 }))
    expect(await bed.end(bed.call().send(ASK))).toEqual({ status: 204, body: undefined })
  })

  it('returns a refusal without a retry, with a neutral verdict', async () => {
    const bed = bedOf(() => json({ code: 'NO' }, 422))
    const call = bed.call()
    expect(await bed.end(call.send(ASK))).toEqual({ status: 422, body: { code: 'NO' } })
    expect(bed.sent).toHaveLength(1)
    expect(call.verdict()).toBe('neutral')
  })

  it('tries again up to three times, waiting longer each time', async () => {
    const times: number[] = []
    const bed = bedOf(() => {
      times.push(bed.clock.elapsed())
      return page('Sorry', 503)
    })
    const call = bed.call()
    await expect(bed.end(call.send(ASK))).rejects.toMatchObject(UNAVAILABLE)
    const [first = 0, second = 0, third = 0] = times
    // 200 and 400 ms, jittered down: the clock's random is a half.
    expect([times.length, second - first, third - second]).toEqual([3, 150, 300])
    expect(call.verdict()).toBe('failure')
  })

  it('is a success when the last try succeeds', async () => {
    const bed = bedOf(
      noConnection,
      () => page('Sorry'),
      () => json({ ok: 1 }),
    )
    const call = bed.call()
    expect(await bed.end(call.send(ASK))).toEqual({ status: 200, body: { ok: 1 } })
    expect(call.verdict()).toBe('success')
    expect(bed.lines.map(({ fields }) => fields.reason)).toEqual(['connection', 'not_json'])
  })

  it.each<[string, Answer]>([
    ['no connection', noConnection],
    ['a 500', () => json({}, 500)],
    ['a 429', () => json({}, 429)],
    ['a page', () => page('Sorry')],
    ['silence', silence],
  ])('does not repeat after %s what could charge twice', async (_, answer) => {
    const bed = bedOf(answer)
    await expect(bed.end(bed.call().send(ONCE))).rejects.toMatchObject(UNAVAILABLE)
    expect(bed.sent).toHaveLength(1)
  })

  it.each([408, 425, 429, 500, 501, 503, 599])(
    'does not accept JSON with %i as an answer',
    async (status) => {
      const bed = bedOf(() => json({ code: 'BUSY' }, status))
      await expect(bed.end(bed.call().send(ASK))).rejects.toMatchObject(UNAVAILABLE)
    },
  )

  it('waits as long as the gateway asks for, if that is short', async () => {
    const headers = { 'retry-after': '1' }
    const bed = bedOf(
      () => Response.json({}, { status: 429, headers }),
      () => json({}),
    )
    const startedAt = bed.clock.elapsed()
    let took = 0
    await bed.end(
      bed
        .call()
        .send(ASK)
        .finally(() => {
          took = bed.clock.elapsed() - startedAt
        }),
    )
    expect(took).toBe(1_000)
  })

  it('does not wait for long, but returns the Retry-After', async () => {
    const headers = { 'retry-after': '120' }
    const bed = bedOf(() => Response.json({}, { status: 503, headers }))
    const sent = bed.end(bed.call().send(ASK))
    await expect(sent).rejects.toMatchObject({ ...UNAVAILABLE, retryAfterMs: 120_000 })
    expect(bed.sent).toHaveLength(1)
  })

  it('gives an attempt 15 s and all of them 17 s, and reports each timeout', async () => {
    const bed = bedOf(silence)
    const startedAt = bed.clock.elapsed()
    await expect(bed.end(bed.call().send(ASK))).rejects.toMatchObject(UNAVAILABLE)
    const timeout = { gateway: 'shop', endpoint: 'things' }
    expect(bed.timeouts).toEqual([
      { ...timeout, durationMs: 15_000 },
      { ...timeout, durationMs: 1_850 },
    ])
    expect(bed.clock.elapsed() - startedAt).toBe(17_000)
  })

  it('sends nothing when no time is left, with a neutral verdict', async () => {
    const bed = bedOf(() => json({}))
    const call = bed.call({ deadlineAt: bed.clock.elapsed() + 999 })
    const unsent = { ...UNAVAILABLE, isUnsent: true }
    await expect(bed.end(call.send(ASK))).rejects.toMatchObject(unsent)
    expect(bed.sent).toEqual([])
    expect(call.verdict()).toBe('neutral')
  })

  it('does not wait for a retry that would have no time', async () => {
    const bed = bedOf(noConnection)
    const call = bed.call({ deadlineAt: bed.clock.elapsed() + 1_100 })
    // A question that was sent changes nothing; what was posted may have.
    await expect(bed.end(call.send(ASK))).rejects.toMatchObject({ ...UNAVAILABLE, isUnsent: true })
    const posted = bed.end(call.send(ONCE))
    await expect(posted).rejects.toMatchObject({ ...UNAVAILABLE, isUnsent: false })
    expect(bed.sent).toHaveLength(2)
  })

  it('gives up on a body that does not end', async () => {
    const bed = bedOf(() => new Response(new ReadableStream()))
    await expect(bed.end(bed.call().send(ONCE))).rejects.toMatchObject(UNAVAILABLE)
    expect(bed.timeouts).toHaveLength(1)
  })

  it('leaves no timer behind', async () => {
    const bed = bedOf(() => json({}))
    await bed.end(bed.call().send(ASK))
    expect(bed.clock.pending).toBe(0)
  })

  it('reads at most one MiB', async () => {
    const fits = `"${'x'.repeat(1024 * 1024 - 2)}"`
    const bed = bedOf(() => new Response(fits))
    expect((await bed.end(bed.call().send(ASK))).status).toBe(200)
    const more = bedOf(() => new Response(`${fits} `))
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
    const bed = bedOf(endless)
    await expect(bed.end(bed.call().send(ONCE))).rejects.toMatchObject(UNAVAILABLE)
    expect(pulled).toBeLessThan(30)
  })

  it('does not follow a redirect', async () => {
    const headers = { location: 'https://elsewhere.test/' }
    const bed = bedOf(() => new Response(null, { status: 307, headers }))
    await expect(bed.end(bed.call().send(ONCE))).rejects.toMatchObject(UNAVAILABLE)
    expect(bed.sent).toHaveLength(1)
  })

  it('keeps a failure as its verdict, even after a later success', async () => {
    const bed = bedOf(noConnection, () => json({}))
    const call = bed.call()
    await expect(bed.end(call.send(ONCE))).rejects.toThrow()
    await bed.end(call.send(ASK))
    expect(call.verdict()).toBe('failure')
  })

  it('adds the gateway to warnings of the driver', () => {
    const bed = bedOf()
    bed.call().warn('payments.redirect_gateway.unknown_status', { status: 'X' })
    expect(bed.lines).toEqual([
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
  function tokenBed(
    accepts: (token: string) => boolean,
    refusal = () => json({}, 401),
  ): GatewayBed {
    let count = 0
    return new GatewayBed(shop, ({ url, headers }) => {
      if (url.endsWith('/oauth2/token'))
        return json({ access_token: `t${++count}`, expires_in: 600 })
      const token = headers.get('authorization')?.replace('Bearer ', '') ?? ''
      return accepts(token) ? json({ token }) : refusal()
    })
  }

  it('uses the given token without asking the guard', async () => {
    const bed = tokenBed((token) => token === 'given')
    const call = bed.call({ token: 'given' })
    expect((await bed.end(call.send(WITH))).body).toEqual({ token: 'given' })
    expect(bed.sent).toHaveLength(1)
  })

  it('asks the guard for a token, and uses it for the next request too', async () => {
    const bed = tokenBed(() => true)
    const call = bed.call()
    await bed.end(call.send(WITH))
    await bed.end(call.send(WITH))
    expect(bed.asked).toEqual(['POST /oauth2/token', 'GET /things/7?x=1', 'GET /things/7?x=1'])
  })

  it.each([
    ['JSON', () => json({}, 401)],
    ['an empty body', () => new Response(null, { status: 401 })],
    ['a page', () => page('Unauthorized', 401)],
  ])(
    'gets a new token after a 401 with %s, even for a request that must not be repeated',
    async (_, refusal) => {
      const bed = tokenBed((token) => token === 't1', refusal)
      const call = bed.call({ token: 'expired' })
      const reply = await bed.end(call.send({ ...ONCE, withToken: true }))
      expect(reply).toEqual({ status: 200, body: { token: 't1' } })
      expect(bed.sent).toHaveLength(3)
    },
  )

  it('returns a second 401, since the token is not the cause', async () => {
    const bed = tokenBed(() => false)
    expect(await bed.end(bed.call().send(WITH))).toEqual({ status: 401, body: {} })
    expect(bed.asked).toHaveLength(4)
  })

  it('is unavailable without a token, and reports its timeout', async () => {
    const bed = new GatewayBed(shop, silence)
    const call = bed.call()
    const unsent = { ...UNAVAILABLE, isUnsent: true }
    await expect(bed.end(call.send(WITH))).rejects.toMatchObject(unsent)
    expect(call.verdict()).toBe('failure')
    expect(bed.timeouts).toEqual([{ gateway: 'shop', endpoint: 'token', durationMs: 15_000 }])
    expect(bed.asked).toEqual(['POST /oauth2/token'])
  })

  it('is unsent when its token is refused and there is no new one', async () => {
    const bed = new GatewayBed(shop, ({ url }) =>
      url.endsWith('/oauth2/token') ? page('Sorry', 502) : json({}, 401),
    )
    const call = bed.call({ token: 'expired' })
    const unsent = { ...UNAVAILABLE, isUnsent: true }
    await expect(bed.end(call.send({ ...ONCE, withToken: true }))).rejects.toMatchObject(unsent)
    expect(bed.asked[0]).toBe('POST /things/7?x=1')
    expect(call.verdict()).toBe('failure')
  })

  it('is not unsent when an earlier try had no answer', async () => {
    let tries = 0
    const bed = new GatewayBed(shop, ({ url }) => {
      if (url.endsWith('/oauth2/token')) return page('Sorry', 502)
      return ++tries === 1 ? page('Sorry', 502) : json({}, 401)
    })
    const sent = bed.end(bed.call({ token: 'expired' }).send({ ...WITH, method: 'POST' }))
    await expect(sent).rejects.toMatchObject({ ...UNAVAILABLE, isUnsent: false })
    expect(tries).toBe(2)
  })

  it('has the time of one call for all parts, even if each is slow', async () => {
    const bed = new GatewayBed(shop, async (request) => {
      const isToken = request.url.endsWith('/oauth2/token')
      await pause(bed.clock, isToken ? 10_000 : 14_000)
      return isToken ? json({ access_token: 't1', expires_in: 600 }) : json({}, 500)
    })
    const startedAt = bed.clock.now()
    await expect(bed.end(bed.call().send(WITH))).rejects.toMatchObject(UNAVAILABLE)
    expect(bed.clock.now() - startedAt).toBe(17_000)
  })

  it('does not wait longer than its deadline for a token', async () => {
    // Each try fails just before its timeout.
    const bed = new GatewayBed(shop, async () => {
      await pause(bed.clock, 7_000)
      return json({}, 500)
    })
    const startedAt = bed.clock.now()
    await expect(bed.end(bed.call().send(WITH))).rejects.toMatchObject(UNAVAILABLE)
    expect(bed.clock.now() - startedAt).toBeLessThanOrEqual(15_000)
  })

  it('does not reveal a token that cannot be sent', async () => {
    const bed = tokenBed(() => true)
    const call = bed.call({ token: 'bad\ntoken' })
    const error = await bed.end(call.send(WITH)).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject(UNAVAILABLE)
    expect(`${error instanceof Error && error.stack} ${JSON.stringify(bed.lines)}`).not.toContain(
      'bad',
    )
  })
})
