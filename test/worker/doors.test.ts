// Every route of the app against every kind of caller.

import { describe, expect, it } from 'vitest'
import { InvalidWebhookSignatureException } from '../../worker/payments/domain/exceptions.ts'
import { ALL_SCOPES, type Caller, callersAt, DOORS, knockAt } from '../contract/doors.ts'
import { publishedRepo, SECRET, taskRecord } from '../support/edge.ts'
import { processEdge } from '../support/in-process-edge.ts'
import { issuerEnv, startIssuer } from '../support/issuer.ts'
import { OPERATIONS } from '../support/openapi-operations.ts'
import { setUpPayments } from '../support/payments-setup.ts'

/** What stands before the routes, and answers nothing but refusals. */
const MIDDLEWARE = ['ALL /*', 'ALL /api/*', 'ALL /api/payments/*']
/** How one comes by what is asked for at all others; contract/console-session.ts is about it. */
const SIGN_IN = 'POST /api/session'

const assets = { read: async () => ({ body: new Uint8Array() }) }
const edgeWith = (env: Record<string, string>) => {
  const { payments, script } = setUpPayments()
  script.webhook = () => Promise.reject(new InvalidWebhookSignatureException('It is forged.'))
  return processEdge({ env, payments, assets })
}

const edge = edgeWith({ AUTH_SECRETS: SECRET })
const repo = await publishedRepo(edge, [taskRecord('A-1')])
const place = { edge, path: repo.path }
const callers = await callersAt(edge.origin, repo.path)

describe('the doors', () => {
  it('are all in the table', () => {
    // Those of webhooks answer every other method with 405.
    const routes = edge.routes.map(({ method, path }) =>
      path.startsWith('/payments/webhooks/') ? `POST ${path}` : `${method} ${path}`,
    )
    // A route that is new here needs a row there: who may pass it?
    expect(new Set(routes)).toEqual(new Set([...MIDDLEWARE, SIGN_IN, ...Object.keys(DOORS)]))
  })

  it('are all in the OpenAPI document, with what each needs, but for the page and refused methods', () => {
    const documented = Object.fromEntries(
      [...OPERATIONS].map(
        ([
          route,
          {
            security: [first],
          },
        ]) => {
          return [route, first ? (first.bearer?.[0] ?? 'token') : 'nobody']
        },
      ),
    )
    const { 'GET /': _, 'GET /console/:name': __, ...doors } = DOORS
    const needed = Object.entries(doors).flatMap(([route, { needs, passed }]) =>
      passed === 405 ? [] : [[route, needs]],
    )
    expect(documented).toEqual({ ...Object.fromEntries(needed), [SIGN_IN]: 'nobody' })
  })

  it.each(callers)('answer $who as they should', async (caller) => {
    const { answered, expected } = await knockAt(DOORS, caller, place)
    expect(answered).toEqual(expected)
  })

  it('let in whom the issuer names, and nobody whom another issuer does', async () => {
    const issuer = await startIssuer()
    const theirs = edgeWith({ AUTH_SECRETS: SECRET, ...issuerEnv(issuer) })
    const published = await publishedRepo(theirs, [taskRecord('A-1')])
    const claims = { scope: ALL_SCOPES, repos: [published.path] }
    const callerOf = async (more: object, refused: Caller['refused'], kid?: string) => {
      const Authorization = `Bearer ${await issuer.sign({ ...claims, ...more }, kid)}`
      return { who: JSON.stringify(more), headers: { Authorization }, refused }
    }
    for (const caller of [
      await callerOf({}, () => undefined),
      await callerOf({ iss: 'https://issuer.test/another' }, () => 401),
      await callerOf({ aud: 'another' }, () => 401),
      await callerOf({ exp: 1 }, () => 401),
      await callerOf({}, () => 401, 'another-key'),
      await callerOf({ aud: 'signalbox:ticket' }, () => 401),
    ]) {
      const { answered, expected } = await knockAt(DOORS, caller, { ...published, edge: theirs })
      expect(answered, caller.who).toEqual(expected)
    }
  })

  it.each([
    ['nothing is set', {}],
    ['the issuer has no name', { AUTH_JWKS_URL: 'https://issuer.test/keys', AUTH_SECRETS: SECRET }],
    ['the secret is short', { AUTH_SECRETS: 'short' }],
  ])('are shut for everybody with 503 when %s', async (_, env) => {
    const shut = edgeWith(env)
    for (const caller of callers) {
      const { answered, expected } = await knockAt(
        DOORS,
        { ...caller, refused: () => 503 },
        { ...place, edge: shut },
      )
      expect(answered, caller.who).toEqual(expected)
    }
  })

  it.each(
    // biome-ignore format: several paths a line.
    [
      '/api/tasks/', '/api//tasks', '//api/tasks', '/API/tasks', '/api/%74asks', '/api%2Ftasks',
      '/x/../api/tasks', '/api/tasks;x', '/api/./tasks', '/api/payments//transactions',
    ],
  )('are not passed by writing the path as %s', async (path) => {
    const answer = await edge.fetch(`${path}?path=${encodeURIComponent(repo.path)}`)
    expect([401, 404]).toContain(answer.status)
  })
})
