import { decodeJwt, type JWTPayload } from 'jose'
import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../../libraries/testing/fake-clock.ts'
import { sqliteEndedSessions } from '../../../worker/session/ended-sessions-sqlite.ts'
import { accessMetrics, cookieName, createAccess } from '../../../worker/shared/access.ts'
import { readAuth } from '../../../worker/shared/auth-config.ts'
import { type Clock, hostClock } from '../../../worker/shared/clock.ts'
import { Metrics } from '../../../worker/shared/metrics.ts'
import { openSql } from '../../../worker/shared/sql-node.ts'
import {
  type Claims,
  OF_SESSIONS,
  publishedRepo,
  SECRET,
  taskRecord,
  token,
} from '../../support/edge.ts'
import { EventStream } from '../../support/event-stream.ts'
import { processEdge } from '../../support/in-process-edge.ts'
import { issuerEnv, startIssuer } from '../../support/issuer.ts'

const open = (env: Record<string, string>, clock: Clock = hostClock) =>
  createAccess(readAuth(env), {
    clock,
    fetch,
    metrics: accessMetrics(new Metrics()),
    endedSessions: sqliteEndedSessions(openSql(':memory:')),
  })

const bearer = (value: string) => ({ Authorization: `Bearer ${value}` })
const request = (value: string) =>
  new Request('https://edge.test/api/tasks', { headers: bearer(value) })

describe('access', () => {
  it('answers 503 with what to set on every protected route, if nothing is configured', async () => {
    const edge = processEdge({ env: {} })
    const response = await edge.fetch('/api/tasks', {
      headers: { Authorization: `Bearer ${await token({})}` },
    })
    expect(response.status).toBe(503)
    expect(await response.json()).toEqual({
      error:
        'No way to verify tokens is configured: set AUTH_SECRETS, or AUTH_JWKS_URL and AUTH_ISSUER.',
      code: 'not_configured',
    })
  })

  it('verifies with every secret during a rotation, and signs with the first', async () => {
    const old = 'the old secret, still 32 bytes long!'.replaceAll(' ', '-')
    const access = open({ AUTH_SECRETS: `${SECRET} ${old}` })
    const grant = await access.authenticate(request(await token({ repos: ['r'] }, old)))
    expect(grant.repos).toEqual(['r'])
    const { ticket } = await access.issueTicket(grant, 'r')
    const onlyNew = open({ AUTH_SECRETS: SECRET })
    const url = `https://edge.test/api/events?path=r&ticket=${ticket}`
    const byTicket = await onlyNew.authenticate(new Request(url))
    expect(byTicket).toMatchObject({ repos: ['r'], via: 'ticket', expiresAt: grant.expiresAt })
  })

  it('verifies with the keys of a JWKS, and refuses an HS256 token signed with a public key', async () => {
    const issuer = await startIssuer()
    const access = open({ AUTH_SECRETS: SECRET, ...issuerEnv(issuer) })
    const signed = await issuer.sign({ scope: 'board:read', repos: ['r'] })
    expect((await access.authenticate(request(signed))).repos).toEqual(['r'])
    const confused = await token({}, JSON.stringify(issuer.jwk))
    await expect(access.authenticate(request(confused))).rejects.toMatchObject({
      reason: 'unauthorized',
    })
    const own = await access.authenticate(request(await token({ repos: ['s'] })))
    expect(own.repos).toEqual(['s'])
  })

  it('refuses a token whose sub is no text, whoever signed it', async () => {
    const issuer = await startIssuer()
    const access = open({ AUTH_SECRETS: SECRET, ...issuerEnv(issuer) })
    for (const sub of [5, { admin: true }, ['a'], null]) {
      const signed = await issuer.sign({ scope: 'board:read', repos: ['r'], sub: sub as never })
      await expect(access.authenticate(request(signed))).rejects.toMatchObject({
        reason: 'unauthorized',
      })
    }
  })

  it('lets a token of an actor claim, renew and end as that one and those below it, and no other', async () => {
    const edge = processEdge()
    const repo = await publishedRepo(
      edge,
      [1, 2, 3].map((n) => taskRecord(`A-${n}`)),
    )
    const scope = 'board:read board:work'
    const asker = async (actor?: string) => {
      const sent = bearer(await token({ scope, repos: [repo.path], ...(actor && { actor }) }))
      return async (route: string, body: object) => {
        const init = { method: 'POST', headers: sent, body: JSON.stringify(body) }
        const response = await repo.request(`/claims${route}`, init)
        const { code, session } = (await response.json()) as { code?: string; session?: string }
        return { status: response.status, code, session }
      }
    }
    const [anybody, ci] = [await asker(), await asker('ci')]
    const [theirs, ours] = ['a', 'b'].map((letter) => letter.repeat(22))
    const theirClaim = await anybody('', { claim: theirs, actor: 'ada' })
    expect(theirClaim).toMatchObject({ status: 201 })
    const forbidden = { status: 403, code: 'forbidden' }
    for (const actor of ['ada', 'ci2', 'c', 'CI', '/ci']) {
      expect(await ci('', { claim: ours, actor }), actor).toMatchObject(forbidden)
    }
    expect(await ci('/renew', { claim: theirs })).toMatchObject(forbidden)
    const end = { outcome: 'abandoned' }
    expect(await ci('/release', { ...end, claim: theirs })).toMatchObject(forbidden)
    expect(await ci('/release', { ...end, session: theirClaim.session })).toMatchObject(forbidden)
    expect(await anybody('/renew', { claim: theirs })).toMatchObject({ status: 200 })
    const ourClaim = await ci('', { claim: ours, actor: 'ci/7' })
    expect(ourClaim).toMatchObject({ status: 201 })
    expect(await ci('/renew', { claim: ours })).toMatchObject({ status: 200 })
    const ended = await ci('/release', { ...end, session: ourClaim.session })
    expect(ended).toMatchObject({ status: 200 })
    expect(await ci('', { claim: 'c'.repeat(22), actor: 'ci' })).toMatchObject({ status: 201 })
  })

  it('keeps the actor of a token in the session of a browser that signs in with it', async () => {
    const edge = processEdge()
    const scope = 'board:read board:work'
    const given = await token({ scope, repos: ['r'], actor: 'ci' })
    const signedIn = await edge.fetch('/api/session', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: edge.origin },
      body: JSON.stringify({ token: given }),
    })
    const [cookie = ''] = (signedIn.headers.get('Set-Cookie') ?? '').split(';')
    const access = open({ AUTH_SECRETS: SECRET })
    const asked = new Request(`${edge.origin}/api/tasks`, { headers: { Cookie: cookie } })
    expect(await access.authenticate(asked)).toMatchObject({ via: 'cookie', actor: 'ci' })
  })

  it('refuses a token whose actor is no name: it would be one of all actors', async () => {
    const access = open({ AUTH_SECRETS: SECRET })
    for (const actor of ['', 5, null, ['ci']]) {
      const signed = await token({ repos: ['r'], actor: actor as string })
      await expect(access.authenticate(request(signed))).rejects.toMatchObject({
        reason: 'unauthorized',
      })
    }
  })

  it('accepts a token of a JWKS only if iss and aud are those of this deployment', async () => {
    const issuer = await startIssuer()
    const access = open({ ...issuerEnv(issuer), AUTH_AUDIENCE: 'board-of-ours' })
    const claims = { scope: 'payments:write', repos: ['r'], aud: 'board-of-ours' }
    const grantOf = async (more: JWTPayload) =>
      access.authenticate(request(await issuer.sign({ ...claims, ...more })))
    expect((await grantOf({})).scopes).toEqual(new Set(['payments:write']))
    for (const wrong of [
      { iss: 'https://issuer.test/tenant-2/' },
      { iss: '' },
      { aud: 'signalbox' },
    ]) {
      await expect(grantOf(wrong), JSON.stringify(wrong)).rejects.toMatchObject({
        reason: 'unauthorized',
      })
    }
  })

  it('refuses a ticket of another deployment that has the same secrets', async () => {
    const [ours, theirs] = ['ours', 'theirs'].map((name) =>
      open({ AUTH_SECRETS: SECRET, AUTH_AUDIENCE: name }),
    )
    const grant = await ours?.authenticate(request(await token({ repos: ['r'], aud: 'ours' })))
    const ticket = grant && (await ours?.issueTicket(grant, 'r'))?.ticket
    const byTicket = new Request(`https://edge.test/api/events?path=r&ticket=${ticket}`)
    expect(await ours?.authenticate(byTicket)).toMatchObject({ via: 'ticket' })
    await expect(theirs?.authenticate(byTicket)).rejects.toMatchObject({ reason: 'unauthorized' })
  })

  it('answers 503 with what to set, if the AUTH_ variables are incomplete', async () => {
    const half = {
      AUTH_SECRETS: SECRET,
      AUTH_JWKS_URL: 'http://issuer.test/keys',
    }
    const edge = processEdge({ env: half })
    const response = await edge.fetch('/api/tasks?path=r', {
      headers: { Authorization: `Bearer ${await token({})}` },
    })
    expect(response.status).toBe(503)
    expect(await response.json()).toEqual({
      error:
        'AUTH_JWKS_URL must be an https URL (http only on loopback); ' +
        'AUTH_JWKS_URL needs AUTH_ISSUER: the iss of its tokens.',
      code: 'misconfigured',
    })
    expect(readAuth({ AUTH_SECRETS: 'short', AUTH_JWKS_URL: 'nowhere' }).problem).toMatch(
      /AUTH_SECRETS.*32 bytes; AUTH_JWKS_URL is not a URL; /,
    )
  })

  it('issues tickets for a day, or until the token expires if that is sooner', async () => {
    const clock = new FakeClock()
    const access = open({ AUTH_SECRETS: SECRET }, clock)
    const lifeOf = async (tokenMs: number) => {
      const exp = Math.floor((clock.now() + tokenMs) / 1_000)
      const grant = await access.authenticate(request(await token({ repos: ['r'], exp })))
      const { ticket, expiresAt } = await access.issueTicket(grant, 'r')
      expect(decodeJwt(ticket).exp).toBe(Math.floor(expiresAt / 1_000))
      return expiresAt - clock.now()
    }
    const dayMs = 86_400_000
    expect(await lifeOf(30 * dayMs)).toBe(dayMs)
    expect(await lifeOf(60_000)).toBe(60_000)
  })

  it('counts streams by subject over all its tokens and tickets, or by token without a subject', async () => {
    const access = open({ AUTH_SECRETS: SECRET })
    const holderOf = async (claims: Claims) => {
      const grant = await access.authenticate(request(await token({ repos: ['r'], ...claims })))
      const { ticket } = await access.issueTicket(grant, 'r')
      const url = `https://edge.test/api/events?path=r&ticket=${ticket}`
      const byTicket = await access.authenticate(new Request(url))
      expect(await byTicket.holder()).toBe(await grant.holder())
      expect(ticket).not.toContain(btoa('ann@example.org').slice(0, 12))
      return grant.holder()
    }
    const ann = await holderOf({ sub: 'ann@example.org', exp: '1h' })
    expect(await holderOf({ sub: 'ann@example.org', exp: '2h' })).toBe(ann)
    const nameless = await Promise.all(['1h', '2h'].map((exp) => holderOf({ exp })))
    expect(new Set([ann, ...nameless]).size).toBe(3)
  })

  it('keeps streams free for other clients when one client opens too many', async () => {
    const edge = processEdge({ env: { AUTH_SECRETS: SECRET, MAX_STREAMS: '8' } })
    const repo = await publishedRepo(edge)
    const open = async () => {
      const response = await repo.post('tickets', {})
      const { ticket, path } = (await response.json()) as { ticket: string; path: string }
      const query = new URLSearchParams({ ticket, path })
      return new EventStream(await edge.fetch(`/api/events?${query}`))
    }
    // One after the other: the edge ends the stream that joins last.
    const first = await (await open()).joined()
    const second = await (await open()).joined()
    const third = await open()
    await third.until((stream) => stream.ended)
    const headers = bearer(await token({ repos: [repo.path], sub: 'another' }))
    const path = encodeURIComponent(repo.path)
    const other = new EventStream(await edge.fetch(`/api/events?path=${path}`, { headers }))
    await other.joined()
    await repo.changes({ upserts: [taskRecord('A-1')] })
    for (const stream of [first, second, other]) {
      await stream.until((it) => it.messages.length === 1)
      await stream.close()
    }
  })

  it('takes the last of two cookies with its name, which no page on another port can set', async () => {
    const access = open({ AUTH_SECRETS: SECRET })
    const session = (repo: string) => token({ repos: [repo], aud: OF_SESSIONS })
    const [theirs, ours] = [await session('theirs'), await session('ours')]
    const Cookie = `signalbox-8787=${theirs}; signalbox-8788=x; signalbox-8787=${ours}; other=y`
    const asked = new Request('http://127.0.0.1:8787/api/tasks', { headers: { Cookie } })
    expect(await access.authenticate(asked)).toMatchObject({ repos: ['ours'], via: 'cookie' })
  })

  it('names the cookie after the port on plain loopback, and __Host-signalbox elsewhere', () => {
    expect(cookieName(new URL('http://127.0.0.1:8787/'))).toBe('signalbox-8787')
    expect(cookieName(new URL('http://localhost/'))).toBe('signalbox-80')
    expect(cookieName(new URL('https://localhost:8443/'))).toBe('__Host-signalbox')
    expect(cookieName(new URL('https://board.example/'))).toBe('__Host-signalbox')
  })
})
