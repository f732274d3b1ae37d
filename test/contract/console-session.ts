// Signing in and out, over any host of the app: by a token, and by the code of a one-time link.

import { decodeJwt, SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { issueCode } from '../../worker/session/code.ts'
import { cookieName } from '../../worker/shared/access.ts'
import { readAuth } from '../../worker/shared/auth-config.ts'
import { hostClock } from '../../worker/shared/clock.ts'
import { createTokens } from '../../worker/shared/tokens.ts'
import {
  type Edge,
  freshPath,
  OF_SESSIONS,
  publishedRepo,
  Repo,
  SECRET,
  token,
} from '../support/edge.ts'

const tokens = createTokens(readAuth({ AUTH_SECRETS: SECRET }), { clock: hostClock, fetch })
const SCOPE = 'board:read payments:read payments:write'
const DAY_S = 24 * 60 * 60

/** Like the one that `npm start` prints. */
export const codeFor = (repos: string[], scope = SCOPE): Promise<string> =>
  issueCode(tokens, { scope, repos }, Date.now())

/** A code with these claims, signed as ours are. */
const oddCode = (claims: object, secret = SECRET): Promise<string> =>
  new SignJWT({ jti: crypto.randomUUID(), scope: SCOPE, repos: ['r'], ...claims })
    .setProtectedHeader({ alg: 'HS256' })
    .setAudience('signalbox:sign-in')
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(secret))

interface Answered {
  status: number
  cookies: string[]
  json: Record<string, unknown>
}

/** Requests a session like the page. */
export async function signIn(
  edge: Edge,
  body: unknown,
  headers: Record<string, string | undefined> = {},
): Promise<Answered> {
  const own = { Origin: edge.origin, 'Content-Type': 'application/json', ...headers }
  const given = Object.entries(own).filter((it): it is [string, string] => it[1] !== undefined)
  const response = await edge.fetch('/api/session', {
    method: 'POST',
    headers: Object.fromEntries(given),
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const json = (await response.json()) as Record<string, unknown>
  return { status: response.status, cookies: response.headers.getSetCookie(), json }
}

const refused = (status: number, code: string) => ({
  status,
  cookies: [],
  json: { code, error: expect.stringMatching(/\.$/) },
})

export function consoleSessionContract(name: string, host: { edge(): Edge }): void {
  const { edge } = host
  const send = async (method: string, path: string, headers: Record<string, string> = {}) => {
    const response = await edge().fetch(path, { method, headers })
    const text = await response.text()
    return { status: response.status, cookies: response.headers.getSetCookie(), text }
  }
  /** Name and value, as a browser sends them. */
  const pair = ({ cookies }: Answered): string => cookies[0]?.split(';')[0] ?? 'none'

  describe(`signing in on ${name}`, () => {
    it('is required for every read', async () => {
      // biome-ignore format: several paths a line.
      const reads = [
        '/api', '/api/', '/api/session', '/api/events', '/api/status', '/api/nothing',
        '/api/tasks', '/api/tasks/A-1', '/api/tasks/A-1/runs', '/api/tasks/A-1/sessions',
        '/api/sessions', '/api/sessions/ses_1', '/api/payments/transactions',
        '/api/payments/alerts', '/api/payments/webhook-events', '/api/payments/gateways',
      ]
      for (const path of reads) expect((await send('GET', path)).status, path).toBe(401)
      const writes = ['/api/tickets', '/api/sync', '/api/changes', '/api/payments/charges']
      for (const path of writes) expect((await send('POST', path)).status, path).toBe(401)
      const { origin: Origin } = edge()
      expect((await send('DELETE', '/api/session', { Origin })).status).toBe(401)
    })

    it('makes a session of a pasted token, in an HttpOnly cookie until the token expires', async () => {
      const repo = await publishedRepo(edge())
      const exp = Math.floor(Date.now() / 1_000) + 3_600
      const claims = { repos: [repo.path], exp, scope: 'board:read', sub: 'ann' }
      const value = await token(claims)
      const answered = await signIn(edge(), { token: ` ${value}\n` })
      const session = {
        subject: 'ann',
        canBeEnded: true,
        scopes: ['board:read'],
        repos: [repo.path],
        expiresAt: new Date(exp * 1_000).toISOString(),
      }
      expect(answered).toMatchObject({ status: 201, json: session })
      const cookie = cookieName(new URL(edge().origin))
      const secure = cookie.startsWith('__Host-') ? ['Secure'] : []
      const [set, ...attributes] = answered.cookies[0]?.split('; ') ?? []
      expect(set).toMatch(new RegExp(`^${cookie}=`))
      const made = decodeJwt(set?.slice(cookie.length + 1) ?? '')
      expect(made).toEqual({
        ...claims,
        aud: OF_SESSIONS,
        sid: expect.stringMatching(/^[\w-]{36}$/),
      })
      const [maxAge, ...others] = attributes
      expect(others.toSorted()).toEqual(['HttpOnly', 'Path=/', 'SameSite=Strict', ...secure])
      expect(Number(maxAge?.replace('Max-Age=', ''))).toBeGreaterThan(3_500)
      expect(Number(maxAge?.replace('Max-Age=', ''))).toBeLessThanOrEqual(3_600)

      const Cookie = pair(answered)
      expect(JSON.parse((await send('GET', '/api/session', { Cookie })).text)).toEqual(session)
      expect((await send('GET', '/api/tasks', { Cookie })).status).toBe(200)
    })

    it('sets no cookie for a token that is forged, expired or for another audience', async () => {
      const exp = Math.floor(Date.now() / 1_000) - 5
      for (const value of [
        await token({}, 'another secret of thirty-two bytes or more'),
        await token({ exp }),
        await token({ aud: 'signalbox:ticket' }),
        // Else a copied cookie would make sessions after its own was ended.
        await token({ aud: OF_SESSIONS, sid: 'a' }),
        await codeFor(['r']),
        'x.y.z',
      ]) {
        expect(await signIn(edge(), { token: value })).toEqual(refused(401, 'unauthorized'))
      }
    })

    it('refuses requests that another page could make', async () => {
      const body = { token: await token({}) }
      for (const Origin of [undefined, 'null', 'https://evil.test', `${edge().origin}.evil.test`]) {
        const outcome = await signIn(edge(), body, { Origin })
        expect(outcome, Origin).toEqual(refused(403, 'bad_origin'))
      }
      for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
        const outcome = await signIn(edge(), body, { 'Content-Type': type })
        expect(outcome, type).toEqual(refused(400, 'invalid_request'))
      }
    })

    it('refuses a body without exactly one valid token or code', async () => {
      const value = await token({})
      // biome-ignore format: several bodies a line.
      const bodies = [
        '', '{', '[]', '"x"', {}, { token: 7 }, { token: '' }, { code: 'a b' },
        { token: value, code: value }, { token: `${value}\r\nSet-Cookie: a=b` },
      ]
      for (const body of bodies) {
        const outcome = await signIn(edge(), body)
        expect(outcome, JSON.stringify(body)).toEqual(refused(400, 'invalid_request'))
      }
    })

    it('refuses a token that is too long for a cookie, and a body that is too large', async () => {
      const long = await token({ repos: Array.from({ length: 400 }, (_, i) => `repository/${i}`) })
      expect(await signIn(edge(), { token: long })).toEqual(refused(413, 'payload_too_large'))
      const huge = { token: 'x'.repeat(1 << 16) }
      expect(await signIn(edge(), huge)).toEqual(refused(413, 'payload_too_large'))
    })

    it('signs out: deletes the cookie, for requests of its own page only', async () => {
      const answered = await signIn(edge(), { token: await token({}) })
      const Cookie = pair(answered)
      const foreign = await send('DELETE', '/api/session', { Cookie, Origin: 'https://evil.test' })
      expect(foreign).toMatchObject({ status: 403, cookies: [] })
      const { origin: Origin } = edge()
      const out = await send('DELETE', '/api/session', { Cookie, Origin })
      expect(out).toMatchObject({ status: 204, text: '' })
      const cookie = cookieName(new URL(Origin))
      expect(out.cookies).toEqual([
        expect.stringMatching(new RegExp(`^${cookie}=; Max-Age=0; Path=/; .*SameSite=Strict`)),
      ])
    })

    it('ends the session for every copy of its cookie, and for its tickets', async () => {
      const repo = await publishedRepo(edge())
      const value = await token({ repos: [repo.path] })
      const Cookie = pair(await signIn(edge(), { token: value }))
      const other = pair(await signIn(edge(), { token: value }))
      const own = { Cookie, Origin: edge().origin }
      const issued = await send('POST', '/api/tickets', own)
      const { ticket } = JSON.parse(issued.text) as { ticket: string }
      expect((await send('GET', '/api/tasks', { Cookie })).status).toBe(200)
      expect((await send('DELETE', '/api/session', own)).status).toBe(204)
      for (const [method, path] of [
        ['GET', '/api/tasks'],
        ['GET', '/api/session'],
        ['GET', '/api/events'],
        ['POST', '/api/tickets'],
        ['DELETE', '/api/session'],
      ] as const) {
        const copied = await send(method, path, own)
        expect([path, copied.status]).toEqual([path, 401])
        expect(JSON.parse(copied.text)).toMatchObject({ code: 'unauthorized' })
      }
      const path = encodeURIComponent(repo.path)
      expect((await send('GET', `/api/events?path=${path}&ticket=${ticket}`)).status).toBe(401)
      // Neither the token nor what else was made with it.
      expect((await send('GET', '/api/tasks', { Cookie: other })).status).toBe(200)
      const Authorization = `Bearer ${value}`
      expect((await send('GET', '/api/tasks', { Authorization })).status).toBe(200)
    })

    it('never ends a bearer token, and takes no session for one', async () => {
      const value = await token({ repos: [freshPath()] })
      const Authorization = `Bearer ${value}`
      expect((await send('DELETE', '/api/session', { Authorization })).status).toBe(204)
      const still = await send('GET', '/api/session', { Authorization })
      expect(JSON.parse(still.text)).toMatchObject({ canBeEnded: false })
      const [, session] = pair(await signIn(edge(), { token: value })).split('=')
      const asBearer = await send('GET', '/api/session', { Authorization: `Bearer ${session}` })
      expect(asBearer.status).toBe(401)
    })

    it('answers with what to do when the session has expired', async () => {
      const exp = Math.floor(Date.now() / 1_000) - 5
      const session = await token({ aud: OF_SESSIONS, sid: 'a', exp })
      const Cookie = `${cookieName(new URL(edge().origin))}=${session}`
      const expired = await send('GET', '/api/session', { Cookie })
      expect(expired).toMatchObject({ status: 401, text: expect.stringContaining('sign in again') })
    })

    it('ends the session that a browser has when it signs in again', async () => {
      const value = await token({ repos: [freshPath()] })
      const Cookie = pair(await signIn(edge(), { token: value }))
      const refused = await signIn(edge(), { token: 'x.y.z' }, { Cookie })
      expect(refused.status).toBe(401)
      expect((await send('GET', '/api/session', { Cookie })).status).toBe(200)
      const again = pair(await signIn(edge(), { token: value }, { Cookie }))
      expect((await send('GET', '/api/session', { Cookie })).status).toBe(401)
      expect((await send('GET', '/api/session', { Cookie: again })).status).toBe(200)
    })

    it('lasts a day with payments:write, and 30 days without it', async () => {
      const daysOf = async (scope: string) => {
        const { json } = await signIn(edge(), { token: await token({ scope, exp: '10y' }) })
        return (Date.parse(String(json.expiresAt)) - Date.now()) / (DAY_S * 1_000)
      }
      expect(await daysOf('board:read payments:read')).toBeCloseTo(30, 2)
      expect(await daysOf('payments:read payments:write')).toBeCloseTo(1, 2)
    })

    it('names the token itself, where it has no subject', async () => {
      const named = await signIn(edge(), { token: await token({ jti: 'token-1' }) })
      expect(named.json).toMatchObject({ subject: 'token token-1' })
      const nameless = await signIn(edge(), { token: await token({}) })
      expect(nameless.json.subject).toMatch(/^token [0-9a-f]{12}$/)
    })
  })

  describe(`the one-time link on ${name}`, () => {
    it('creates a session with its scopes and repositories, for a day', async () => {
      const repo = await publishedRepo(edge())
      const answered = await signIn(edge(), { code: await codeFor([repo.path, 'other/*']) })
      expect(answered).toMatchObject({
        status: 201,
        json: {
          subject: 'sign-in link',
          canBeEnded: true,
          scopes: SCOPE.split(' '),
          repos: [repo.path, 'other/*'],
        },
      })
      const days = (Date.parse(String(answered.json.expiresAt)) - Date.now()) / (DAY_S * 1_000)
      expect(days).toBeGreaterThan(0.99)
      expect(days).toBeLessThanOrEqual(1)
      const path = encodeURIComponent(repo.path)
      const tasks = await send('GET', `/api/tasks?path=${path}`, { Cookie: pair(answered) })
      expect(tasks.status).toBe(200)
    })

    it('works once', async () => {
      const code = await codeFor([freshPath()])
      expect(await signIn(edge(), { code })).toMatchObject({ status: 201 })
      const again = await signIn(edge(), { code })
      expect(again).toEqual(refused(401, 'code_spent'))
      expect(again.json.error).toContain('signalbox sign-in')
    })

    it('works for exactly one of many concurrent requests', async () => {
      const code = await codeFor([freshPath()])
      const all = await Promise.all(Array.from({ length: 8 }, () => signIn(edge(), { code })))
      const statuses = all.map(({ status }) => status).toSorted((a, b) => a - b)
      expect(statuses).toEqual([201, ...Array<number>(7).fill(401)])
      expect(all.flatMap(({ cookies }) => cookies)).toHaveLength(1)
    })

    it('is not used up by a refused request', async () => {
      const code = await codeFor([freshPath()])
      expect((await signIn(edge(), { code }, { Origin: 'https://evil.test' })).status).toBe(403)
      expect((await signIn(edge(), { code })).status).toBe(201)
    })

    it('does not create a board that was never published', async () => {
      const repo = new Repo(edge())
      expect((await signIn(edge(), { code: await codeFor([repo.path]) })).status).toBe(201)
      for (const route of ['/tasks', '/status', '/sessions']) {
        expect((await repo.request(route)).status, route).toBe(404)
      }
      expect(await repo.begin()).toBe(true)
      expect((await repo.request('/tasks')).status).toBe(200)
    })

    it('never creates a session of more than 30 days', async () => {
      const code = await codeFor([freshPath()], 'board:read')
      const { json } = await signIn(edge(), { code })
      expect(Date.parse(String(json.expiresAt)) - Date.now()).toBeLessThanOrEqual(
        30 * DAY_S * 1_000,
      )
    })

    it('answers with advice when it is forged, expired, malformed or missing', async () => {
      const spent = 'signalbox sign-in'
      for (const code of [
        await oddCode({}, 'another secret of thirty-two bytes or more'),
        await issueCode(tokens, { scope: SCOPE, repos: ['r'] }, Date.now() - 2 * DAY_S * 1_000),
        await oddCode({ repos: [] }),
        await oddCode({ scope: -1 }),
        await token({}),
        await token({ aud: 'signalbox:ticket' }),
        'x.y.z',
      ]) {
        const outcome = await signIn(edge(), { code })
        expect(outcome).toEqual(refused(401, 'unauthorized'))
        expect(outcome.json.error).toContain(spent)
      }
    })

    it('is not valid as a token for the API', async () => {
      const Authorization = `Bearer ${await codeFor(['r'])}`
      expect((await send('GET', '/api/tasks', { Authorization })).status).toBe(401)
    })
  })
}
