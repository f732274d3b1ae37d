// The HTTP API of the redirect gateway (ZainCash Payment Gateway v2).

import { type Context, Hono } from 'hono'
import type { Order } from './payment.ts'
import { initAnswer, inquiryAnswer, reverseAnswer } from './redirect-wire.ts'
import { respondWithFaults } from './respond-with-faults.ts'
import type { Simulator } from './simulator.ts'

const LANGUAGES = ['En', 'Ar', 'Ku']

interface InitBody {
  language?: unknown
  externalReferenceId?: unknown
  orderId?: unknown
  serviceType?: unknown
  amount?: { value?: unknown; currency?: unknown }
  customer?: { phone?: unknown }
  redirectUrls?: { successUrl?: unknown; failureUrl?: unknown }
}

export function redirectApi(simulator: Simulator, payUrl: (id: string) => string): Hono {
  const { payments, tokens, settings } = simulator
  const api = new Hono()
  const refused = (c: Context, status: 400 | 401 | 403 | 404, code: string, message: string) =>
    c.json({ code, message, timestamp: new Date(simulator.now()).toISOString() }, status)

  /** A refusal, unless the token of the request has the scope. */
  const refusalWithout = (c: Context, scope: string): Response | undefined => {
    const scopes = tokens.redirect.scopeOf(c.req.header('authorization'), simulator.now())
    if (!scopes) return refused(c, 401, 'UNAUTHORIZED', 'The access token is missing or expired.')
    if (scopes.includes(scope)) return undefined
    return refused(c, 403, 'INSUFFICIENT_SCOPE', `The access token lacks ${scope}.`)
  }

  api.post('/oauth2/token', (c) =>
    respondWithFaults(simulator, c.req.raw, 'token', undefined, async () => {
      const form = new URLSearchParams(await c.req.text())
      const grant = tokens.redirect.grant(form, c.req.header('authorization'), simulator.now())
      if (!grant.ok) return c.json({ error: grant.error }, tokenStatus(grant.error))
      const { token, scope, lifetimeMs } = grant
      const expires_in = lifetimeMs / 1_000
      return c.json({ access_token: token, token_type: 'Bearer', expires_in, scope })
    }),
  )

  const transaction = api.basePath('/api/v2/payment-gateway/transaction')
  transaction.post('/init', async (c) => {
    const refusal = refusalWithout(c, 'payment:write')
    if (refusal) return refusal
    const { callbackUrl } = settings.redirect
    const read = readInit(await c.req.json<InitBody>().catch(() => ({})), settings.expiryMs)
    if (!read.ok) return refused(c, 400, 'VALIDATION_ERROR', read.why)
    const order = { ...read.order, ...(callbackUrl && { callbackUrl }) }
    return respondWithFaults(simulator, c.req.raw, 'init', order, async () => {
      const opened = await simulator.charge(order)
      if (opened.ok) return c.json(initAnswer(opened.payment, payUrl(opened.payment.id)))
      const code = 'EXTERNAL_REFERENCE_ALREADY_EXISTS'
      const message = 'A transaction with this external reference already exists.'
      return c.json({ code, message, transactionId: opened.existing.id }, 400)
    })
  })

  transaction.get('/inquiry/:id', (c) => {
    const refusal = refusalWithout(c, 'payment:read')
    const payment = payments.find(c.req.param('id'), 'redirect')
    return respondWithFaults(simulator, c.req.raw, 'inquiry', payment, () => {
      if (refusal) return refusal
      // Read again: the payment may have changed during a delay.
      const now = payment && payments.find(payment.id)
      if (now) return c.json(inquiryAnswer(now))
      return refused(c, 404, 'TRANSACTION_NOT_FOUND', 'There is no such transaction.')
    })
  })

  transaction.post('/reverse', async (c) => {
    const refusal = refusalWithout(c, 'reverse:write')
    const body = await c.req.json<{ transactionId?: unknown }>().catch(() => ({}))
    const id = 'transactionId' in body ? String(body.transactionId) : ''
    const payment = payments.find(id, 'redirect')
    return respondWithFaults(simulator, c.req.raw, 'reverse', payment, () => {
      if (refusal) return refusal
      if (!payment) {
        return refused(c, 404, 'TRANSACTION_NOT_FOUND', 'There is no such transaction.')
      }
      const acted = simulator.refund(payment)
      if (acted.ok) return c.json(reverseAnswer(acted.payment, acted.payment.state === 'refunded'))
      const why = 'Only a successful transaction can be reversed, and only once.'
      return refused(c, 400, 'TRANSACTION_NOT_REVERSIBLE', why)
    })
  })
  return api
}

export const tokenStatus = (error: string): 400 | 401 => (error === 'invalid_client' ? 401 : 400)

type Read = { ok: true; order: Order } | { ok: false; why: string }

function readInit(body: InitBody, expiresInMs: number): Read {
  const { language, externalReferenceId, orderId, serviceType, amount, customer } = body
  const { successUrl, failureUrl } = body.redirectUrls ?? {}
  const wrong = (why: string): Read => ({ ok: false, why })
  if (!LANGUAGES.includes(String(language))) return wrong('language must be En, Ar or Ku.')
  if (!isText(externalReferenceId)) return wrong('externalReferenceId is required.')
  if (!isText(orderId)) return wrong('orderId is required.')
  if (!isText(serviceType)) return wrong('serviceType is required.')
  const value = Number(amount?.value)
  if (!(value > 0)) return wrong('amount.value must be more than 0.')
  if (amount?.currency !== 'IQD') return wrong('amount.currency must be IQD.')
  const order: Order = {
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
  return { ok: true, order }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
