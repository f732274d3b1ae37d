// Payments over HTTP for the host application: charges, refunds, and what people settle.

import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { type ApiEnv, requireScope } from '../shared/access.ts'
import { Problem } from '../shared/problem.ts'
import type { ChargeContext } from './charging/charge.ts'
import type { AskedCharge, RefundRequest } from './domain/transaction.ts'
import type { Payments } from './payments.ts'
import { asProblem } from './problems.ts'
import { recordRoutes } from './queries/routes.ts'
import { CORRELATION_ID, correlationIdOf } from './webhooks/correlation.ts'

const BODY_BYTES = 64 << 10

type PaymentsEnv = { Variables: ApiEnv['Variables'] & { correlationId: string } }

/** Mounted under `/api/payments`, behind the authentication that sets `grant`. */
export function paymentRoutes(payments: Payments, now: () => number): Hono<PaymentsEnv> {
  const { ledger } = payments
  const app = new Hono<PaymentsEnv>()
  app.use(async (c, next) => {
    const reads = c.req.method === 'GET' || c.req.method === 'HEAD'
    requireScope(c.get('grant'), reads ? 'payments:read' : 'payments:write')
    const correlationId = correlationIdOf(c.req.header(CORRELATION_ID), now())
    c.set('correlationId', correlationId)
    c.header(CORRELATION_ID, correlationId)
    c.header('Cache-Control', 'no-store')
    await next()
  })
  app.use(
    bodyLimit({
      maxSize: BODY_BYTES,
      onError: () => {
        throw new Problem('payload_too_large', 'A request about payments ends at 64 KiB.')
      },
    }),
  )
  app.onError((error) => {
    throw asProblem(error)
  })

  app.post('/charges', async (c) => {
    const asked = await bodyOf<AskedCharge>(c)
    const { response, isNew } = await payments.chargeOrFind(asked, contextOf(c))
    return c.json(response, isNew ? 201 : 200)
  })
  app.post('/refunds', async (c) => {
    const { gateway, ...request } = await bodyOf<RefundRequest & { gateway: string }>(c)
    return c.json(await payments.refund(gateway, request, contextOf(c)))
  })

  app.route('/', recordRoutes(payments, now))

  app.post('/alerts/:id/acknowledge', async (c) => {
    const { subject } = c.get('grant')
    const isThere = await ledger.acknowledge(c.req.param('id'), subject ?? 'unknown', now())
    if (!isThere) throw new Problem('unknown_alert', 'There is no alert of this id.')
    return c.json({ acknowledged: true })
  })
  app.post('/deliveries/:id/redeliver', async (c) => {
    const isThere = await ledger.redeliver(c.req.param('id'), now())
    if (!isThere) throw new Problem('unknown_delivery', 'There is no delivery of this id.')
    payments.sweepLater()
    return c.json({ redelivering: true }, 202)
  })
  app.post('/sweep', async (c) => c.json(await payments.sweeper.sweep()))
  return app
}

/** What it holds is checked by whoever is given it. */
async function bodyOf<Body>(c: Context): Promise<Body> {
  const body: unknown = await c.req.json().catch((error: unknown) => {
    // Reading may also fail by the size limit, which has its own answer.
    if (!(error instanceof SyntaxError)) throw error
  })
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Body
  throw new Problem('invalid_argument', 'The body must be a JSON object.')
}

const KEY = /^[\x20-\x7e]{1,255}$/

function contextOf(c: Context<PaymentsEnv>): ChargeContext {
  const idempotencyKey = c.req.header('Idempotency-Key')
  if (idempotencyKey !== undefined && !KEY.test(idempotencyKey)) {
    throw new Problem('invalid_argument', 'An Idempotency-Key is 1 to 255 printable characters.')
  }
  return {
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    correlationId: c.get('correlationId'),
    origin: new URL(c.req.url).origin,
  }
}
