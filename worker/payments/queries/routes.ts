// The read routes of payments. Pages poll them every few seconds and mostly nothing has changed, so
// each answer has an ETag, and an unchanged one is a 304 without a body.

import { type Context, Hono } from 'hono'
import { etag, RETAINED_304_HEADERS } from 'hono/etag'
import { Problem } from '../../shared/problem.ts'
import { oneOf, requireKnownQuery } from '../../shared/query.ts'
import { OUTCOMES, PAYMENT_STATUSES } from '../domain/status.ts'
import type { Payments } from '../payments.ts'
import type { Page, PaymentQueries, WebhookRates } from './queries.ts'

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 200
const MAX_SEARCH_CHARS = 255
const MINUTE_MS = 60_000
const HOUR_MINUTES = 60
const DAY_MINUTES = 24 * HOUR_MINUTES

/** Without the first three, a page of another origin cannot read a 304. */
const KEPT_ON_304 = [
  ...['Access-Control-Allow-Origin', 'Access-Control-Allow-Credentials'],
  'Access-Control-Expose-Headers',
  ...['X-Request-Id', 'X-Correlation-Id'],
  ...RETAINED_304_HEADERS,
]

/** Mounted after the check of the scope. */
export function queryRoutes({ queries, gateways }: Payments, now: () => number): Hono {
  const app = new Hono()
  app.use(etag({ weak: true, retainedHeaders: KEPT_ON_304 }))
  app.use(async (c, next) => {
    await next()
    if (c.req.method === 'GET' && c.res.ok) c.header('Cache-Control', 'private, no-cache')
  })

  app.get('/transactions', async (c) => {
    const page = pageOf(c, ['status', 'gateway', 'reference', 'q'])
    const { gateway, reference, q: startsWith = '' } = c.req.query()
    if (startsWith.length > MAX_SEARCH_CHARS) {
      throw new Problem('invalid_argument', `q may have at most ${MAX_SEARCH_CHARS} characters.`)
    }
    const status = choiceOf(c, 'status', PAYMENT_STATUSES)
    const filter = {
      ...(status && { status }),
      ...(gateway !== undefined && { gateway }),
      ...(reference !== undefined && { reference }),
      ...(startsWith !== '' && { startsWith }),
    }
    const transactions = await queries.transactions(filter, page)
    return c.json({ transactions, ...cursorOf(transactions, page) })
  })
  app.get('/transactions/:id', async (c) => {
    requireKnownQuery(c.req.url, [])
    return c.json(await storyOf(queries, c.req.param('id'), now()))
  })
  app.get('/webhook-events', async (c) => {
    const page = pageOf(c, ['outcome', 'gateway'])
    const gateway = c.req.query('gateway')
    const outcome = choiceOf(c, 'outcome', OUTCOMES)
    const filter = { ...(outcome && { outcome }), ...(gateway !== undefined && { gateway }) }
    const webhookEvents = await queries.webhookEvents(filter, page)
    return c.json({ webhookEvents, ...cursorOf(webhookEvents, page) })
  })
  app.get('/alerts', async (c) => {
    const page = pageOf(c, ['all'])
    const all = choiceOf(c, 'all', ['true', 'false']) === 'true'
    const alerts = await queries.alerts({ all }, page)
    return c.json({ alerts, ...cursorOf(alerts, page) })
  })

  app.get('/gateways', async (c) => {
    requireKnownQuery(c.req.url, [])
    return c.json({ gateways: await gateways() })
  })
  app.get('/webhook-rates', async (c) => {
    requireKnownQuery(c.req.url, ['minutes'])
    const minutes = countOf(c, 'minutes', { fallback: HOUR_MINUTES, max: DAY_MINUTES })
    // Whole minutes, the current one included: within a minute the tag stays the same.
    const to = (Math.floor(now() / MINUTE_MS) + 1) * MINUTE_MS
    const from = to - minutes * MINUTE_MS
    const rates: WebhookRates = {
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
      minutes: await queries.webhookRates({ from, to }),
    }
    return c.json(rates)
  })
  return app
}

/** Everything that is known of one payment, as one object. */
export async function storyOf(queries: PaymentQueries, transactionId: string, now: number) {
  const story = await queries.story(transactionId, now)
  if (!story) throw new Problem('unknown_transaction', 'There is no transaction with this id.')
  const { transaction, ...rest } = story
  return { ...transaction, ...rest }
}

/** `filters`: the query parameters that the list accepts besides those of its pages. */
function pageOf(c: Context, filters: readonly string[]): Page {
  requireKnownQuery(c.req.url, [...filters, 'cursor', 'limit'])
  const cursor = c.req.query('cursor')
  const limit = countOf(c, 'limit', { fallback: DEFAULT_LIMIT, max: MAX_LIMIT })
  return { ...(cursor !== undefined && { before: cursor }), limit }
}

/** After a full page there may be another. */
function cursorOf(rows: readonly { id: string }[], { limit }: Page): { cursor?: string } {
  const last = rows.at(-1)
  return last && rows.length === limit ? { cursor: last.id } : {}
}

function countOf(c: Context, name: string, { fallback, max }: { fallback: number; max: number }) {
  const count = Number(c.req.query(name) ?? fallback)
  if (!Number.isInteger(count) || count < 1 || count > max) {
    throw new Problem('invalid_argument', `${name} must be a whole number from 1 to ${max}.`)
  }
  return count
}

const choiceOf = <Value extends string>(c: Context, name: string, values: readonly Value[]) =>
  oneOf(name, c.req.query(name), values, 'invalid_argument')
