// Stripe's Checkout Sessions, their PaymentIntents, and refunds: the HTTP API and its signed
// events, of the parts that the driver and a merchant's dashboard use.

import { createHmac } from 'node:crypto'
import { type Context, Hono } from 'hono'
import type Stripe from 'stripe'
import { DAY_MS, MINUTE_MS } from '../worker/payments/domain/time.ts'
import { changing, IdempotencyKeys } from './idempotency-keys.ts'
import type { Dispute, Order, Payment, Refund, Transition } from './payments.ts'
import type { Simulation, Simulator } from './simulator.ts'
import {
  errorAnswer,
  expandIn,
  formOf,
  invalid,
  keyOf,
  metadataIn,
  refusal,
  refuseKey,
  unknown,
  wholeIn,
} from './stripe-http.ts'
import {
  chargeAnswer,
  disputeAnswer,
  intentAnswer,
  refundAnswer,
  seconds,
  sessionAnswer,
  sessionIdOf,
} from './stripe-objects.ts'
import { CONFLICT } from './traits.ts'
import type { Signed, WebhookFormat } from './webhooks.ts'

const API_VERSION = '2026-10-28.endive'
const MAX_LISTED = 100

function api(simulator: Simulator, payUrl: (id: string) => string): Hono {
  const { faults, payments } = simulator
  const { settings, callbackUrl } = simulator.merchantOf('stripe')
  const change = changing(faults, new IdempotencyKeys(refuseKey))
  const app = new Hono().basePath('/v1')
  app.use('*', async (c, next) => {
    const key = keyOf(c)
    // Without the key: it may be a real one that was sent here by mistake.
    if (key === undefined) throw refusal(401, { message: 'You did not provide an API key.' })
    if (key !== settings.secret_key) throw refusal(401, { message: 'Invalid API Key provided.' })
    await next()
    c.header('Request-Id', `req_${simulator.newId().replaceAll('-', '')}`)
  })

  const find = (id: string) => payments.find(sessionIdOf(id), 'stripe')
  const known = (id: string, what: string, param: string): Payment => {
    const payment = find(id)
    if (payment) return payment
    throw unknown(id, what, param)
  }
  const sessionOf = (c: Context) => known(c.req.param('id') ?? '', 'checkout.session', 'session')
  const showSession = (c: Context, payment: Payment) =>
    c.json(sessionAnswer(payment, payUrl(payment.id), expandIn(c)))

  app.post('/checkout/sessions', async (c) => {
    const form = await formOf(c)
    const read = readSession(form, simulator.now())
    const order = { ...read, ...(callbackUrl && { callbackUrl }) }
    return change(c, 'create', order, async () => {
      const opened = await simulator.charge(order)
      const payment = opened.ok ? opened.payment : opened.existing
      // As it was made, also if it is already paid (the fault `beforeAnswer`).
      return showSession(c, { ...payment, state: 'open' })
    })
  })

  app.get('/checkout/sessions', (c) => {
    const limit = Number(c.req.query('limit') ?? 10)
    const all = payments.all().filter(({ gateway }) => gateway === 'stripe')
    const data = all
      .slice(0, Math.min(limit, MAX_LISTED))
      .map((payment) => sessionAnswer(payment, payUrl(payment.id)))
    const has_more = all.length > data.length
    return c.json({ object: 'list', data, has_more, url: '/v1/checkout/sessions' })
  })

  app.get('/checkout/sessions/:id', (c) =>
    faults.respond(c, 'status', find(c.req.param('id')), () => showSession(c, sessionOf(c))),
  )

  app.post('/checkout/sessions/:id/expire', (c) =>
    change(c, 'cancel', find(c.req.param('id')), () => {
      const acted = simulator.act(sessionOf(c), 'expire')
      if (acted.ok) return showSession(c, acted.payment)
      const message = 'Only Checkout Sessions with a status in ["open"] can be expired.'
      throw invalid('session', message)
    }),
  )

  app.get('/payment_intents/:id', (c) => {
    const id = c.req.param('id')
    return faults.respond(c, 'status', find(id), () => {
      const payment = find(id)
      const intent = payment && intentAnswer(payment, expandIn(c).includes('latest_charge'))
      if (intent) return c.json(intent)
      throw unknown(id, 'payment_intent', 'intent')
    })
  })

  app.get('/disputes/:id', (c) => {
    const id = c.req.param('id')
    const payment = payments
      .all()
      .find(
        ({ gateway, disputes }) => gateway === 'stripe' && disputes?.some((one) => one.id === id),
      )
    return faults.respond(c, 'status', payment, () => {
      const dispute = payment?.disputes?.find((one) => one.id === id)
      if (payment && dispute) return c.json(disputeAnswer(dispute, payment))
      throw unknown(id, 'dispute', 'dispute')
    })
  })

  app.get('/refunds', (c) => {
    const of = c.req.query('payment_intent') ?? c.req.query('charge') ?? ''
    return faults.respond(c, 'status', find(of), () => {
      const payment = known(of, 'payment_intent', 'payment_intent')
      const all = (payment.refunds ?? []).toReversed()
      const after = c.req.query('starting_after')
      const rest = all.slice(after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1)
      const limit = Math.min(Number(c.req.query('limit') ?? 10), MAX_LISTED)
      const data = rest.slice(0, limit).map((refund) => refundAnswer(refund, payment))
      return c.json({ object: 'list', data, has_more: rest.length > limit, url: '/v1/refunds' })
    })
  })

  app.post('/refunds', async (c) => {
    const form = await formOf(c)
    const { of, amount, metadata } = readRefund(form)
    return change(c, 'refund', find(of), () => {
      const payment = known(of, 'payment_intent', 'payment_intent')
      const acted = simulator.refund(payment, { ...(amount && { amount }), metadata })
      const refund = acted.ok ? acted.payment.refunds?.at(-1) : undefined
      if (acted.ok && refund) return c.json(refundAnswer(refund, acted.payment))
      if (payment.state === 'refunded') {
        const message = 'The charge has already been refunded.'
        throw invalid('payment_intent', message, 'charge_already_refunded')
      }
      if (!acted.ok && acted.left !== undefined) {
        const left = `unrefunded amount (${acted.left})`
        throw invalid('amount', `Refund amount (${amount}) is greater than ${left}.`)
      }
      const message = 'This PaymentIntent does not have a successful charge to refund.'
      throw invalid('payment_intent', message)
    })
  })
  return app
}

/** A new Checkout Session. `now` in ms. */
function readSession(form: URLSearchParams, now: number): Order {
  if (form.get('mode') !== 'payment') throw invalid('mode', 'The simulator knows only payment.')
  const successUrl = form.get('success_url')
  if (successUrl === null) {
    throw invalid('success_url', 'Missing required param: success_url.', 'parameter_missing')
  }
  for (const name of ['success_url', 'cancel_url']) {
    const url = form.get(name)
    if (url !== null && !URL.canParse(url)) throw invalid(name, 'Not a valid URL', 'url_invalid')
  }
  const reference = form.get('client_reference_id') ?? ''
  if (reference.length > 200) {
    throw invalid('client_reference_id', 'It must have at most 200 characters.')
  }
  const metadata = metadataIn(form, 'metadata')
  const paymentMetadata = metadataIn(form, 'payment_intent_data[metadata]')
  const values = Object.values({ ...metadata, ...paymentMetadata })
  if (values.some((value) => value.length > 500)) {
    throw invalid('metadata', 'Metadata values can have up to 500 characters.')
  }
  const items = readItems(form)
  const expires = form.get('expires_at')
  const expiresInMs = expires === null ? DAY_MS : Number(expires) * 1_000 - now
  // Half an hour, and a minute for a clock that differs.
  if (!(expiresInMs >= 29 * MINUTE_MS && expiresInMs <= DAY_MS + MINUTE_MS)) {
    throw invalid('expires_at', 'It must be between 30 minutes and 24 hours from now.')
  }
  const { external_reference_id: externalReference } = metadata
  const cancelUrl = form.get('cancel_url')
  return {
    gateway: 'stripe',
    reference,
    ...(externalReference !== undefined && { externalReference }),
    ...items,
    successUrl,
    ...(cancelUrl !== null && { failureUrl: cancelUrl }),
    metadata,
    paymentMetadata,
    expiresInMs,
  }
}

function readItems(form: URLSearchParams): Pick<Order, 'amount' | 'currency' | 'description'> {
  const names: string[] = []
  let amount = 0
  let currency = ''
  for (let at = 0; at === 0 || form.has(`line_items[${at}][price_data][currency]`); at++) {
    const item = `line_items[${at}]`
    const given = form.get(`${item}[price_data][currency]`) ?? ''
    const unit = wholeIn(form, `${item}[price_data][unit_amount]`)
    const quantity = wholeIn(form, `${item}[quantity]`)
    // Stripe has no Iraqi dinar: see docs/payments.md.
    if (!/^[a-z]{3}$/.test(given) || given === 'iqd') {
      throw invalid(`${item}[price_data][currency]`, 'Invalid currency.')
    }
    if (unit === undefined) throw invalid(`${item}[price_data][unit_amount]`, 'Invalid integer.')
    if (!quantity) throw invalid(`${item}[quantity]`, 'Invalid positive integer.')
    currency ||= given
    amount += unit * quantity
    names.push(form.get(`${item}[price_data][product_data][name]`) ?? '')
  }
  return { amount, currency: currency.toUpperCase(), description: names.join(', ') }
}

const REASONS = ['duplicate', 'fraudulent', 'requested_by_customer']

/** `of`: `pi_…` or `ch_…`. `amount` is undefined for all that is left. */
function readRefund(form: URLSearchParams) {
  const of = form.get('payment_intent') ?? form.get('charge')
  const amount = wholeIn(form, 'amount')
  const reason = form.get('reason')
  if (of === null) {
    const message = 'One of the following params should be provided: payment_intent or charge.'
    throw invalid('payment_intent', message, 'parameter_missing')
  }
  if (form.has('amount') && !amount) throw invalid('amount', 'Invalid positive integer')
  if (reason !== null && !REASONS.includes(reason)) {
    throw invalid('reason', `It must be one of ${REASONS.join(', ')}`)
  }
  return { of, amount, metadata: metadataIn(form, 'metadata') }
}

const isNew = ({ before }: Transition, { id }: Refund): boolean =>
  !before.refunds?.some((refund) => refund.id === id)

function objectOf(transition: Transition): object {
  const { after, refund, dispute } = transition
  if (dispute) return disputeAnswer(dispute, after)
  if (!refund) return sessionAnswer(after, '')
  return isNew(transition, refund) ? chargeAnswer(after) : refundAnswer(refund, after)
}

/** One event for each transition, of the types that docs/payments.md names for this endpoint. */
function typeOf(transition: Transition): Stripe.Event['type'] {
  const { before, after, refund, refundFailed, dispute } = transition
  if (dispute) return disputeTypeOf(before, dispute)
  if (refund && isNew(transition, refund)) return 'charge.refunded'
  if (refund) return refundFailed ? 'refund.failed' : 'refund.updated'
  if (after.state === 'expired') return 'checkout.session.expired'
  if (after.state === 'failed') return 'checkout.session.async_payment_failed'
  // A payment by a slow method: the session was completed before.
  const wasComplete = before.state === 'processing' || before.state === 'failed'
  const isLate = wasComplete && after.state === 'paid'
  return isLate ? 'checkout.session.async_payment_succeeded' : 'checkout.session.completed'
}

const ENDS = ['won', 'lost', 'warning_closed', 'prevented']

function disputeTypeOf(
  { disputes }: Payment,
  { id, status, moves }: Dispute,
): Stripe.Event['type'] {
  const before = disputes?.find((one) => one.id === id)
  if (!before) return 'charge.dispute.created'
  if (status !== before.status && ENDS.includes(status)) return 'charge.dispute.closed'
  if (moves === before.moves) return 'charge.dispute.updated'
  return moves % 2 === 0 ? 'charge.dispute.funds_reinstated' : 'charge.dispute.funds_withdrawn'
}

const webhooks = {
  signsWith: 'webhook_secret',
  content: (transition: Transition, id: string) =>
    ({
      id,
      object: 'event',
      api_version: API_VERSION,
      created: seconds(transition.now),
      data: { object: objectOf(transition) },
      livemode: false,
      pending_webhooks: 1,
      request: { id: null, idempotency_key: null },
      type: typeOf(transition),
    }) satisfies Omit<Stripe.Event, 'type' | 'data'> & { type: string; data: { object: object } },
  async encode({ content, forgery, ageMs = 0 }: Signed, secrets: string, now: number) {
    const body = JSON.stringify(content)
    const time = seconds(now - ageMs)
    // A merchant has several while they rotate, and each of them is valid.
    const [secret = ''] = secrets.split(' ')
    const mac = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
    // `v0` is a scheme that Stripe itself says must not be accepted.
    const scheme = forgery === 'alg_none' ? 'v0' : 'v1'
    const sent = forgery === 'tampered' ? body.replace(/("amount\w*":)(\d+)/g, '$1$20') : body
    const signature = `t=${time},${scheme}=${mac}`
    const headers = { 'content-type': 'application/json', 'stripe-signature': signature }
    return { headers, body: sent }
  },
  // The event for a declined card is not one of those that this merchant selected.
  isSilent: ({ before, after }: Transition) => before.state === 'open' && after.state === 'open',
} satisfies WebhookFormat

const PREFIXES = { payment: 'cs_test', refund: 're', dispute: 'du', event: 'evt' }

export const stripe = {
  title: 'Stripe',
  accent: '#533afd',
  // A payer whose card is declined can try again.
  moves: {
    pay: { open: 'paid', processing: 'paid' },
    pay_late: { failed: 'paid', expired: 'paid' },
    transfer: { open: 'processing' },
    fail: { open: 'open', processing: 'failed' },
    expire: { open: 'expired' },
  },
  hasPartialRefunds: true,
  disputedAs: 'needs_response',
  inMinorUnits: true,
  idOf: (kind, uuid) => `${PREFIXES[kind]}_${uuid.replaceAll('-', '')}`,
  merchant: {
    secret_key: 'sk_test_simulated',
    webhook_secret: 'whsec_simulated-secret-of-32-bytes-or-more',
  },
  webhooks,
  backUrl(payment, action) {
    if (action === 'cancel' || action === 'expire') return payment.failureUrl
    // After a declined card the payer tries another one. A payer does not wait for a bank transfer.
    if (action === 'fail' || payment.state !== 'open') return undefined
    return payment.successUrl?.replaceAll('{CHECKOUT_SESSION_ID}', payment.id)
  },
  conflict: () => errorAnswer(409, CONFLICT),
  simulate: {
    needs: ['reference', 'amount', 'currency'],
    ways: {
      Paid: ['pay'],
      // Only a slow payment fails for good: after a declined card, the payer can try again.
      Failed: ['transfer', 'fail'],
      Expired: ['expire'],
      Refunded: ['pay', 'refund'],
    },
    // Stripe has no such event type: it is verified, and then ignored.
    probe: (now) => ({
      id: `evt_${now}`,
      object: 'event',
      type: 'signalbox.doctor',
      created: seconds(now),
      data: { object: {} },
    }),
  },
  api,
} satisfies Simulation
