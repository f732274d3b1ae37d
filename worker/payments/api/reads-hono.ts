// The read routes of payments. Pages poll them every few seconds and mostly nothing has changed, so
// each answer has an ETag, and an unchanged one is a 304 without a body.

import { Hono } from 'hono'
import { etag, RETAINED_304_HEADERS } from 'hono/etag'
import { Problem } from '../../shared/problem.ts'
import { readQuery } from '../../shared/query.ts'
import { toPause } from '../domain/shown.ts'
import { isoTime, MINUTE_MS, startOfMinute } from '../domain/time.ts'
import type { GatewayHealth, Listed, Transaction, WebhookRates } from '../domain/types.ts'
import type { AnyGateway } from '../gateways/gateway.ts'
import type { Refusals } from '../gateways/refusals.ts'
import type { PaymentQueries } from '../queries/queries-libsql.ts'
import type { Page } from '../queries/transactions-libsql.ts'
import { bookRoutes } from './books-hono.ts'
import { exported, pagesOf } from './export.ts'
import {
  alertsQuery,
  auditQuery,
  eventsQuery,
  noQuery,
  ratesQuery,
  transactionsQuery,
} from './query-parameters.ts'

const WRONG = { reason: 'invalid_argument' } as const

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
}

/** For a cell each: what was paid. */
const flat = (row: Listed<Transaction>) => {
  if ('invalid' in row || !row.paid) return row
  return { ...row, paidAmount: row.paid.amount, paidCurrency: row.paid.currency }
}

export interface QueryDeps {
  queries: PaymentQueries
  config: { gateways: ReadonlyMap<string, AnyGateway> }
  gateways(): Promise<GatewayHealth[]>
  refused: Refusals['refused']
}

/** Mounted after the check of the scope. */
export function queryRoutes(payments: QueryDeps, now: () => number): Hono {
  const { queries, gateways, refused } = payments
  const app = new Hono()
  // Before the tags, for which an answer is read whole: an export may be long.
  app.get('/audit', async (c) => {
    const { format, cursor, limit, ...filter } = readQuery(c.req.url, auditQuery, WRONG)
    const page = pageOf({ cursor, limit })
    if (format !== 'json') {
      const pages = pagesOf(
        (limit, cursor) => queries.audit(filter, pageOf({ cursor, limit })),
        cursor,
      )
      const { body, headers } = await exported(format, AUDIT_TABLE, pages)
      return c.body(body, 200, headers)
    }
    const audit = await queries.audit(filter, page)
    return c.json({ audit, ...cursorOf(audit, page) })
  })
  app.get('/transactions', async (c, next) => {
    const { cursor, format, limit: _, ...filter } = readQuery(c.req.url, transactionsQuery, WRONG)
    if (format === 'json') return await next()
    const pages = pagesOf(
      (limit, cursor) => queries.transactions(filter, pageOf({ cursor, limit })),
      cursor,
    )
    const { body, headers } = await exported(format, TRANSACTION_TABLE, pages, flat)
    return c.body(body, 200, headers)
  })
  app.route('/movements', bookRoutes(queries))
  app.use(etag({ weak: true, retainedHeaders: KEPT_ON_304 }))
  app.use(async (c, next) => {
    await next()
    if (c.req.method === 'GET' && c.res.ok) c.header('Cache-Control', 'private, no-cache')
  })

  app.get('/transactions', async (c) => {
    const { cursor, limit, format: _, ...filter } = readQuery(c.req.url, transactionsQuery, WRONG)
    const page = pageOf({ cursor, limit })
    const transactions = await queries.transactions(filter, page)
    return c.json({ transactions, ...cursorOf(transactions, page) })
  })
  app.get('/transactions/:id', async (c) => {
    readQuery(c.req.url, noQuery, WRONG)
    return c.json(await storyOf(payments, c.req.param('id'), now()))
  })
  app.get('/webhook-events', async (c) => {
    const { cursor, limit, ...filter } = readQuery(c.req.url, eventsQuery, WRONG)
    const page = pageOf({ cursor, limit })
    const webhookEvents = await queries.webhookEvents(filter, page)
    return c.json({ webhookEvents, ...cursorOf(webhookEvents, page) })
  })
  app.get('/webhook-events/:id', async (c) => {
    readQuery(c.req.url, noQuery, WRONG)
    const event = await queries.webhookEvent(c.req.param('id'))
    if (!event) throw new Problem('unknown_event', 'There is no webhook event with this id.')
    return c.json(event)
  })
  app.get('/alerts', async (c) => {
    const { all, cursor, limit } = readQuery(c.req.url, alertsQuery, WRONG)
    const page = pageOf({ cursor, limit })
    const alerts = await queries.alerts({ all: all === 'true' }, page)
    return c.json({ alerts, ...cursorOf(alerts, page) })
  })

  app.get('/gateways', async (c) => {
    readQuery(c.req.url, noQuery, WRONG)
    const [all, pause] = await Promise.all([gateways(), queries.pause()])
    return c.json({ gateways: all, ...(pause && { pause: toPause(pause) }) })
  })
  app.get('/webhook-rates', async (c) => {
    const { minutes } = readQuery(c.req.url, ratesQuery, WRONG)
    // Whole minutes, the current one included: within a minute the tag stays the same.
    const to = startOfMinute(now()) + MINUTE_MS
    const from = to - minutes * MINUTE_MS
    const [rates, { rows, since }] = await Promise.all([
      queries.webhookRates({ from, to }),
      refused(from),
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
    readQuery(c.req.url, noQuery, WRONG)
    return c.json({ endpoints: await queries.failingEndpoints() })
  })
  return app
}

export const unknownTransaction = () =>
  new Problem('unknown_transaction', 'There is no transaction with this id.')

/** Everything that is known of one payment, as one object. */
export async function storyOf(
  { queries, config }: Pick<QueryDeps, 'queries' | 'config'>,
  transactionId: string,
  now: number,
) {
  const story = await queries.story(transactionId, now, config.gateways)
  if (!story) throw unknownTransaction()
  const { transaction, ...rest } = story
  return { ...transaction, ...rest }
}

const pageOf = ({ cursor, limit }: { cursor: string | undefined; limit: number }): Page => ({
  ...(cursor !== undefined && { before: cursor }),
  limit,
})

/** After a full page there may be another. */
function cursorOf(rows: readonly { id: string }[], { limit }: Page): { cursor?: string } {
  const last = rows.at(-1)
  return last && rows.length === limit ? { cursor: last.id } : {}
}
