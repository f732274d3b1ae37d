// Every route and who may pass it: the table, the kinds of callers, and what each is answered.

import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { expect } from 'vitest'
import { issueCode } from '../../worker/session/code.ts'
import { cookieName, SCOPES, type Scope } from '../../worker/shared/access.ts'
import { readAuth } from '../../worker/shared/auth-config.ts'
import { hostClock } from '../../worker/shared/clock.ts'
import { createTokens } from '../../worker/shared/tokens.ts'
import { type Claims, type Edge, OF_SESSIONS, SECRET, token } from '../support/edge.ts'

interface Door {
  /** As it is asked for. */
  ask: string
  /** `token`: any that is good. `nobody`: no token counts there, neither for nor against. */
  needs: Scope | 'token' | 'nobody'
  /** It needs this scope as well. */
  and?: Scope
  /** What who may pass is answered; the bodies are empty, so some of it is a refusal further in. */
  passed: number
  /** It is about no one board. */
  isOfAll?: true
}

const board = (ask: string, passed: number, needs: Scope = 'board:read') => ({ ask, needs, passed })
const work = (ask: string): Door => ({ ask, needs: 'board:work', and: 'board:read', passed: 400 })
const reads = (ask: string, passed = 200): Door => ({ ask, needs: 'payments:read', passed })
const writes = (ask: string, passed: number): Door => ({ ask, needs: 'payments:write', passed })

export const DOORS: Record<string, Door> = {
  'GET /': { ask: '/', needs: 'nobody', passed: 200 },
  'GET /openapi.json': { ask: '/openapi.json', needs: 'nobody', passed: 200 },
  'GET /console/:name': { ask: '/console/a.js', needs: 'nobody', passed: 200 },
  // The driver refuses the signature, whoever else the caller may be.
  'POST /payments/webhooks/:gateway': {
    ask: '/payments/webhooks/bank',
    needs: 'nobody',
    passed: 401,
  },
  'POST /payments/webhooks/:gateway/callback': {
    ask: '/payments/webhooks/bank/callback',
    needs: 'nobody',
    passed: 401,
  },

  // The body is no message.
  'GET /mcp': { ask: '/mcp', needs: 'nobody', passed: 405 },
  'DELETE /mcp': { ask: '/mcp', needs: 'nobody', passed: 405 },
  'POST /mcp': { ask: '/mcp', needs: 'token', passed: 400 },

  'GET /api/session': { ask: '/api/session', needs: 'token', passed: 200 },
  'DELETE /api/session': { ask: '/api/session', needs: 'token', passed: 204 },

  'GET /api/events': board('/api/events', 200),
  'POST /api/tickets': board('/api/tickets', 201),
  'GET /api/tasks': board('/api/tasks', 200),
  'GET /api/tasks/:id': board('/api/tasks/A-1', 200),
  'GET /api/tasks/:id/runs': board('/api/tasks/A-1/runs', 200),
  'GET /api/tasks/:id/sessions': board('/api/tasks/A-1/sessions', 200),
  'GET /api/sessions': board('/api/sessions', 200),
  'GET /api/sessions/:id': board('/api/sessions/ses_1', 404),
  'GET /api/activity': board('/api/activity', 200),
  'GET /api/status': board('/api/status', 200),
  'GET /api/boards': { ...board('/api/boards', 200), isOfAll: true },
  // Nothing in them says what version of the wire they are.
  // Its query has no run.
  'GET /api/sidecar': board('/api/sidecar', 400, 'board:write'),
  'POST /api/sync': board('/api/sync', 409, 'board:write'),
  'POST /api/changes': board('/api/changes', 409, 'board:write'),
  'PUT /api/boards': board('/api/boards', 409, 'board:write'),
  'DELETE /api/boards': board('/api/boards', 404, 'board:write'),

  'GET /api/board-settings': board('/api/board-settings', 200),
  'PUT /api/board-settings': board('/api/board-settings', 200, 'board:lead'),
  'GET /api/notices': board('/api/notices', 200),
  'POST /api/notices/test': board('/api/notices/test', 400, 'board:lead'),
  'GET /api/notices/due': board('/api/notices/due', 200, 'board:write'),
  'POST /api/notices/due': board('/api/notices/due', 400, 'board:write'),
  'POST /api/claims': work('/api/claims'),
  'POST /api/claims/renew': work('/api/claims/renew'),
  'POST /api/claims/release': work('/api/claims/release'),

  'GET /api/payments/transactions': reads('/api/payments/transactions'),
  'GET /api/payments/transactions/:id': reads('/api/payments/transactions/01J', 404),
  'GET /api/payments/webhook-events': reads('/api/payments/webhook-events'),
  'GET /api/payments/webhook-events/:id': reads('/api/payments/webhook-events/01J', 404),
  'GET /api/payments/webhook-rates': reads('/api/payments/webhook-rates'),
  'GET /api/payments/failing-endpoints': reads('/api/payments/failing-endpoints'),
  'GET /api/payments/alerts': reads('/api/payments/alerts'),
  'GET /api/payments/audit': reads('/api/payments/audit'),
  'GET /api/payments/movements': reads('/api/payments/movements'),
  'GET /api/payments/movements/days': reads('/api/payments/movements/days', 422),
  'POST /api/payments/reconcile': reads('/api/payments/reconcile', 422),
  'GET /api/payments/gateways': reads('/api/payments/gateways'),
  'POST /api/payments/charges': writes('/api/payments/charges', 422),
  'POST /api/payments/refunds': writes('/api/payments/refunds', 422),
  'POST /api/payments/transactions/:id/check': writes('/api/payments/transactions/01J/check', 404),
  'POST /api/payments/transactions/:id/cancel': writes(
    '/api/payments/transactions/01J/cancel',
    404,
  ),
  'POST /api/payments/failing-endpoints/send-all': writes(
    '/api/payments/failing-endpoints/send-all',
    422,
  ),
  'POST /api/payments/pause': writes('/api/payments/pause', 200),
  'POST /api/payments/resume': writes('/api/payments/resume', 200),
  'POST /api/payments/sweep': writes('/api/payments/sweep', 200),
  'POST /api/payments/alerts/:id/acknowledge': writes('/api/payments/alerts/01J/acknowledge', 404),
  'DELETE /api/payments/alerts/:id/acknowledge': writes(
    '/api/payments/alerts/01J/acknowledge',
    404,
  ),
  'POST /api/payments/transactions/:id/notes': writes('/api/payments/transactions/01J/notes', 422),
  'POST /api/payments/deliveries/:id/redeliver': writes(
    '/api/payments/deliveries/01J/redeliver',
    404,
  ),
}

/** How one comes to a door. */
export interface Caller {
  who: string
  headers?: Record<string, string>
  /** Added to the query. */
  ticket?: string
  /** What a door answers; undefined: it lets this one pass. */
  refused(door: Door, method: string): number | undefined
}

const always = (status: number) => () => status
const never = () => undefined
const bearer = (value: string) => ({ Authorization: `Bearer ${value}` })
const isOfBoard = ({ needs, isOfAll }: Door) => needs.startsWith('board:') && !isOfAll
export const ALL_SCOPES = SCOPES.join(' ')

const tokens = createTokens(readAuth({ AUTH_SECRETS: SECRET }), { clock: hostClock, fetch })

/** Whoever may come, as far as the secret alone makes them, to the edge of this origin. */
export async function callersAt(origin: string, path: string): Promise<Caller[]> {
  const mint = (claims: Claims, secret?: string) =>
    token({ scope: ALL_SCOPES, repos: [path], ...claims }, secret)
  const cookie = async (scope: string) =>
    `${cookieName(new URL(origin))}=${await mint({ scope, aud: OF_SESSIONS })}`

  const end = Date.now() + 3_600_000
  const ticket = await tokens.sign({ scope: 'board:read', repos: [path] }, 'ticket', end)
  const strangers: Record<string, string> = {
    garbage: 'x.y.z',
    'an expired token': await mint({ exp: '-1m' }),
    'a token for another audience': await mint({ aud: 'another' }),
    'a token of another secret': await mint({}, 'another-secret-of-32-bytes-or-more!!'),
    'a token that nobody signed': `${btoa('{"alg":"none"}')}.${(await mint({})).split('.')[1]}.`,
    'a ticket as a bearer': ticket,
    'a session as a bearer': await mint({ aud: OF_SESSIONS, sid: 'a' }),
    'a sign-in code as a bearer': await issueCode(
      tokens,
      { scope: ALL_SCOPES, repos: [path] },
      Date.now(),
    ),
  }
  const refusing: Caller[] = [
    { who: 'nobody', refused: always(401) },
    { who: 'another scheme', headers: { Authorization: 'Basic YTpi' }, refused: always(401) },
    ...Object.entries(strangers).map(([who, value]) => {
      return { who, headers: bearer(value), refused: always(401) }
    }),
  ]

  const byScope = SCOPES.map(async (scope) => ({
    who: `a token of ${scope} alone`,
    headers: bearer(await mint({ scope })),
    refused: ({ needs, and }: Door) =>
      needs === 'token' || (needs === scope && and === undefined) ? undefined : 403,
  }))
  const prefix = path.slice(0, -2)
  const byRepos = Object.entries({
    'for this board': [path],
    'for a prefix': [`${prefix}*`],
    'for another board': ['another'],
    'for a name that this one begins with': [prefix],
    'for what lies below': [`${path}/*`],
    'for no board': [],
  }).map(async ([what, repos]) => {
    const headers = bearer(await mint({ repos }))
    const isInReach = repos.some((repo) => repo === path || repo === `${prefix}*`)
    const refused = (door: Door) => (isOfBoard(door) && !isInReach ? 403 : undefined)
    return { who: `a token of everything ${what}`, headers, refused }
  })

  const Cookie = await cookie(ALL_SCOPES)
  const readsOnly = (_: Door, method: string) => (method === 'GET' ? undefined : 403)
  const byCookie: Caller[] = [
    { who: 'a cookie without an Origin', headers: { Cookie }, refused: readsOnly },
    {
      who: 'a cookie from a page of another origin',
      headers: { Cookie, Origin: 'https://evil.test' },
      refused: readsOnly,
    },
    { who: 'a cookie from our own page', headers: { Cookie, Origin: origin }, refused: never },
    {
      who: 'a cookie of board:read from our own page',
      headers: { Cookie: await cookie('board:read'), Origin: origin },
      refused: ({ needs }) => (needs === 'token' || needs === 'board:read' ? undefined : 403),
    },
    {
      who: 'a ticket',
      ticket,
      refused: ({ ask }) => (ask === '/api/events' ? undefined : 401),
    },
  ]
  return [...refusing, ...(await Promise.all([...byScope, ...byRepos])), ...byCookie]
}

/** Goes to all these doors: what each answered, and what it should. */
export async function knockAt(
  doors: Readonly<Record<string, Door>>,
  caller: Caller,
  { edge, path }: { edge: Edge; path: string },
) {
  const answered: Record<string, number> = {}
  const expected: Record<string, number> = {}
  for (const [route, door] of Object.entries(doors)) {
    const [method = 'GET'] = route.split(' ')
    const query = new URLSearchParams({
      ...(isOfBoard(door) && { path }),
      ...(caller.ticket !== undefined && { ticket: caller.ticket }),
    })
    const answer = await edge.fetch(`${door.ask}?${query}`, {
      method,
      headers: { 'Content-Type': 'application/json', ...caller.headers },
      ...(/POST|PUT/.test(method) && { body: '{}' }),
    })
    await answer.body?.cancel()
    answered[route] = answer.status
    const refused = door.needs === 'nobody' ? undefined : caller.refused(door, method)
    expected[route] = refused ?? door.passed
  }
  return { answered, expected }
}

/** Host headers that name no host: as text, by the port, and by a character. */
const NO_HOSTS = ['a b', 'localhost:99999', '%00']

/** Hosts hand on any Host header; one that names no host would fail in whoever reads the URL. */
export async function expectHostsRefused(
  { origin }: Edge,
  statuses: readonly number[] = NO_HOSTS.map(() => 400),
): Promise<void> {
  for (const [at, Host] of NO_HOSTS.entries()) {
    const asked = request(`${origin}/api/session`, { headers: { Host } }).end()
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    answer.resume()
    expect(answer.statusCode, Host).toBe(statuses[at])
  }
}
