// Failures that many operations have in common, caused at each operation whose document lists them.

import { beforeAll, expect, it } from 'vitest'
import {
  LedgerUnavailable,
  OtherDatabase,
  SchemaMismatch,
} from '../../worker/payments/ledger/failures.ts'
import type { PaymentQueries } from '../../worker/payments/queries/queries-libsql.ts'
import { cookieName } from '../../worker/shared/access.ts'
import { OF_SESSIONS, SECRET, token } from '../support/edge.ts'
import { type ProcessEdge, processEdge } from '../support/in-process-edge.ts'
import { issuerEnv, startIssuer } from '../support/issuer.ts'
import { ASKS, type Ask, edge, known, send } from '../support/openapi-asks.ts'
import { codesOf, OPERATIONS } from '../support/openapi-operations.ts'
import { setUpPayments } from '../support/payments-setup.ts'

const LARGER_THAN_ANY_LIMIT = 'x'.repeat(9 << 20)

interface Cause {
  /** Default: an edge where nothing is wrong. */
  to?: ProcessEdge
  /** What is wrong with the request. */
  change?(ask: Ask): Ask
}

const withQuery =
  (name: string, value: string) =>
  ({ path, ...ask }: Ask): Ask => {
    const { pathname, searchParams } = new URL(path, edge.origin)
    searchParams.set(name, value)
    return { ...ask, path: `${pathname}?${searchParams}` }
  }

/** With another value at its end: many take the first. */
const twice =
  (name: string) =>
  ({ path, ...ask }: Ask): Ask => {
    const { pathname, searchParams } = new URL(path, edge.origin)
    if (!searchParams.has(name)) searchParams.set(name, 'one')
    searchParams.append(name, 'another')
    return { ...ask, path: `${pathname}?${searchParams}` }
  }

/** An edge whose database of payments fails so. */
function withoutDatabase(failure: Error): Cause {
  const fail = () => Promise.reject(failure)
  const queries = new Proxy({} as PaymentQueries, { get: () => fail })
  const { payments } = setUpPayments({ wait: fail })
  return { to: processEdge({ payments: { ...payments, queries } }) }
}

/** An edge that cannot fetch the keys of its issuer. */
async function withoutKeys(): Promise<Cause> {
  const issuer = await startIssuer()
  const token = await issuer.sign({ scope: 'board:read', repos: ['*'] })
  const env = { AUTH_SECRETS: SECRET, ...issuerEnv(issuer) }
  const to = processEdge({ env, fetch: () => Promise.reject(new TypeError('fetch failed')) })
  const Authorization = `Bearer ${token}`
  const change = (ask: Ask) => ({ ...ask, headers: { ...ask.headers, Authorization } })
  // Whoever signs in sends the token in the body.
  return {
    to,
    change: (ask) => ({ ...change(ask), ...(ask.body !== undefined && { body: { token } }) }),
  }
}

/** An edge that cannot read which sessions were ended, asked by a browser. */
async function withoutSessions(): Promise<Cause> {
  const fail = () => Promise.reject(new Error('it is away'))
  const to = processEdge({ endedSessions: { end: fail, has: fail } })
  const claims = { scope: 'board:read board:write payments:read payments:write', sid: 'a' }
  const session = await token({ ...claims, aud: OF_SESSIONS })
  const Cookie = `${cookieName(new URL(to.origin))}=${session}`
  const byCookie = { Cookie, Origin: to.origin }
  return { to, change: (ask) => ({ ...ask, headers: { ...ask.headers, ...byCookie } }) }
}

const CAUSES: Record<string, () => Cause | Promise<Cause>> = {
  invalid_path: () => ({ change: withQuery('path', '') }),
  unknown_filter: () => ({ change: twice('path') }),
  unknown_repository: () => ({ change: withQuery('path', 'nobody/knows-it') }),
  payload_too_large: () => ({ change: (ask) => ({ ...ask, body: LARGER_THAN_ANY_LIMIT }) }),
  keys_unavailable: withoutKeys,
  sessions_unavailable: withoutSessions,
  ledger_unavailable: () => withoutDatabase(new LedgerUnavailable('it is away')),
  schema_mismatch: () => withoutDatabase(new SchemaMismatch('it is another')),
  other_database: () => withoutDatabase(new OtherDatabase('it is empty')),
}

// None of these requests gets as far as to look for one.
beforeAll(() => {
  const any = { transaction: 'any', ended: 'any', alert: 'any', delivery: 'any', event: 'any' }
  Object.assign(known, any)
})

it.each(Object.entries(CAUSES))(
  '%s is answered by each operation that lists it',
  async (code, cause) => {
    const { to, change = (ask: Ask) => ask } = await cause()
    const lists = (route: string) =>
      Object.values(OPERATIONS.get(route)?.responses ?? {}).some((it) => codesOf(it).includes(code))
    const asks = Object.entries(ASKS).filter(([route]) => lists(route))
    expect(asks.length).toBeGreaterThan(4)
    for (const [route, [ask]] of asks.map(([route, make]) => [route, make()] as const)) {
      const answer = await send(route, change(ask), to)
      expect([route, await answer.json()]).toEqual([route, expect.objectContaining({ code })])
    }
  },
)
