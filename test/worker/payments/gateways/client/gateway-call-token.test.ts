import { describe, expect, it } from 'vitest'
import { pause } from '../../../../../worker/shared/clock.ts'
import { GatewayBed, json, page, silence } from '../../../../support/gateway-bed.ts'
import { ASK, ONCE, shop, UNAVAILABLE } from './gateway-call-bed.ts'

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
    const call = bed.caller.startCall(shop, 'given')
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
      const call = bed.caller.startCall(shop, 'expired')
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
    const call = bed.caller.startCall(shop, 'expired')
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
    const sent = bed.end(bed.caller.startCall(shop, 'expired').send({ ...WITH, method: 'POST' }))
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
    const call = bed.caller.startCall(shop, 'bad\ntoken')
    const error = await bed.end(call.send(WITH)).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject(UNAVAILABLE)
    expect(`${error instanceof Error && error.stack} ${JSON.stringify(bed.lines)}`).not.toContain(
      'bad',
    )
  })
})
