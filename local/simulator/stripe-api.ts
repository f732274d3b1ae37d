// The HTTP API of Stripe: Checkout Sessions, their PaymentIntents, and refunds.

import { type Context, Hono } from 'hono'
import { IdempotencyKeys } from './idempotency-keys.ts'
import { type Order, type Payment, remainderOf } from './payment.ts'
import { respondWithFaults } from './respond-with-faults.ts'
import type { Simulator } from './simulator.ts'
import { expandIn, invalid, readRefund, readSession, type StripeError } from './stripe-request.ts'
import { intentAnswer, refundAnswer, sessionAnswer, sessionIdOf } from './stripe-wire.ts'

const MAX_LISTED = 100

export function stripeApi(simulator: Simulator, payUrl: (id: string) => string): Hono {
  const { payments, settings } = simulator
  const { secretKey, callbackUrl } = settings.stripe
  const keys = new IdempotencyKeys()
  const api = new Hono().basePath('/v1')
  const find = (id: string) => payments.find(sessionIdOf(id), 'stripe')
  const showSession = (payment: Payment, query = new URLSearchParams()) =>
    Response.json(sessionAnswer(payment, payUrl(payment.id), expandIn(query)))

  api.use('*', async (c, next) => {
    const key = keyOf(c.req.header('authorization'))
    if (key !== secretKey) return refuse(401, unauthorized(key))
    await next()
    c.header('Request-Id', `req_${simulator.newId().replaceAll('-', '')}`)
  })

  /** A request that changes something. `of`: whose faults apply. */
  const change = (
    c: Context,
    endpoint: string,
    of: Payment | Order | undefined,
    form: URLSearchParams,
    work: () => Response | Promise<Response>,
  ) =>
    respondWithFaults(simulator, c.req.raw, endpoint, of, () => {
      const request = `${c.req.path} ${form}`
      return keys.once(c.req.header('idempotency-key'), request, work)
    })

  api.post('/checkout/sessions', async (c) => {
    const form = new URLSearchParams(await c.req.text())
    const read = readSession(form, simulator.now())
    if (!read.ok) return refuse(400, read.error)
    const order = { ...read.value, ...(callbackUrl && { callbackUrl }) }
    return change(c, 'create', order, form, async () => {
      const opened = await simulator.charge(order)
      const payment = opened.ok ? opened.payment : opened.existing
      // As it was made, also if it is already paid (the fault `beforeAnswer`).
      return showSession({ ...payment, state: 'open' })
    })
  })

  api.get('/checkout/sessions', (c) => {
    const limit = Number(c.req.query('limit') ?? 10)
    const all = payments.all().filter(({ gateway }) => gateway === 'stripe')
    const data = all
      .slice(0, Math.min(limit, MAX_LISTED))
      .map((payment) => sessionAnswer(payment, payUrl(payment.id)))
    const has_more = all.length > data.length
    return c.json({ object: 'list', data, has_more, url: '/v1/checkout/sessions' })
  })

  api.get('/checkout/sessions/:id', (c) => {
    const id = c.req.param('id')
    return respondWithFaults(simulator, c.req.raw, 'status', find(id), () => {
      const payment = find(id)
      if (!payment) return refuse(404, unknown('checkout.session', id, 'session'))
      return showSession(payment, new URL(c.req.url).searchParams)
    })
  })

  api.post('/checkout/sessions/:id/expire', async (c) => {
    const id = c.req.param('id')
    const form = new URLSearchParams(await c.req.text())
    return change(c, 'cancel', find(id), form, () => {
      const payment = find(id)
      if (!payment) return refuse(404, unknown('checkout.session', id, 'session'))
      const acted = simulator.act(payment, 'expire')
      if (acted.ok) return showSession(acted.payment)
      const message = 'Only Checkout Sessions with a status in ["open"] can be expired.'
      return refuse(400, invalid('session', message))
    })
  })

  api.get('/payment_intents/:id', (c) => {
    const id = c.req.param('id')
    return respondWithFaults(simulator, c.req.raw, 'status', find(id), () => {
      const payment = find(id)
      const withCharge = expandIn(new URL(c.req.url).searchParams).includes('latest_charge')
      const intent = payment && intentAnswer(payment, withCharge)
      if (!intent) return refuse(404, unknown('payment_intent', id, 'intent'))
      return Response.json(intent)
    })
  })

  api.post('/refunds', async (c) => {
    const form = new URLSearchParams(await c.req.text())
    const read = readRefund(form)
    if (!read.ok) return refuse(400, read.error)
    const { of, amount, metadata } = read.value
    return change(c, 'refund', find(of), form, () => {
      const payment = find(of)
      if (!payment) return refuse(404, unknown('payment_intent', of, 'payment_intent'))
      if (payment.state === 'refunded') {
        const message = 'The charge has already been refunded.'
        return refuse(400, invalid('payment_intent', message, 'charge_already_refunded'))
      }
      const left = remainderOf(payment)
      if (amount !== undefined && amount > left) {
        const message = `Refund amount (${amount}) is greater than unrefunded amount (${left}).`
        return refuse(400, invalid('amount', message))
      }
      const acted = simulator.refundPart(payment, { amount: amount ?? left, metadata })
      const refund = acted.ok ? acted.payment.refunds?.at(-1) : undefined
      if (acted.ok && refund) return Response.json(refundAnswer(refund, acted.payment))
      const message = 'This PaymentIntent does not have a successful charge to refund.'
      return refuse(400, invalid('payment_intent', message))
    })
  })
  return api
}

const refuse = (status: number, error: StripeError): Response =>
  Response.json({ error }, { status })

/** As a bearer token, or as the user of basic authentication. */
function keyOf(header = ''): string | undefined {
  const [, scheme, value = ''] = /^(Bearer|Basic) (\S+)$/i.exec(header) ?? []
  if (scheme?.toLowerCase() !== 'basic') return value || undefined
  return Buffer.from(value, 'base64').toString().replace(/:$/, '')
}

/** Without the key: it may be a real one that was sent here by mistake. */
const unauthorized = (key: string | undefined): StripeError => ({
  type: 'invalid_request_error',
  message: key === undefined ? 'You did not provide an API key.' : 'Invalid API Key provided.',
})

const unknown = (what: string, id: string, param: string): StripeError =>
  invalid(param, `No such ${what}: '${id}'`, 'resource_missing')
