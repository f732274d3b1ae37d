// First Iraqi Bank: its Keycloak token, the HTTP API of payments as the bank's SDK expects it, and
// its callbacks, which are not signed.

import { type Context, Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../worker/payments/domain/time.ts'
import { amountOf, type Order, type Payment, type State, type Transition } from './payments.ts'
import { qrCode } from './qr-code.ts'
import type { Simulation, Simulator } from './simulator.ts'
import { backToShop, CONFLICT, HINTS, MOVES } from './traits.ts'
import type { Signed, WebhookFormat } from './webhooks.ts'

interface PaymentBody {
  monetaryValue?: { amount?: unknown; currency?: unknown }
  description?: unknown
  statusCallbackUrl?: unknown
  redirectUri?: unknown
  expiresIn?: unknown
  refundableFor?: unknown
}

function api(simulator: Simulator, payUrl: (id: string) => string): Hono {
  const { faults, payments } = simulator
  const tokens = simulator.tokensOf('fib')
  const app = new Hono()
  const refusal = (status: 400 | 401 | 404 | 409, code: string, detail: string) => {
    const errors = [{ code, title: code.replaceAll('_', ' '), detail }]
    const body = { traceId: simulator.newId(), errors }
    return new HTTPException(status, { res: Response.json(body, { status }) })
  }

  app.post('/auth/realms/fib-online-shop/protocol/openid-connect/token', (c) =>
    faults.respond(c, 'token', undefined, () =>
      tokens.grant(c, simulator.now(), () => ({
        refresh_expires_in: 0,
        'not-before-policy': 0,
        scope: 'profile email',
      })),
    ),
  )

  const routes = app.basePath('/protected/v1/payments')
  routes.use('*', async (c, next) => {
    if (tokens.scopesOf(c, simulator.now())) return await next()
    throw refusal(401, 'UNAUTHORIZED', 'The access token is missing or expired.')
  })

  routes.post('/', async (c) => {
    const body = await c.req.json<PaymentBody>().catch(() => ({}))
    const order = readPayment(body, (why) => refusal(400, 'INVALID_REQUEST', why))
    return faults.respond(c, 'create', order, async () => {
      const opened = await simulator.charge(order)
      const payment = opened.ok ? opened.payment : opened.existing
      return c.json(paymentAnswer(payment, payUrl(payment.id)), 201)
    })
  })

  /** A request about one payment. It is read again after a delay, since it may have changed. */
  const ofPayment = (c: Context, endpoint: string, work: (payment: Payment) => Response) => {
    const id = c.req.param('id') ?? ''
    return faults.respond(c, endpoint, payments.find(id, 'fib'), () => {
      const payment = payments.find(id, 'fib')
      if (payment) return work(payment)
      throw refusal(404, 'PAYMENT_NOT_FOUND', 'There is no such payment.')
    })
  }

  routes.get('/:id/status', (c) =>
    ofPayment(c, 'status', (payment) => c.json(statusAnswer(payment))),
  )
  routes.post('/:id/cancel', (c) =>
    ofPayment(c, 'cancel', (payment) => {
      if (simulator.act(payment, 'cancel').ok) return c.body(null, 204)
      throw refusal(409, 'PAYMENT_NOT_CANCELLABLE', 'Only an unpaid payment can be cancelled.')
    }),
  )
  routes.post('/:id/refund', (c) =>
    ofPayment(c, 'refund', (payment) => {
      if (simulator.refund(payment).ok) return c.body(null, 202)
      throw refusal(409, 'PAYMENT_NOT_REFUNDABLE', 'Only a paid payment can be refunded.')
    }),
  )
  return app
}

/** `invalid`: what is thrown for a field that the bank refuses. */
function readPayment(body: PaymentBody, invalid: (why: string) => Error): Order {
  const { monetaryValue, description = '', statusCallbackUrl, redirectUri } = body
  const amount = Number(monetaryValue?.amount)
  const { currency } = monetaryValue ?? {}
  if (!(amount > 0)) throw invalid('monetaryValue.amount must be more than 0.')
  if (typeof currency !== 'string') throw invalid('monetaryValue.currency is required.')
  if (typeof description !== 'string' || description.length > 50) {
    throw invalid('description must be a text of at most 50 characters.')
  }
  const lifetime = (name: 'expiresIn' | 'refundableFor'): number => {
    const ms = durationMs(body[name] ?? DEFAULT_LIFETIME)
    if (ms === undefined) throw invalid(`${name} must be an ISO 8601 duration.`)
    return ms
  }
  const expiresInMs = lifetime('expiresIn')
  lifetime('refundableFor')
  return {
    gateway: 'fib',
    reference: description,
    amount,
    currency,
    description,
    expiresInMs,
    ...(isUrl(statusCallbackUrl) && { callbackUrl: statusCallbackUrl }),
    ...(isUrl(redirectUri) && { successUrl: redirectUri, failureUrl: redirectUri }),
  }
}

/** That of the bank. */
const DEFAULT_LIFETIME = 'P1D'

const DURATION =
  /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/
const UNITS_MS = [365 * DAY_MS, 30 * DAY_MS, 7 * DAY_MS, DAY_MS, HOUR_MS, MINUTE_MS, 1_000]

/** `PT12H`, `P7D`, … in ms, with 30 days for a month. Undefined: not a duration. */
function durationMs(value: unknown): number | undefined {
  const match = DURATION.exec(String(value))
  if (!match || /[PT]$/.test(match[0])) return undefined
  return UNITS_MS.reduce((sum, unitMs, at) => sum + unitMs * Number(match[at + 1] ?? 0), 0)
}

const isUrl = (value: unknown): value is string => typeof value === 'string' && URL.canParse(value)

const time = (ms: number): string => new Date(ms).toISOString()
const timeOrNull = (ms: number | undefined): string | null => (ms === undefined ? null : time(ms))

const STATUSES: Record<State, string> = {
  open: 'UNPAID',
  processing: 'UNPAID',
  authorized: 'UNPAID',
  paid: 'PAID',
  failed: 'DECLINED',
  cancelled: 'DECLINED',
  expired: 'DECLINED',
  refund_requested: 'REFUND_REQUESTED',
  refunded: 'REFUNDED',
}

const DECLINING_REASONS: Partial<Record<State, string>> = {
  failed: 'SERVER_FAILURE',
  cancelled: 'PAYMENT_CANCELLATION',
  expired: 'PAYMENT_EXPIRATION',
}

/** `payUrl` replaces the links that open the app of the bank, in its QR code too. */
const paymentAnswer = (payment: Payment, payUrl: string) => ({
  paymentId: payment.id,
  readableCode: readableCode(payment.id),
  qrCode: qrCode(payUrl),
  validUntil: time(payment.expiresAt),
  personalAppLink: payUrl,
  businessAppLink: payUrl,
  corporateAppLink: payUrl,
})

/** The code that a payer types into the app, like `5B1E-0C94-D27A`. */
const readableCode = (id: string): string =>
  (id.replaceAll('-', '').slice(0, 12).toUpperCase().match(/.{4}/g) ?? []).join('-')

const statusAnswer = (payment: Payment) => ({
  paymentId: payment.id,
  status: STATUSES[payment.state],
  paidAt: timeOrNull(payment.paidAt),
  amount: amountOf(payment),
  decliningReason: DECLINING_REASONS[payment.state] ?? null,
  declinedAt: timeOrNull(payment.declinedAt),
  paidBy:
    payment.paidAt === undefined
      ? null
      : { name: 'Sara Ahmed', iban: 'IQ98FIQB004095000000000001' },
})

/** A callback has no more than this, so the merchant must check the status with the bank. */
const webhooks = {
  content: ({ after }: Transition) => ({ id: after.id, status: STATUSES[after.state] }),
  async encode({ content, eventId, forgery }: Signed) {
    const sent = forgery === 'tampered' ? { ...content, id: eventId } : content
    return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(sent) }
  },
} satisfies WebhookFormat

export const fib = {
  title: 'First Iraqi Bank',
  accent: '#1d4ed8',
  moves: MOVES,
  refundsTakeTime: true,
  merchant: { client_id: 'simulated-merchant', client_secret: 'simulated-client-secret' },
  tokens: { scopes: [], lifetimeMs: 60_000 },
  webhooks,
  backUrl: backToShop,
  codeOf: ({ id }) => readableCode(id),
  conflict: () =>
    Response.json({ errors: [{ code: CONFLICT.code, title: CONFLICT.message }] }, { status: 409 }),
  simulate: HINTS,
  api,
} satisfies Simulation
