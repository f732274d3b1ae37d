// Cases of signing in that the running hosts do not cover: an external issuer, TLS in front, no
// keys.

import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../../libraries/testing/fake-clock.ts'
import { Metrics } from '../../../worker/shared/metrics.ts'
import { codeFor, consoleSessionContract, signIn } from '../../contract/console-session.ts'
import { freshPath, OF_SESSIONS, Repo, SECRET, token } from '../../support/edge.ts'
import { EventStream } from '../../support/event-stream.ts'
import { processEdge } from '../../support/in-process-edge.ts'
import { issuerEnv, startIssuer } from '../../support/issuer.ts'

// Its origin is https, so the name of the cookie begins with `__Host-`.
const edge = processEdge()
consoleSessionContract('the app in this process', { edge: () => edge })

describe('a session', () => {
  it('is a Secure cookie for this host alone', async () => {
    const { cookies } = await signIn(edge, { token: await token({}) })
    expect(cookies).toHaveLength(1)
    expect(cookies[0]).toMatch(/^__Host-signalbox=\S+; Max-Age=\d+; Path=\/; HttpOnly; Secure; /)
    expect(cookies[0]).not.toContain('Domain')
  })

  it('can be opened through a proxy that terminates TLS', async () => {
    const behind = {
      origin: 'https://signalbox.example',
      fetch: (path: string, init: RequestInit = {}) =>
        edge.fetch(path, init, 'http://signalbox.example'),
    }
    const answered = await signIn(behind, { token: await token({}) })
    expect(answered.status).toBe(201)
    expect(answered.cookies[0]).toMatch(/^__Host-signalbox=.*; Secure/)
    const elsewhere = { Origin: 'https://signalbox.example:8443' }
    const refused = await signIn(behind, { token: await token({}) }, elsewhere)
    expect(refused.status).toBe(403)
  })

  it('can be opened behind a proxy that hides the origin, if SIGNALBOX_PUBLIC_URL names it', async () => {
    const origin = 'https://signalbox.example:8443'
    const open = (env: object) => {
      const hidden = processEdge({ env: { AUTH_SECRETS: SECRET, ...env } })
      const fetch = (path: string, init: RequestInit = {}) =>
        hidden.fetch(path, init, 'http://10.0.0.1:8787')
      return { origin, fetch }
    }
    const body = { token: await token({}) }
    expect((await signIn(open({}), body)).status).toBe(403)
    const known = open({ SIGNALBOX_PUBLIC_URL: origin })
    const { status, cookies } = await signIn(known, body)
    expect(status).toBe(201)
    const headers = { Cookie: cookies[0]?.split(';')[0] ?? '', Origin: origin }
    const out = await known.fetch('/api/session', { method: 'DELETE', headers })
    expect(out.status).toBe(204)
  })

  it('lasts 30 days at most, even if the token is valid for years', async () => {
    const years = await token({ exp: '10y' })
    const { status, cookies, json } = await signIn(edge, { token: years })
    expect(status).toBe(201)
    expect(cookies[0]).toContain(`Max-Age=${30 * 24 * 60 * 60};`)
    const { expiresAt } = json as { expiresAt: string }
    const days = Math.round((Date.parse(expiresAt) - Date.now()) / 86_400_000)
    expect(days).toBe(30)
  })

  it('ends at the last possible date, if the token expires after it', async () => {
    const headers = { Authorization: `Bearer ${await token({ exp: 1e15 })}` }
    const answered = await edge.fetch('/api/session', { headers })
    expect(await answered.json()).toMatchObject({ expiresAt: '+275760-09-13T00:00:00.000Z' })
  })

  it('can be opened with a token of an external issuer', async () => {
    const issuer = await startIssuer()
    const env = issuerEnv(issuer)
    const theirs = processEdge({ env })
    const claims = { scope: 'board:read', repos: ['r'], sub: 'ann@example.org' }
    const signed = await issuer.sign(claims)
    const answered = await signIn(theirs, { token: signed })
    // Its cookie is the token, which nobody here can end.
    const json = { subject: 'ann@example.org', canBeEnded: false }
    expect(answered).toMatchObject({ status: 201, json })
    expect(answered.cookies[0]).toContain(signed)
    const Cookie = answered.cookies[0]?.split(';')[0] ?? ''
    const headers = { Cookie, Origin: theirs.origin }
    const out = await theirs.fetch('/api/session', { method: 'DELETE', headers })
    expect(out.status).toBe(204)
    const read = await theirs.fetch('/api/session', { headers })
    expect(await read.json()).toMatchObject(json)
    // An external issuer cannot sign links.
    const code = await codeFor([freshPath()])
    expect(await signIn(theirs, { code })).toMatchObject({ json: { code: 'unauthorized' } })
    const both = processEdge({ env: { ...env, AUTH_SECRETS: SECRET } })
    expect(await signIn(both, { code })).toMatchObject({ status: 201 })
    expect(await signIn(both, { token: signed })).toMatchObject({ json: { canBeEnded: true } })
  })

  it('of another secret is refused with a sentence that says why, and a token is not', async () => {
    const secret = 'the-secret-of-a-folder-with-another-name'
    const session = await token({ aud: OF_SESSIONS, sid: 'a' }, secret)
    const answerOf = async (headers: Record<string, string>) =>
      await (await edge.fetch('/api/session', { headers })).json()
    expect(await answerOf({ Cookie: `__Host-signalbox=${session}` })).toEqual({
      code: 'unauthorized',
      error:
        'This session is for another board, or from before its folder was renamed: sign in again.',
    })
    const bearer = { Authorization: `Bearer ${await token({}, secret)}` }
    expect(await answerOf(bearer)).toMatchObject({ error: 'The token is not valid here.' })
  })

  it('is no session because its issuer gives its tokens a `sid`', async () => {
    const issuer = await startIssuer()
    const theirs = processEdge({ env: issuerEnv(issuer) })
    const claims = { scope: 'board:read', repos: ['r'], sid: 'of-the-issuer' }
    const answered = await signIn(theirs, { token: await issuer.sign(claims) })
    expect(answered).toMatchObject({ status: 201, json: { canBeEnded: false } })
  })

  it('answers 503 not_configured, if no key is configured', async () => {
    const bare = processEdge({ env: {} })
    for (const body of [{ token: await token({}) }, { code: await codeFor([freshPath()]) }]) {
      const answered = await signIn(bare, body)
      expect(answered).toMatchObject({ status: 503, cookies: [], json: { code: 'not_configured' } })
    }
  })
})

describe('where the list of ended sessions cannot be read', () => {
  /** An edge whose list fails, and the cookie of a session. */
  async function setUp() {
    const list = { isAway: true, ended: new Set<string>() }
    const look = () => {
      if (list.isAway) throw new Error('the list is away')
    }
    const clock = new FakeClock()
    const away = processEdge({
      clock,
      endedSessions: {
        async end(sid) {
          look()
          list.ended.add(sid)
        },
        async has(sid) {
          look()
          return list.ended.has(sid)
        },
      },
    })
    const { path } = new Repo(away)
    const exp = Math.floor(clock.now() / 1_000) + 3_600
    const signed = await signIn(away, { token: await token({ repos: [path], exp }) })
    const Cookie = signed.cookies[0]?.split(';')[0] ?? ''
    const send = (method: string, path: string, headers: Record<string, string> = { Cookie }) =>
      away.fetch(path, { method, headers: { Origin: away.origin, ...headers } })
    return { list, clock, Cookie, send, exp, path }
  }

  it('reads go on, and writes are 503 sessions_unavailable', async () => {
    const { send, list, clock, exp, path } = await setUp()
    expect((await send('GET', '/api/session')).status).toBe(200)
    for (const [method, route] of [
      ['POST', '/api/tickets'],
      ['DELETE', '/api/session'],
    ] as const) {
      const refused = await send(method, route)
      expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, '30'])
      expect(await refused.json()).toMatchObject({ code: 'sessions_unavailable' })
    }
    const bearer = { Authorization: `Bearer ${await token({ repos: [path], exp })}` }
    expect((await send('POST', '/api/tickets', bearer)).status).toBe(201)
    list.isAway = false
    await clock.advance(5_000)
    expect((await send('POST', '/api/tickets')).status).toBe(201)
    // It is known to be open for half a minute; that it ends must be stored all the same.
    list.isAway = true
    const unstored = await send('DELETE', '/api/session')
    expect([unstored.status, unstored.headers.getSetCookie()]).toEqual([503, []])
  })

  it('its streams go on, and end within a minute when it was ended elsewhere', async () => {
    const { send, list, clock, Cookie } = await setUp()
    const { sid } = decodeJwt(Cookie.split('=')[1] ?? '')
    const opened = await send('GET', '/api/events')
    const stream = await new EventStream(opened).joined()
    await clock.advance(60_000)
    expect(stream.ended).toBe(false)
    list.isAway = false
    list.ended.add(String(sid))
    await clock.advance(45_000)
    await stream.until((it) => it.ended)
  })
})

it('counts refused tokens and sign-ins', async () => {
  const metrics = new Metrics()
  const counted = processEdge({ metrics })
  const { origin: Origin } = counted
  const bearer = { Authorization: `Bearer ${await token({ exp: 1 })}` }
  expect((await counted.fetch('/api/session', { headers: bearer })).status).toBe(401)
  expect((await counted.fetch('/api/session')).status).toBe(401)
  const { cookies } = await signIn(counted, { token: await token({}) })
  const headers = { Cookie: cookies[0]?.split(';')[0] ?? '', Origin }
  for (const status of [204, 401]) {
    const out = await counted.fetch('/api/session', { method: 'DELETE', headers })
    expect(out.status).toBe(status)
  }
  const code = await codeFor([freshPath()])
  for (const body of [{ token: 'x.y.z' }, { code }, { code }]) await signIn(counted, body)
  await signIn(counted, { code }, { Origin: 'https://evil.test' })
  const values = metrics
    .read()
    .filter(({ name }) => name.startsWith('signalbox_refused'))
    .flatMap(({ series, values }) => series.map((name, at) => [name, values[at]]))
  expect(Object.fromEntries(values)).toEqual({
    'signalbox_refused_tokens_total{via="header"}': 1,
    'signalbox_refused_tokens_total{via="cookie"}': 1,
    'signalbox_refused_tokens_total{via="ticket"}': 0,
    'signalbox_refused_sign_ins_total{code="unauthorized"}': 1,
    'signalbox_refused_sign_ins_total{code="code_spent"}': 1,
    'signalbox_refused_sign_ins_total{code="bad_origin"}': 1,
  })
})
