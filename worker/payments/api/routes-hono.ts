// The HTTP API of payments: charges, refunds, reads, alerts and deliveries.

import { type Context, Hono } from 'hono'
import * as z from 'zod'
import { type ApiEnv, requireScope } from '../../shared/access.ts'
import { bodyLimit, readJson, readText } from '../../shared/body-limit-hono.ts'
import { checkFields, line, lines } from '../../shared/fields.ts'
import { Problem } from '../../shared/problem.ts'
import { type ChargeContext, charge } from '../charging/charge.ts'
import { cancel } from '../charging/end.ts'
import { refund } from '../charging/refund.ts'
import { InvalidArgumentException, PaymentFailure } from '../domain/exceptions.ts'
import { CORRELATION_ID, correlationIdOf, newId } from '../domain/new-id.ts'
import { NOTES } from '../domain/rows.ts'
import type { FullChargeRequest, RefundRequest } from '../domain/types.ts'
import type { Payments } from '../payments.ts'
import { checkNow } from '../reconciliation/reconcile.ts'
import { settlementRoutes } from './books-hono.ts'
import { queryRoutes, toPause } from './reads-hono.ts'
import { storyOf, unknownTransaction } from './story.ts'

const MAX_BODY_BYTES = 64 << 10

/** 1 to 255 printable characters. */
export const IDEMPOTENCY_KEY_PATTERN = /^[\x20-\x7e]{1,255}$/

export const sendAllSchema = z.strictObject({
  endpoint: line(2_048).describe('As `GET /api/payments/failing-endpoints` lists it.'),
})

export const noteAskedSchema = z.strictObject({
  text: lines(2_000).describe('It may have several lines.'),
})

export const acknowledgementSchema = z.strictObject({
  gatewayReference: line(255)
    .describe('The gateway’s id of what was done about it, such as a refund by hand.')
    .exactOptional(),
})

/** A settlement's rows are too many for a query. It changes nothing, unlike `reconciliation/`. */
const RECONCILE = '/reconcile'

type PaymentsEnv = { Variables: ApiEnv['Variables'] & { correlationId: string } }

/** Mounted under `/api/payments`, behind the authentication that sets `grant`. */
export function paymentRoutes(payments: Payments, now: () => number): Hono<PaymentsEnv> {
  const { ledger, operations } = payments
  /** Who asks, and when. The id is that of the act. */
  const askedIn = (c: Context<PaymentsEnv>) => {
    const at = now()
    return { id: newId(at), by: c.get('grant').subject, now: at }
  }
  const app = new Hono<PaymentsEnv>()
  app.use(async (c, next) => {
    const isRead = ['GET', 'HEAD'].includes(c.req.method) || c.req.path.endsWith(RECONCILE)
    requireScope(c.get('grant'), isRead ? 'payments:read' : 'payments:write')
    const correlationId = correlationIdOf(c.req.header(CORRELATION_ID), now())
    c.set('correlationId', correlationId)
    c.header(CORRELATION_ID, correlationId)
    c.header('Cache-Control', 'no-store')
    await next()
  })
  app.route(RECONCILE, settlementRoutes(payments.queries))
  app.use(bodyLimit(MAX_BODY_BYTES, 'A request of the payments API may have at most 64 KiB.'))
  app.onError((error) => {
    throw asProblem(error)
  })

  app.post('/charges', async (c) => {
    const asked = await bodyOf<FullChargeRequest>(c)
    const { response, isNew } = await charge(operations, asked, contextOf(c))
    return c.json(response, isNew ? 201 : 200)
  })
  app.post('/refunds', async (c) => {
    const { gateway, ...request } = await bodyOf<RefundRequest & { gateway: string }>(c)
    return c.json(await refund(operations, gateway, request, contextOf(c)))
  })

  app.post('/transactions/:id/check', async (c) => {
    const id = c.req.param('id')
    await checkNow(operations, id, c.get('grant').subject)
    return c.json(await storyOf(payments, id, now()))
  })

  app.post('/transactions/:id/cancel', async (c) => {
    const id = c.req.param('id')
    await cancel(operations, id, contextOf(c))
    return c.json(await storyOf(payments, id, now()))
  })

  app.post('/transactions/:id/notes', async (c) => {
    const { text } = fieldsOf(noteAskedSchema, await bodyOf(c))
    const written = { ...askedIn(c), transactionId: c.req.param('id'), text }
    const note = await ledger.writeNote(written)
    if (!note) throw unknownTransaction()
    return c.json(NOTES.show(note), 201)
  })

  app.route('/', queryRoutes(payments, now))

  app.post('/alerts/:id/acknowledge', async (c) => {
    const { gatewayReference } = await acknowledgementOf(c)
    const asked = { ...askedIn(c), id: c.req.param('id'), gatewayReference }
    const isKnown = await ledger.acknowledge(asked)
    if (!isKnown) throw unknownAlert()
    return c.json({ acknowledged: true })
  })
  app.delete('/alerts/:id/acknowledge', async (c) => {
    const state = await ledger.reopen({ ...askedIn(c), id: c.req.param('id') })
    if (state === 'unknown') throw unknownAlert()
    if (state === 'too_late') {
      const sentence = 'It was acknowledged more than a minute ago, or is settled by itself.'
      throw new Problem('too_late', sentence)
    }
    return c.json({ acknowledged: false })
  })
  app.post('/deliveries/:id/redeliver', async (c) => {
    const asked = askedIn(c)
    const isKnown = await ledger.redeliver({ id: c.req.param('id'), now: asked.now, asked })
    if (!isKnown) throw new Problem('unknown_delivery', 'There is no delivery with this id.')
    payments.sweepLater()
    return c.json({ redelivering: true }, 202)
  })
  app.post('/failing-endpoints/send-all', async (c) => {
    const { endpoint } = fieldsOf(sendAllSchema, await bodyOf(c))
    const asked = askedIn(c)
    const waiting = { endpoint, since: 0, now: asked.now }
    let isMore = await ledger.hurryEvents({ ...waiting, asked })
    while (isMore) isMore = await ledger.hurryEvents(waiting)
    payments.sweepLater()
    return c.json({ redelivering: true }, 202)
  })
  app.post('/pause', async (c) => c.json(toPause(await ledger.pause(askedIn(c)))))
  app.post('/resume', async (c) => {
    await ledger.resume(askedIn(c))
    return c.json({ resumed: true })
  })
  app.post('/sweep', async (c) => c.json(await payments.sweeper.sweep()))
  return app
}

const unknownAlert = () => new Problem('unknown_alert', 'There is no alert with this id.')

/** Its fields are checked by the operation that gets it. */
async function bodyOf<Body>(c: Context): Promise<Body> {
  const body = await readJson(c)
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Body
  throw new Problem('invalid_argument', 'The body must be a JSON object.')
}

/** Most acknowledgements have no body. */
async function acknowledgementOf(c: Context): Promise<{ gatewayReference?: string }> {
  if ((await readText(c)) === '') return {}
  return fieldsOf(acknowledgementSchema, await bodyOf(c))
}

function fieldsOf<Schema extends z.ZodType>(schema: Schema, body: object): z.infer<Schema> {
  const read = checkFields(schema, body)
  if (!read.ok) throw new InvalidArgumentException(read.error)
  return read.value
}

function contextOf(c: Context<PaymentsEnv>): ChargeContext {
  const idempotencyKey = c.req.header('Idempotency-Key')
  if (idempotencyKey !== undefined && !IDEMPOTENCY_KEY_PATTERN.test(idempotencyKey)) {
    throw new Problem('invalid_argument', 'An Idempotency-Key is 1 to 255 printable characters.')
  }
  return {
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    correlationId: c.get('correlationId'),
    origin: new URL(c.req.url).origin,
    by: c.get('grant').subject,
  }
}

/**
 * The answer that a client of the API gets. Other errors are returned unchanged.
 * @forTests What a caller gets of an error, without a request.
 */
export function asProblem(error: unknown): unknown {
  if (!(error instanceof PaymentFailure)) return error
  const { code, message, why: cause, retryAfterMs, transactionId } = error
  return new Problem(code, message, {
    cause,
    retryAfterS: retryAfterMs === undefined ? undefined : retryAfterMs / 1_000,
    // So that the client can look up its status.
    fields: transactionId === undefined ? {} : { transactionId },
  })
}
