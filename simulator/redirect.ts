// The redirect gateway (ZainCash Payment Gateway v2), as its public documentation describes it: the
// HTTP API, the JSON of its answers, and its callbacks, which are signed tokens.

import { type Context, Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { SignJWT, UnsecuredJWT } from 'jose'
import { amountOf, type Order, type Payment, type State, type Transition } from './payments.ts'
import type { Simulation, Simulator } from './simulator.ts'
import { backToShop, CONFLICT, MOVES } from './traits.ts'
import type { Content, Signed, WebhookFormat } from './webhooks.ts'

interface InitBody {
  language?: unknown
  externalReferenceId?: unknown
  orderId?: unknown
  serviceType?: unknown
  amount?: { value?: unknown; currency?: unknown }
  customer?: { phone?: unknown }
  redirectUrls?: { successUrl?: unknown; failureUrl?: unknown }
}

function api(simulator: Simulator, payUrl: (id: string) => string): Hono {
  const { faults, payments, settings } = simulator
  const tokens = simulator.tokensOf('redirect')
  const app = new Hono()
  const refusal = (status: 400 | 401 | 403 | 404, code: string, message: string) => {
    const timestamp = time(simulator.now())
    return new HTTPException(status, {
      res: Response.json({ code, message, timestamp }, { status }),
    })
  }

  const requireScope = (c: Context, scope: string): void => {
    const scopes = tokens.scopesOf(c, simulator.now())
    if (!scopes) throw refusal(401, 'UNAUTHORIZED', 'The access token is missing or expired.')
    if (scopes.includes(scope)) return
    c.header('www-authenticate', 'Bearer error="insufficient_scope"')
    throw refusal(403, 'INSUFFICIENT_SCOPE', `The access token lacks ${scope}.`)
  }
  const find = (id: string): Payment => {
    const payment = payments.find(id, 'redirect')
    if (payment) return payment
    throw refusal(404, 'TRANSACTION_NOT_FOUND', 'There is no such transaction.')
  }

  app.post('/oauth2/token', (c) =>
    faults.respond(c, 'token', undefined, () =>
      tokens.grant(c, simulator.now(), (scope) => ({ scope })),
    ),
  )

  const transaction = app.basePath('/api/v2/payment-gateway/transaction')
  transaction.post('/init', async (c) => {
    requireScope(c, 'payment:write')
    const { callbackUrl } = simulator.merchantOf('redirect')
    const body = await c.req.json<InitBody>().catch(() => ({}))
    const invalid = (why: string) => refusal(400, 'VALIDATION_ERROR', why)
    const read = readInit(body, settings.expiryMs, invalid)
    const order = { ...read, ...(callbackUrl && { callbackUrl }) }
    return faults.respond(c, 'init', order, async () => {
      const opened = await simulator.charge(order)
      if (opened.ok) return c.json(initAnswer(opened.payment, payUrl(opened.payment.id)))
      const code = 'EXTERNAL_REFERENCE_ALREADY_EXISTS'
      const message = 'A transaction with this external reference already exists.'
      return c.json({ code, message, transactionId: opened.existing.id }, 400)
    })
  })

  transaction.get('/inquiry/:id', (c) => {
    const id = c.req.param('id')
    return faults.respond(c, 'inquiry', payments.find(id, 'redirect'), () => {
      requireScope(c, 'payment:read')
      // Read again: the payment may have changed during a delay.
      return c.json(inquiryAnswer(find(id)))
    })
  })

  transaction.post('/reverse', async (c) => {
    const body = await c.req.json<{ transactionId?: unknown }>().catch(() => ({}))
    const id = 'transactionId' in body ? String(body.transactionId) : ''
    return faults.respond(c, 'reverse', payments.find(id, 'redirect'), () => {
      requireScope(c, 'reverse:write')
      const acted = simulator.refund(find(id))
      if (acted.ok) return c.json(reverseAnswer(acted.payment))
      const why = 'Only a successful transaction can be reversed, and only once.'
      throw refusal(400, 'TRANSACTION_NOT_REVERSIBLE', why)
    })
  })
  return app
}

/** `invalid`: what is thrown for a field that the gateway refuses. */
function readInit(body: InitBody, expiresInMs: number, invalid: (why: string) => Error): Order {
  const { language, externalReferenceId, orderId, serviceType, amount, customer } = body
  const { successUrl, failureUrl } = body.redirectUrls ?? {}
  if (!['En', 'Ar', 'Ku'].includes(String(language))) {
    throw invalid('language must be En, Ar or Ku.')
  }
  if (!isText(externalReferenceId)) throw invalid('externalReferenceId is required.')
  if (!isText(orderId)) throw invalid('orderId is required.')
  if (!isText(serviceType)) throw invalid('serviceType is required.')
  const value = Number(amount?.value)
  if (!(value > 0)) throw invalid('amount.value must be more than 0.')
  if (amount?.currency !== 'IQD') throw invalid('amount.currency must be IQD.')
  return {
    gateway: 'redirect',
    reference: orderId,
    externalReference: externalReferenceId,
    amount: value,
    currency: 'IQD',
    description: serviceType,
    serviceType,
    expiresInMs,
    ...(isText(customer?.phone) && { phone: customer.phone }),
    ...(isText(successUrl) && { successUrl }),
    ...(isText(failureUrl) && { failureUrl }),
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

const time = (ms: number): string => new Date(ms).toISOString()

const STATUSES: Record<State, string> = {
  open: 'PENDING',
  processing: 'PENDING',
  authorized: 'PENDING',
  paid: 'SUCCESS',
  // A refund in progress does not show in the status.
  refund_requested: 'SUCCESS',
  failed: 'FAILED',
  // The gateway has no status for a cancelled payment.
  cancelled: 'FAILED',
  expired: 'EXPIRED',
  refunded: 'REFUNDED',
}

const ERRORS: Partial<Record<State, string>> = {
  failed: 'Insufficient balance.',
  cancelled: 'The customer cancelled the payment.',
  expired: 'The payment session has expired.',
}

const details = (payment: Payment) => {
  const { amount: value, currency } = amountOf(payment)
  return {
    transactionId: payment.id,
    externalReferenceId: payment.externalReference,
    orderId: payment.reference,
    serviceType: payment.serviceType,
    amount: { value, currency },
  }
}

const initAnswer = (payment: Payment, payUrl: string) => ({
  status: STATUSES[payment.state],
  transactionDetails: details(payment),
  redirectUrl: payUrl,
  expiryTime: time(payment.expiresAt),
})

/** Without the redirectUrl, which is only in the response to the charge. */
const inquiryAnswer = (payment: Payment) => ({
  status: STATUSES[payment.state],
  transactionDetails: details(payment),
  timeStamps: {
    createdAt: time(payment.createdAt),
    updatedAt: time(payment.updatedAt),
    expiryTime: time(payment.expiresAt),
    ...(payment.paidAt !== undefined && { completedAt: time(payment.paidAt) }),
  },
})

const reverseAnswer = ({ id: transactionId, state, refundId }: Payment) =>
  state === 'refunded'
    ? { status: 'COMPLETED', transactionId, reversalReferenceId: refundId }
    : { status: 'FAILED', transactionId }

const webhooks = {
  signsWith: 'api_key',
  content: ({ before, after, refundFailed, now }: Transition, eventId: string): Content => {
    const { amount: value, currency } = amountOf(after)
    const ofRefund = after.state === 'refunded' ? 'REFUND_COMPLETED' : 'STATUS_CHANGED'
    return {
      eventType: refundFailed ? 'REFUND_FAILED' : ofRefund,
      eventId,
      timestamp: time(now),
      data: {
        transactionId: after.id,
        merchantReferenceId: after.externalReference,
        orderId: after.reference,
        customerMsisdn: after.phone ?? null,
        errorMessage: refundFailed
          ? 'The refund could not be made.'
          : (ERRORS[after.state] ?? null),
        previousStatus: STATUSES[before.state],
        currentStatus: STATUSES[after.state],
        amount: { currency, value },
      },
    }
  },
  async encode({ content, forgery }: Pick<Signed, 'content' | 'forgery'>, apiKey: string) {
    const token = forgery === 'alg_none' ? unsigned(content) : await signed(content, apiKey)
    const sent = forgery === 'tampered' ? withTamperedAmount(token, content) : token
    const headers = { 'content-type': 'application/json' }
    return { headers, body: JSON.stringify({ webhook_token: sent }) }
  },
  isSilent: ({ after }: Transition) => after.state === 'refund_requested',
  returnToken: signed,
} satisfies WebhookFormat

export const redirect = {
  title: 'Redirect gateway',
  accent: '#0f766e',
  moves: MOVES,
  isUnique: true,
  merchant: {
    client_id: 'simulated-merchant',
    client_secret: 'simulated-client-secret',
    api_key: 'simulated-api-key-of-32-bytes-or-more',
  },
  tokens: { scopes: ['payment:read', 'payment:write', 'reverse:write'], lifetimeMs: 3_600_000 },
  webhooks,
  backUrl: backToShop,
  conflict(made) {
    const { transactionDetails } = made as { transactionDetails?: { transactionId?: string } }
    const { transactionId } = transactionDetails ?? {}
    return Response.json({ ...CONFLICT, transactionId }, { status: 409 })
  },
  simulate: {
    needs: ['reference', 'amount', 'currency'],
    ways: { Paid: ['pay'], Failed: ['fail'], Expired: ['expire'], Refunded: ['pay', 'refund'] },
    // The gateway has no such event type: it is verified, and then ignored.
    probe: (now) => ({ eventType: 'SIGNALBOX_DOCTOR', timestamp: time(now) }),
  },
  api,
} satisfies Simulation

const unsigned = (content: Content): string => new UnsecuredJWT({ ...content }).encode()

function signed(content: Content, apiKey: string): Promise<string> {
  return new SignJWT({ ...content })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .sign(new TextEncoder().encode(apiKey))
}

/** Keeps the signature, and multiplies the amount by ten. */
function withTamperedAmount(token: string, claims: Content): string {
  const text = JSON.stringify(claims).replace(/"value":(\d+)/, '"value":$10')
  const [header, , signature] = token.split('.')
  return [header, Buffer.from(text).toString('base64url'), signature].join('.')
}
