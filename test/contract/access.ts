// Access control, for every host of the app: 400, 401, 403, 404 and 413, in the order of the
// contract.

import { SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { cookieName } from '../../worker/shared/access.ts'
import type { Edge } from '../support/edge.ts'
import {
  freshPath,
  OF_SESSIONS,
  publishedRepo,
  Repo,
  SECRET,
  taskRecord,
  token,
} from '../support/edge.ts'
import { EventStream } from '../support/event-stream.ts'

export function accessContract(name: string, host: { edge(): Edge }): void {
  const answer = async (path: string, init: RequestInit = {}) => {
    const response = await host.edge().fetch(path, init)
    const body = (await response.json()) as { error?: string; code?: string }
    return { status: response.status, ...body }
  }
  const bearer = (value: string) => ({ headers: { Authorization: `Bearer ${value}` } })
  const unsigned = (claims: object) => {
    const part = (value: object) => btoa(JSON.stringify(value)).replaceAll('=', '')
    return `${part({ alg: 'none' })}.${part(claims)}.`
  }

  describe(`access on ${name}`, () => {
    it('answers 401 before anything else under /api, an unknown route included', async () => {
      for (const path of ['/api/tasks', '/api/events?path=', '/api/nothing/here']) {
        const refused = await answer(path)
        expect(refused).toMatchObject({ status: 401, code: 'unauthorized' })
      }
    })

    it('describes its routes to everybody, in an OpenAPI document', async () => {
      const { status, ...document } = await answer('/openapi.json')
      expect(status).toBe(200)
      expect(document).toMatchObject({ openapi: '3.1.1', paths: { '/api/tasks': {} } })
    })

    it('refuses a forged, expired or unsigned token, one without expiry, and one for another audience', async () => {
      const exp = Math.floor(Date.now() / 1_000) + 600
      const claims = { aud: 'signalbox', scope: 'board:read', repos: ['*'], exp }
      const good = await token({})
      const tokens = {
        'signed by another secret': await token({}, 'another secret of thirty-two bytes or more'),
        endless: await new SignJWT({ scope: 'board:read', repos: ['*'] })
          .setProtectedHeader({ alg: 'HS256' })
          .setAudience('signalbox')
          .sign(new TextEncoder().encode(SECRET)),
        expired: await token({ exp: Math.floor(Date.now() / 1_000) - 5 }),
        'alg none': unsigned(claims),
        'for another audience': await token({ aud: 'somebody-else' }),
        'with its last character changed': `${good.slice(0, -2)}${good.at(-2) === 'A' ? 'B' : 'A'}`,
        'not a token': 'x.y.z',
      }
      for (const [what, value] of Object.entries(tokens)) {
        const refused = await answer('/api/tasks?path=r', bearer(value))
        expect(refused, what).toMatchObject({ status: 401, code: 'unauthorized' })
      }
    })

    it('answers 400 to a path that is missing, empty, too long or has control characters', async () => {
      const wide = bearer(await token({ repos: ['*'] }))
      const long = 'ä'.repeat(257)
      for (const query of [
        '',
        '?path=',
        `?path=${long}`,
        '?path=a%00b',
        '?path=a%0Ab',
        '?path=a*',
      ]) {
        const refused = await answer(`/api/events${query}`, wide)
        expect(refused, query).toMatchObject({ status: 400, code: 'invalid_path' })
        expect(refused.error).toMatch(/\.$/)
      }
    })

    it('answers 403 to a token for another repository, and to one without the scope', async () => {
      const other = bearer(await token({ repos: ['mine', 'team/*'] }))
      const refused = await answer('/api/tasks?path=yours', other)
      expect(refused).toMatchObject({ status: 403, code: 'forbidden' })
      const inReach = await answer('/api/tasks?path=team/x', other)
      expect(inReach).toMatchObject({ status: 404, code: 'unknown_repository' })
      const reader = bearer(await token({ repos: ['mine'], scope: 'board:read' }))
      const publishing = await answer('/api/changes', { method: 'POST', body: '{}', ...reader })
      expect(publishing).toMatchObject({ status: 403, code: 'forbidden' })
    })

    it('answers 404 to an unknown route, repository, task or session', async () => {
      const repo = await publishedRepo(host.edge(), [taskRecord('A-1')])
      const code = async (route: string) => {
        const response = await repo.request(route)
        return [response.status, ((await response.json()) as { code: string }).code]
      }
      expect(await code('/nothing')).toEqual([404, 'not_found'])
      expect(await code('/tasks/A-2')).toEqual([404, 'unknown_task'])
      expect(await code('/tasks/A-2/runs')).toEqual([404, 'unknown_task'])
      expect(await code('/sessions/ses_2')).toEqual([404, 'unknown_session'])
      const unknown = new Repo(host.edge())
      expect((await unknown.request('/status')).status).toBe(404)
    })

    it('needs no path if the token names exactly one repository', async () => {
      const path = freshPath()
      const refused = await answer('/api/tasks', bearer(await token({ repos: [path] })))
      expect(refused).toMatchObject({ status: 404, code: 'unknown_repository' })
    })

    it('means the only exact repository of a token without a path, and refuses to choose', async () => {
      const repo = await publishedRepo(host.edge(), [taskRecord('A-1')])
      const beside = [`${repo.path}/*`, `${repo.path}#*`]
      const read = async (repos: string[]) =>
        await answer('/api/tasks/A-1', bearer(await token({ repos })))
      for (const repos of [
        [repo.path, ...beside],
        [...beside, repo.path],
      ]) {
        expect(await read(repos)).toMatchObject({ id: 'A-1' })
      }
      for (const repos of [beside, [repo.path, freshPath(), ...beside]]) {
        expect(await read(repos)).toMatchObject({ status: 400, code: 'invalid_path' })
      }
    })

    it('treats hostile paths as names only', async () => {
      const wide = bearer(await token({ repos: ['*'] }))
      for (const path of ['../../etc/passwd', "'; DROP TABLE tasks; --", '/', '%2e%2e%2f']) {
        const refused = await answer(`/api/tasks?path=${encodeURIComponent(path)}`, wide)
        expect(refused, path).toMatchObject({ status: 404, code: 'unknown_repository' })
      }
    })

    it('opens the stream of one path with a ticket, and nothing else', async () => {
      const repo = await publishedRepo(host.edge(), [taskRecord('A-1')])
      const issued = await repo.post('tickets', {})
      expect(issued.status).toBe(201)
      const { ticket } = (await issued.json()) as { ticket: string }
      const path = encodeURIComponent(repo.path)
      const opened = await host.edge().fetch(`/api/events?path=${path}&ticket=${ticket}`)
      const stream = await new EventStream(opened).joined()
      await stream.close()
      for (const route of [
        `/api/events?path=another&ticket=${ticket}`,
        `/api/tasks?path=${path}&ticket=${ticket}`,
      ]) {
        expect((await answer(route)).status, route).toBeGreaterThanOrEqual(401)
      }
      const asBearer = await answer(`/api/tasks?path=${path}`, bearer(ticket))
      expect(asBearer).toMatchObject({ status: 401 })
    })

    it('accepts the cookie for reads, and for writes only from known origins', async () => {
      const repo = await publishedRepo(host.edge(), [taskRecord('A-1')])
      const value = await token({ repos: [repo.path], aud: OF_SESSIONS })
      const { origin } = host.edge()
      const Cookie = `other=1; ${cookieName(new URL(origin))}=${value}`
      const read = await host.edge().fetch('/api/tasks', { headers: { Cookie } })
      expect(read.status).toBe(200)
      await read.text()
      const write = (headers: Record<string, string>) =>
        answer('/api/tickets', { method: 'POST', headers: { Cookie, ...headers } })
      expect(await write({})).toMatchObject({ status: 403, code: 'bad_origin' })
      const evil = await write({ Origin: 'https://evil.test' })
      expect(evil).toMatchObject({ status: 403, code: 'bad_origin' })
      expect(await write({ Origin: origin })).toMatchObject({ status: 201 })
    })

    it('names the place of the fault in a malformed request, and refuses one that is too large', async () => {
      const repo = await publishedRepo(host.edge(), [taskRecord('A-1')])
      const post = async (body: string) => {
        const response = await repo.request('/changes', { method: 'POST', body })
        return { status: response.status, ...((await response.json()) as { code: string }) }
      }
      expect(await post('{')).toMatchObject({ status: 400, code: 'invalid_request' })
      const wrong = await post(JSON.stringify({ ...repo.part({}), upserts: [{ kind: 'task' }] }))
      expect(wrong).toMatchObject({ status: 400, error: expect.stringContaining('upserts.0') })
      const large = await post(`"${'x'.repeat(8 << 20)}"`)
      expect(large).toMatchObject({ status: 413, code: 'payload_too_large' })
    })
  })
}
