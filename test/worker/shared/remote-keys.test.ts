// Keys of an issuer that is unreachable, slow or has new keys, with a fake clock.

import { exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../../libraries/testing/fake-clock.ts'
import { Problem } from '../../../worker/shared/problem.ts'
import { remoteKeys } from '../../../worker/shared/remote-keys.ts'

const MINUTE_MS = 60_000
const UNREACHABLE = () => Promise.reject(new TypeError('connection refused'))

const pairOf = async (kid: string) => {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const jwk = { ...(await exportJWK(publicKey)), kid, alg: 'ES256' }
  const token = await new SignJWT({}).setProtectedHeader({ alg: 'ES256', kid }).sign(privateKey)
  return { jwk, token }
}
const [one, two] = await Promise.all([pairOf('one'), pairOf('two')])

/** An issuer with these keys. A test may replace `answer`; `fetches` counts the requests. */
function issuer(...keys: (typeof one)[]) {
  const clock = new FakeClock()
  const publish = (...published: (typeof one)[]) => {
    const jwks = { keys: published.map(({ jwk }) => jwk) }
    return () => Promise.resolve(Response.json(jwks))
  }
  const setup = { fetches: 0, publish, clock, answer: publish(...keys) as () => Promise<Response> }
  const find = remoteKeys('https://issuer.test/keys', {
    clock,
    fetch: () => {
      setup.fetches++
      return setup.answer()
    },
  })
  const verify = ({ token }: { token: string }): Promise<string> =>
    jwtVerify(token, find).then(
      () => 'good',
      (error) => (error instanceof Problem ? error.reason : 'unknown key'),
    )
  return Object.assign(setup, { verify })
}

describe('the keys of an issuer', () => {
  it('are fetched once for many tokens at the same time', async () => {
    const setup = issuer(one)
    const results = await Promise.all(Array.from({ length: 30 }, () => setup.verify(one)))
    expect(new Set(results)).toEqual(new Set(['good']))
    expect(setup.fetches).toBe(1)
  })

  it('are fetched at most once in 5 s while the issuer is unreachable', async () => {
    const setup = issuer(one)
    setup.answer = UNREACHABLE
    for (let i = 0; i < 30; i++) expect(await setup.verify(one)).toBe('keys_unavailable')
    expect(setup.fetches).toBe(1)
    await setup.clock.advance(4_999)
    await setup.verify(one)
    expect(setup.fetches).toBe(1)
    await setup.clock.advance(1)
    await setup.verify(one)
    expect(setup.fetches).toBe(2)
  })

  it('are accepted within 5 s after the issuer is back', async () => {
    const setup = issuer(one)
    const up = setup.answer
    setup.answer = () => Promise.resolve(new Response('<h1>Bad gateway</h1>', { status: 502 }))
    expect(await setup.verify(one)).toBe('keys_unavailable')
    setup.answer = up
    await setup.clock.advance(5_000)
    expect(await setup.verify(one)).toBe('good')
  })

  it('are not fetched again for each token with an unknown key', async () => {
    const setup = issuer(one)
    expect(await setup.verify(one)).toBe('good')
    for (let i = 0; i < 30; i++) expect(await setup.verify(two)).toBe('unknown key')
    await setup.clock.advance(30_000)
    for (let i = 0; i < 30; i++) expect(await setup.verify(two)).toBe('unknown key')
    expect(setup.fetches).toBe(2)
  })

  it('include a new key after half a minute', async () => {
    const setup = issuer(one)
    await setup.verify(one)
    setup.answer = setup.publish(one, two)
    await setup.clock.advance(30_000)
    expect(await setup.verify(two)).toBe('good')
  })

  it('answer keys_unavailable, not unknown, while new keys cannot be fetched', async () => {
    const setup = issuer(one)
    await setup.verify(one)
    setup.answer = UNREACHABLE
    await setup.clock.advance(30_000)
    for (let i = 0; i < 30; i++) expect(await setup.verify(two)).toBe('keys_unavailable')
    expect(setup.fetches).toBe(2)
    expect(await setup.verify(one)).toBe('good')
  })

  it('stay valid for an hour while the issuer is unreachable, and no longer', async () => {
    const setup = issuer(one)
    await setup.verify(one)
    setup.answer = UNREACHABLE
    await setup.clock.advance(59 * MINUTE_MS)
    expect(await setup.verify(one)).toBe('good')
    await setup.clock.advance(MINUTE_MS)
    expect(await setup.verify(one)).toBe('keys_unavailable')
  })

  it('are refused ten minutes after the issuer withdrew them', async () => {
    const setup = issuer(one)
    await setup.verify(one)
    setup.answer = setup.publish(two)
    await setup.clock.advance(10 * MINUTE_MS)
    expect(await setup.verify(one)).toBe('unknown key')
  })

  it('verify with the older keys while a fetch hangs', async () => {
    const setup = issuer(one)
    await setup.verify(one)
    setup.answer = () => new Promise(() => undefined)
    await setup.clock.advance(10 * MINUTE_MS)
    void setup.verify(one)
    expect(await setup.verify(one)).toBe('good')
  })

  it('are fetched by another request if the first one vanished', async () => {
    const setup = issuer(one)
    const up = setup.answer
    setup.answer = () => new Promise(() => undefined)
    void setup.verify(one)
    const waiting = setup.verify(one)
    await setup.clock.advance(6_000)
    expect(await waiting).toBe('keys_unavailable')
    setup.answer = up
    expect(await setup.verify(one)).toBe('good')
    expect(setup.fetches).toBe(2)
  })
})
