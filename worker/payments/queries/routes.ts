// What is known of payments, over HTTP. Whoever watches asks every few seconds, and mostly nothing
// is new: each answer has a tag, and the same again is a 304 without a body.

import { type Context, Hono } from 'hono'
import { etag, RETAINED_304_HEADERS } from 'hono/etag'
import { Problem } from '../../shared/problem.ts'
import { oneOf, requireKnownQuery } from '../../shared/query.ts'
import { OUTCOMES, PAYMENT_STATUSES } from '../domain/status.ts'
import type { Payments } from '../payments.ts'
import type { Page, WebhookRates } from './queries.ts'

const PAGE = 50
const LONGEST_PAGE = 200
const LONGEST_NAME = 255
const MINUTE_MS = 60_000
const HOUR_MINUTES = 60
const DAY_MINUTES = 24 * HOUR_MINUTES

/** Without the first three a page of another origin may not read that nothing is new. */
const KEPT_ON_304 = [
  ...['Access-Control-Allow-Origin', 'Access-Control-Allow-Credentials'],
  'Access-Control-Expose-Headers',
  ...['X-Request-Id', 'X-Correlation-Id'],
  ...RETAINED_304_HEADERS,
]

/** Mounted behind the check of the scope. */
export function recordRoutes({ records, gateways }: Payments, now: () => number): Hono {
  const app = new Hono()
  app.use(etag({ weak: true, retainedHeaders: KEPT_ON_304 }))
  app.use(async (c, next) => {
    await next()
    if (c.req.method === 'GET' && c.res.ok) c.header('Cache-Control', 'private, no-cache')
  })

  app.get('/transactions', async (c) => {
    const page = pageOf(c, ['status', 'gateway', 'reference', 'q'])
    const { gateway, reference, q: startsWith = '' } = c.req.query()
    if (startsWith.length > LONGEST_NAME) {
      throw new Problem('invalid_argument', `q ends at ${LONGEST_NAME} characters.`)
    }
    const status = choiceOf(c, 'status', PAYMENT_STATUSES)
    const filter = {
      ...(status && { status }),
      ...(gateway !== undefined && { gateway }),
      ...(reference !== undefined && { reference }),
      ...(startsWith !== '' && { startsWith }),
    }
    const transactions = await records.transactions(filter, page)
    return c.json({ transactions, ...cursorOf(transactions, page) })
  })
  app.get('/transactions/:id', async (c) => {
    requireKnownQuery(c.req.url, [])
    const story = await records.story(c.req.param('id'))
    if (!story) throw new Problem('unknown_transaction', 'There is no transaction of this id.')
    const { transaction, ...rest } = story
    return c.json({ ...transaction, ...rest })
  })
  app.get('/webhook-events', async (c) => {
    const page = pageOf(c, ['outcome', 'gateway'])
    const gateway = c.req.query('gateway')
    const outcome = choiceOf(c, 'outcome', OUTCOMES)
    const filter = { ...(outcome && { outcome }), ...(gateway !== undefined && { gateway }) }
    const webhookEvents = await records.webhookEvents(filter, page)
    return c.json({ webhookEvents, ...cursorOf(webhookEvents, page) })
  })
  app.get('/alerts', async (c) => {
    const page = pageOf(c, ['all'])
    const all = choiceOf(c, 'all', ['true', 'false']) === 'true'
    const alerts = await records.alerts({ all }, page)
    return c.json({ alerts, ...cursorOf(alerts, page) })
  })

  app.get('/gateways', async (c) => {
    requireKnownQuery(c.req.url, [])
    return c.json({ gateways: await gateways() })
  })
  app.get('/webhook-rates', async (c) => {
    requireKnownQuery(c.req.url, ['minutes'])
    const minutes = countOf(c, 'minutes', { unless: HOUR_MINUTES, most: DAY_MINUTES })
    // Whole minutes, the one under way included: within a minute the tag then stays the same.
    const to = (Math.floor(now() / MINUTE_MS) + 1) * MINUTE_MS
    const from = to - minutes * MINUTE_MS
    const rates: WebhookRates = {
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
      minutes: await records.webhookRates({ from, to }),
    }
    return c.json(rates)
  })
  return app
}

/** `filters`: what the list may be asked for, beside its pages. */
function pageOf(c: Context, filters: readonly string[]): Page {
  requireKnownQuery(c.req.url, [...filters, 'cursor', 'limit'])
  const cursor = c.req.query('cursor')
  const limit = countOf(c, 'limit', { unless: PAGE, most: LONGEST_PAGE })
  return { ...(cursor !== undefined && { before: cursor }), limit }
}

/** A page that is full may have another behind it. */
function cursorOf(rows: readonly { id: string }[], { limit }: Page): { cursor?: string } {
  const last = rows.at(-1)
  return last && rows.length === limit ? { cursor: last.id } : {}
}

function countOf(c: Context, name: string, { unless, most }: { unless: number; most: number }) {
  const count = Number(c.req.query(name) ?? unless)
  if (!Number.isInteger(count) || count < 1 || count > most) {
    throw new Problem('invalid_argument', `${name} must be a whole number from 1 to ${most}.`)
  }
  return count
}

const choiceOf = <Value extends string>(c: Context, name: string, values: readonly Value[]) =>
  oneOf(name, c.req.query(name), values, 'invalid_argument')
