// The read routes of payments. Pages poll them every few seconds and mostly nothing has changed, so
// each answer has an ETag, and an unchanged one is a 304 without a body.

import { type Context, Hono } from 'hono'
import { etag, RETAINED_304_HEADERS } from 'hono/etag'
import { Problem } from '../../shared/problem.ts'
import type { PaymentsConfig } from '../config/payments-config.ts'
import { isoTime, MINUTE_MS, startOfMinute } from '../domain/time.ts'
import type {
  GatewayHealth,
  Listed,
  PauseRecord,
  Transaction,
  WebhookRates,
} from '../domain/types.ts'
import { type AnyGateway, isClosable, mayRefund, supportsStatusCheck } from '../gateways/gateway.ts'
import type { GatewayGuard } from '../gateways/guard.ts'
import type { Refusals } from '../ledger/refused-webhooks.ts'
import type { PaymentQueries } from '../queries/queries-libsql.ts'
import type { Page } from '../queries/transactions-libsql.ts'
import { bookRoutes } from './books-hono.ts'
import { exported, pagesOf, type Table } from './export.ts'
import {
  alertsQuery,
  auditQuery,
  eventsQuery,
  noQuery,
  queryOf,
  ratesQuery,
  transactionsQuery,
} from './query-parameters.ts'
import { storyOf } from './story.ts'

/** Without the first three, a page of another origin cannot read a 304. */
// biome-ignore format: several names a line.
export const KEPT_ON_304 = [
  'Access-Control-Allow-Origin', 'Access-Control-Allow-Credentials',
  'Access-Control-Expose-Headers',
  'X-Request-Id', 'X-Correlation-Id',
  ...RETAINED_304_HEADERS,
]

/** @forTests The export of a real table. */
// biome-ignore format: several names a line.
export const AUDIT_TABLE = {
  name: 'audit',
  columns: [
    'id', 'at', 'action', 'subject', 'gateway', 'reference', 'transactionId', 'about', 'amount',
    'currency', 'detail', 'invalid',
  ],
}

// biome-ignore format: several names a line.
const TRANSACTION_TABLE = {
  name: 'payments',
  columns: [
    'id', 'createdAt', 'status', 'gateway', 'reference', 'gatewayTransactionId',
    'externalReferenceId', 'attempt', 'amount', 'currency', 'paidAmount', 'paidCurrency', 'paidAt',
    'refundedAmount', 'description', 'updatedAt', 'invalid',
  ],
  /** For a cell each: what was paid. */
  cellsOf: (row: Listed<Transaction>) =>
    'invalid' in row || !row.paid
      ? row
      : { ...row, paidAmount: row.paid.amount, paidCurrency: row.paid.currency },
}

export const toPause = ({ since, by }: { since: number; by: string }): PauseRecord => ({
  since: isoTime(since),
  by,
})

export interface QueryDeps {
  queries: PaymentQueries
  config: Pick<PaymentsConfig, 'gateways' | 'accounts'>
  guard: Pick<GatewayGuard, 'health'>
  refusals: Pick<Refusals, 'refused'>
}

/** Mounted after the check of the scope. */
export function queryRoutes(payments: QueryDeps, now: () => number): Hono {
  const { queries, refusals } = payments
  const app = new Hono()
  const transactions = (c: Context) => {
    const { format, cursor, limit, ...filter } = queryOf(c.req.url, transactionsQuery)
    const read = (page: Page) => queries.transactions(filter, page)
    return listOf(c, 'transactions', { format, cursor, limit }, read, TRANSACTION_TABLE)
  }
  // Before the tags, for which an answer is read whole: an export may be long.
  app.get('/audit', (c) => {
    const { format, cursor, limit, ...filter } = queryOf(c.req.url, auditQuery)
    const read = (page: Page) => queries.audit(filter, page)
    return listOf(c, 'audit', { format, cursor, limit }, read, AUDIT_TABLE)
  })
  app.get('/transactions', async (c, next) => {
    const { format } = queryOf(c.req.url, transactionsQuery)
    return format === 'json' ? await next() : await transactions(c)
  })
  app.route('/movements', bookRoutes(queries))
  app.use(etag({ weak: true, retainedHeaders: KEPT_ON_304 }))
  app.use(async (c, next) => {
    await next()
    if (c.req.method === 'GET' && c.res.ok) c.header('Cache-Control', 'private, no-cache')
  })

  app.get('/transactions', transactions)
  app.get('/transactions/:id', async (c) => {
    queryOf(c.req.url, noQuery)
    return c.json(await storyOf(payments, c.req.param('id'), now()))
  })
  app.get('/webhook-events', (c) => {
    const { cursor, limit, ...filter } = queryOf(c.req.url, eventsQuery)
    const read = (page: Page) => queries.webhookEvents(filter, page)
    return listOf(c, 'webhookEvents', { cursor, limit }, read)
  })
  app.get('/webhook-events/:id', async (c) => {
    queryOf(c.req.url, noQuery)
    const event = await queries.webhookEvent(c.req.param('id'))
    if (!event) throw new Problem('unknown_event', 'There is no webhook event with this id.')
    return c.json(event)
  })
  app.get('/alerts', (c) => {
    const { all, cursor, limit } = queryOf(c.req.url, alertsQuery)
    const read = (page: Page) => queries.alerts({ all: all === 'true' }, page)
    return listOf(c, 'alerts', { cursor, limit }, read)
  })
  app.get('/gateways', async (c) => {
    queryOf(c.req.url, noQuery)
    const [gateways, pause] = await Promise.all([gatewayHealth(payments), queries.pause()])
    return c.json({ gateways, ...(pause && { pause: toPause(pause) }) })
  })
  app.get('/webhook-rates', async (c) => {
    const { minutes } = queryOf(c.req.url, ratesQuery)
    // Whole minutes, the current one included: within a minute the tag stays the same.
    const to = startOfMinute(now()) + MINUTE_MS
    const from = to - minutes * MINUTE_MS
    const [rates, { rows, since }] = await Promise.all([
      queries.webhookRates({ from, to }),
      refusals.refused(from),
    ])
    const body: WebhookRates = {
      from: isoTime(from),
      to: isoTime(to),
      minutes: rates,
      refused: rows.map((row) => ({ ...row, at: isoTime(row.at) })),
      refusedSince: isoTime(since),
    }
    return c.json(body)
  })
  app.get('/failing-endpoints', async (c) => {
    queryOf(c.req.url, noQuery)
    return c.json({ endpoints: await queries.failingEndpoints() })
  })
  return app
}

/** In the order of the configuration. */
async function gatewayHealth({ config, guard }: QueryDeps): Promise<GatewayHealth[]> {
  const { gateways, accounts } = config
  const breakers = await guard.health([...gateways.keys()])
  return [...gateways].flatMap(([key, gateway]) => {
    const account = accounts.get(key)
    const breaker = breakers[key]
    return account && breaker ? { key, ...account, breaker, ...capabilitiesOf(gateway) } : []
  })
}

const capabilitiesOf = (gateway: AnyGateway) => ({
  supportsRefund: mayRefund(gateway),
  ...(mayRefund(gateway) && { refunds: gateway.refunds }),
  supportsStatusCheck: supportsStatusCheck(gateway),
  findsLostForS: Math.floor(gateway.chargeRepeatableForMs / 1_000),
  supportsCancel: isClosable(gateway),
  ...(gateway.currencies !== 'any' && { currencies: gateway.currencies }),
})

interface ListAsked {
  format?: 'json' | 'csv' | 'jsonl'
  cursor: string | undefined
  limit: number
}

/** A page of it; as a file all of it, which is read while it is sent. */
async function listOf<Row extends { id: string }>(
  c: Context,
  name: string,
  { format = 'json', cursor, limit }: ListAsked,
  read: (page: Page) => Promise<readonly Row[]>,
  table?: Table & { cellsOf?: (row: Row) => object },
): Promise<Response> {
  if (format !== 'json' && table) {
    const pages = pagesOf((size, after) => read(pageOf(size, after)), cursor)
    const { body, headers } = await exported(format, table, pages, table.cellsOf)
    return c.body(body, 200, headers)
  }
  const page = pageOf(limit, cursor)
  const rows = await read(page)
  return c.json({ [name]: rows, ...cursorOf(rows, page) })
}

const pageOf = (limit: number, before: string | undefined): Page => ({
  ...(before !== undefined && { before }),
  limit,
})

/** After a full page there may be another. */
function cursorOf(rows: readonly { id: string }[], { limit }: Page): { cursor?: string } {
  const last = rows.at(-1)
  return last && rows.length === limit ? { cursor: last.id } : {}
}
