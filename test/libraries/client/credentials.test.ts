import { describe, expect, it } from 'vitest'
import { Credentials, claimsOf } from '../../../libraries/client/requests.ts'
import { FakeClock } from '../../../libraries/testing/fake-clock.ts'
import { token } from '../../support/edge.ts'

/** An unsigned token that is valid for `leftMs` by this clock. */
const madeOf = (clock: FakeClock, leftMs: number, name = '') =>
  `h.${btoa(JSON.stringify({ exp: (clock.now() + leftMs) / 1_000, name }))}.s`

describe('the credentials of a watch', () => {
  it('call the function again shortly before the token expires, or at half of a short token', async () => {
    const clock = new FakeClock()
    let asked = 0
    const credentials = new Credentials(
      () => madeOf(clock, asked++ === 0 ? 3_600_000 : 60_000, `token ${asked}`),
      clock,
    )
    await Promise.all([credentials.current(), credentials.current()])
    await clock.advance(3_539_000)
    await credentials.current()
    expect(asked).toBe(1)
    await clock.advance(1_000)
    const { renewAt } = await credentials.current()
    expect(asked).toBe(2)
    expect(renewAt - clock.now()).toBe(30_000)
  })

  it('keep a valid token when the function fails, and reject once it has expired', async () => {
    const clock = new FakeClock()
    const first = madeOf(clock, 100_000)
    const give = [() => first]
    const credentials = new Credentials(() => {
      const next = give.shift()
      if (!next) throw new Error('away')
      return next()
    }, clock)
    await credentials.current()
    await clock.advance(60_000)
    const early = await credentials.current()
    expect(early.token).toBe(first)
    // Called again at half of the remaining time, not for every request.
    expect(early.renewAt - clock.now()).toBe(20_000)
    await clock.advance(60_000)
    await expect(credentials.current()).rejects.toMatchObject({ code: 'token', status: 0 })
  })

  it('call the function less often while it returns the same token, until the token expires', async () => {
    const clock = new FakeClock()
    const token = madeOf(clock, 100_000)
    let asked = 0
    const credentials = new Credentials(() => {
      asked++
      return token
    }, clock)
    const waits: number[] = []
    for (let renewAt = 0; Number.isFinite(renewAt); ) {
      renewAt = (await credentials.current()).renewAt
      waits.push(renewAt - clock.now())
      await clock.advance(Math.min(renewAt - clock.now(), 100_000))
    }
    expect(waits.slice(0, 4)).toEqual([50_000, 25_000, 12_500, 6_250])
    expect(Math.min(...waits)).toBe(1_000)
    expect(asked).toBeLessThan(12)
  })

  it('have another token after a refusal only if the function returns a different one', async () => {
    const clock = new FakeClock()
    const tokens = ['a', 'b', 'b']
    const credentials = new Credentials(() => tokens.shift() ?? 'b', clock)
    const first = await credentials.current()
    expect(await credentials.refused(first)).toBe(true)
    expect(await credentials.refused(await credentials.current())).toBe(false)
    const fixed = new Credentials('a', clock)
    expect(await fixed.refused(await fixed.current())).toBe(false)
    const cookie = new Credentials(undefined, clock)
    expect(await cookie.refused(await cookie.current())).toBe(false)
  })

  it('use a token that has expired by our clock, which may be wrong', async () => {
    const clock = new FakeClock()
    const credentials = new Credentials(() => madeOf(clock, -60_000), clock)
    expect((await credentials.current()).renewAt).toBe(Number.POSITIVE_INFINITY)
  })

  it('read the claims of a token, and none of a text that is no token', async () => {
    const claims = claimsOf(await token({ repos: ['naïve/ü?>'] }))
    expect(claims.exp).toBeTypeOf('number')
    expect(claims.repos).toEqual(['naïve/ü?>'])
    for (const text of [undefined, '', 'opaque', 'a.b.c', 'a.%%%.c']) {
      expect(claimsOf(text)).toEqual({})
    }
  })
})
