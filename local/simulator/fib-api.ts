// The HTTP API of First Iraqi Bank: the Keycloak token and payments.

import { type Context, Hono } from 'hono'
import { durationMs, errorAnswer, paymentAnswer, statusAnswer } from './fib-wire.ts'
import type { Order, Payment } from './payment.ts'
import { tokenStatus } from './redirect-api.ts'
import { respondWithFaults } from './respond-with-faults.ts'
import type { Simulator } from './simulator.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

interface PaymentBody {
  monetaryValue?: { amount?: unknown; currency?: unknown }
  description?: unknown
  statusCallbackUrl?: unknown
  redirectUri?: unknown
  expiresIn?: unknown
  refundableFor?: unknown
}

export function fibApi(simulator: Simulator, payUrl: (id: string) => string): Hono {
  const { payments, tokens } = simulator
  const api = new Hono()
  const refused = (c: Context, status: 400 | 401 | 404 | 409, code: string, detail: string) =>
    c.json(errorAnswer(simulator.newId(), code, code.replaceAll('_', ' '), detail), status)

  api.post('/auth/realms/fib-online-shop/protocol/openid-connect/token', (c) =>
    respondWithFaults(simulator, c.req.raw, 'token', undefined, async () => {
      const form = new URLSearchParams(await c.req.text())
      const grant = tokens.fib.grant(form, c.req.header('authorization'), simulator.now())
      if (!grant.ok) return c.json({ error: grant.error }, tokenStatus(grant.error))
      return c.json({
        access_token: grant.token,
        expires_in: grant.lifetimeMs / 1_000,
        refresh_expires_in: 0,
        token_type: 'Bearer',
        'not-before-policy': 0,
        scope: 'profile email',
      })
    }),
  )

  const routes = api.basePath('/protected/v1/payments')
  routes.use('*', async (c, next) => {
    if (tokens.fib.scopeOf(c.req.header('authorization'), simulator.now())) return next()
    return refused(c, 401, 'UNAUTHORIZED', 'The access token is missing or expired.')
  })

  routes.post('/', async (c) => {
    const read = readPayment(await c.req.json<PaymentBody>().catch(() => ({})))
    if (!read.ok) return refused(c, 400, 'INVALID_REQUEST', read.why)
    return respondWithFaults(simulator, c.req.raw, 'create', read.order, async () => {
      const opened = await simulator.charge(read.order)
      const payment = opened.ok ? opened.payment : opened.existing
      return c.json(paymentAnswer(payment, payUrl(payment.id)), 201)
    })
  })

  /** A request about one payment. It is read again after a delay, since it may have changed. */
  const ofPayment = (c: Context, endpoint: string, work: (payment: Payment) => Response) => {
    const id = c.req.param('id') ?? ''
    return respondWithFaults(simulator, c.req.raw, endpoint, payments.find(id, 'fib'), () => {
      const payment = payments.find(id, 'fib')
      if (payment) return work(payment)
      return refused(c, 404, 'PAYMENT_NOT_FOUND', 'There is no such payment.')
    })
  }

  routes.get('/:id/status', (c) =>
    ofPayment(c, 'status', (payment) => c.json(statusAnswer(payment))),
  )
  routes.post('/:id/cancel', (c) =>
    ofPayment(c, 'cancel', (payment) => {
      if (simulator.act(payment, 'cancel').ok) return c.body(null, 204)
      return refused(c, 409, 'PAYMENT_NOT_CANCELLABLE', 'Only an unpaid payment can be cancelled.')
    }),
  )
  routes.post('/:id/refund', (c) =>
    ofPayment(c, 'refund', (payment) => {
      if (simulator.refund(payment).ok) return c.body(null, 202)
      return refused(c, 409, 'PAYMENT_NOT_REFUNDABLE', 'Only a paid payment can be refunded.')
    }),
  )
  return api
}

type Read = { ok: true; order: Order } | { ok: false; why: string }

function readPayment(body: PaymentBody): Read {
  const { monetaryValue, description = '', statusCallbackUrl, redirectUri } = body
  const wrong = (why: string): Read => ({ ok: false, why })
  const amount = Number(monetaryValue?.amount)
  const { currency } = monetaryValue ?? {}
  if (!(amount > 0)) return wrong('monetaryValue.amount must be more than 0.')
  if (typeof currency !== 'string') return wrong('monetaryValue.currency is required.')
  if (typeof description !== 'string' || description.length > 50) {
    return wrong('description must be a text of at most 50 characters.')
  }
  const expiresInMs = lifetime(body.expiresIn)
  if (expiresInMs === undefined) return wrong('expiresIn must be an ISO 8601 duration.')
  if (lifetime(body.refundableFor) === undefined) {
    return wrong('refundableFor must be an ISO 8601 duration.')
  }
  const order: Order = {
    gateway: 'fib',
    reference: description,
    amount,
    currency,
    description,
    expiresInMs,
    ...(isUrl(statusCallbackUrl) && { callbackUrl: statusCallbackUrl }),
    ...(isUrl(redirectUri) && { successUrl: redirectUri, failureUrl: redirectUri }),
  }
  return { ok: true, order }
}

/** Default: that of the bank. */
const lifetime = (duration: unknown): number | undefined => {
  if (duration === undefined || duration === null) return DAY_MS
  return typeof duration === 'string' ? durationMs(duration) : undefined
}

const isUrl = (value: unknown): value is string => typeof value === 'string' && URL.canParse(value)
