// Mollie's Payments API v2, of the parts that the driver and a merchant's own programs use: the
// payments, their refunds and chargebacks, and webhooks, which are not signed.

import { type Context, Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { majorText, toMinor } from '../worker/payments/domain/money.ts'
import { DAY_MS, MINUTE_MS } from '../worker/payments/domain/time.ts'
import { changing, IdempotencyKeys } from './idempotency-keys.ts'
import {
  amountOf,
  type Capture,
  type Metadata,
  type Order,
  type Payment,
  type Refund,
  refundedOf,
  remainderOf,
  type State,
  type Transition,
} from './payments.ts'
import type { Simulation, Simulator } from './simulator.ts'
import { backToShop, CONFLICT, HINTS } from './traits.ts'
import type { Signed, WebhookFormat } from './webhooks.ts'

const PROFILE = 'pfl_simulated'
const EXPIRES_IN_MS = 15 * MINUTE_MS
const CAPTURED_WITHIN_MS = 28 * DAY_MS
const MAX_LISTED = 250
const HAL = { 'content-type': 'application/hal+json; charset=utf-8' }

type Body = Readonly<Record<string, unknown>>

const TITLES = { 400: 'Bad Request', 401: 'Unauthorized Request', 404: 'Not Found' } as const
const titleOf = (status: number): string =>
  (TITLES as Record<number, string>)[status] ??
  (status === 409 ? 'Conflict' : 'Unprocessable Entity')

const DOCS = { documentation: { href: 'https://docs.mollie.com/', type: 'text/html' } }

/** Mollie's errors are HAL, too. */
const errorAnswer = (status: number, detail: string, field?: string): Response =>
  hal({ status, title: titleOf(status), detail, ...(field && { field }), _links: DOCS }, status)
const refusal = (status: 401 | 404 | 409 | 422, detail: string, field?: string): HTTPException =>
  new HTTPException(status, { res: errorAnswer(status, detail, field) })

const hal = (body: object, status = 200): Response =>
  new Response(JSON.stringify(body), { status, headers: HAL })

function api(simulator: Simulator, payUrl: (id: string) => string): Hono {
  const { faults, payments } = simulator
  const { settings } = simulator.merchantOf('mollie')
  const change = changing(faults, new IdempotencyKeys(errorAnswer))
  const app = new Hono()
  const routes = app.basePath('/v2')
  for (const path of ['/payments', '/payments/*', '/refunds']) {
    routes.use(path, async (c, next) => {
      if (c.req.header('authorization') === `Bearer ${settings.api_key}`) return await next()
      throw refusal(401, 'Missing authentication, or failed to authenticate')
    })
  }

  const find = (c: Context) => payments.find(c.req.param('id') ?? '', 'mollie')
  const known = (c: Context): Payment => {
    const payment = find(c)
    if (payment) return payment
    throw refusal(404, `No payment exists with token ${c.req.param('id')}.`)
  }
  const show = (payment: Payment, embed = '', status = 200) =>
    hal(paymentAnswer(payment, payUrl(payment.id), embed), status)

  routes.post('/payments', async (c) => {
    const body = await bodyOf(c)
    const order = readPayment(body)
    return change(c, 'create', order, async () => {
      const opened = await simulator.charge(order)
      const payment = opened.ok ? opened.payment : opened.existing
      // As it was made, also if it is already paid (the fault `beforeAnswer`).
      return show({ ...payment, state: 'open' }, '', 201)
    })
  })
  routes.get('/payments', (c) =>
    listed(
      c,
      'payments',
      payments
        .all()
        .filter(({ gateway }) => gateway === 'mollie')
        .map((each) => paymentAnswer(each, payUrl(each.id), '')),
    ),
  )
  routes.get('/payments/:id', (c) =>
    faults.respond(c, 'status', find(c), () => show(known(c), c.req.query('embed'))),
  )
  routes.delete('/payments/:id', (c) =>
    change(c, 'cancel', find(c), () => {
      const acted = simulator.act(known(c), 'cancel')
      if (acted.ok) return show(acted.payment)
      throw refusal(422, 'The payment cannot be canceled')
    }),
  )
  routes.post('/payments/:id/refunds', async (c) => {
    const body = await bodyOf(c)
    return change(c, 'refund', find(c), () => {
      const payment = known(c)
      const { amount, currency } = readAmount(body)
      if (currency !== amountOf(payment).currency) {
        throw refusal(422, 'The currency must be that of the payment', 'amount.currency')
      }
      const acted = simulator.refund(payment, { amount, metadata: metadataIn(body) })
      const refund = acted.ok ? acted.payment.refunds?.at(-1) : undefined
      if (acted.ok && refund) return hal(refundAnswer(refund, acted.payment), 201)
      if (!acted.ok && acted.left !== undefined) {
        throw refusal(422, 'The specified amount cannot be refunded', 'amount')
      }
      throw refusal(422, 'The payment cannot be refunded')
    })
  })
  routes.post('/payments/:id/captures', async (c) => {
    const body = await bodyOf(c)
    return change(c, 'capture', find(c), () => {
      const payment = known(c)
      const { amount, currency } = body.amount ? readAmount(body) : payment
      const part = body.amount ? { amount } : {}
      if (currency !== payment.currency) {
        throw refusal(422, 'The currency must be that of the payment', 'amount.currency')
      }
      const acted = simulator.capture(payment, { ...part, isFinal: false })
      const capture = acted.ok ? acted.payment.captures?.at(-1) : undefined
      if (acted.ok && capture) return hal(captureAnswer(capture, acted.payment), 201)
      throw refusal(422, 'The payment cannot be captured', 'amount')
    })
  })
  routes.get('/payments/:id/captures', (c) => listed(c, 'captures', capturesOf(known(c))))
  routes.get('/payments/:id/refunds', (c) =>
    faults.respond(c, 'status', find(c), () => listed(c, 'refunds', refundsOf(known(c)))),
  )
  routes.get('/payments/:id/chargebacks', (c) => listed(c, 'chargebacks', chargebacksOf(known(c))))
  routes.get('/refunds', (c) => listed(c, 'refunds', payments.all().flatMap(refundsOf)))
  return app
}

function listed(c: Context, name: string, all: readonly object[]): Response {
  const limit = Math.min(Number(c.req.query('limit') ?? 50), MAX_LISTED)
  const found = all.slice(0, limit)
  return hal({ count: found.length, _embedded: { [name]: found }, _links: { next: null, ...DOCS } })
}

const bodyOf = (c: Context): Promise<Body> => c.req.json<Body>().catch(() => ({}))

/** The texts of an object. Mollie keeps other values, too, but no test sends any. */
const metadataIn = ({ metadata }: Body): Metadata =>
  Object.fromEntries(
    Object.entries(metadata ?? {}).filter(([, value]) => typeof value === 'string'),
  )

function readAmount({ amount }: Body): { amount: number; currency: string } {
  const { value, currency } = (amount ?? {}) as Record<string, unknown>
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) {
    throw refusal(422, 'The currency is invalid', 'amount.currency')
  }
  const minor = typeof value === 'string' ? toMinor(value, currency) : undefined
  // With the right number of decimals, as a text.
  if (!minor || majorText(minor, currency) !== value) {
    throw refusal(422, 'The amount contains an invalid value', 'amount')
  }
  return { amount: minor, currency }
}

const urlIn = (body: Body, name: string): string | undefined => {
  const value = body[name]
  if (value === undefined || (typeof value === 'string' && URL.canParse(value))) return value
  throw refusal(422, `The ${name} is invalid`, name)
}

function readPayment(body: Body): Order {
  const money = readAmount(body)
  const { description } = body
  if (typeof description !== 'string' || description === '' || description.length > 255) {
    throw refusal(422, 'The description is invalid', 'description')
  }
  for (const name of ['testmode', 'profileId']) {
    if (name in body) throw refusal(422, `Non-existent body parameter "${name}"`, name)
  }
  const successUrl = urlIn(body, 'redirectUrl')
  if (successUrl === undefined) throw refusal(422, 'The redirect URL is missing', 'redirectUrl')
  const callbackUrl = urlIn(body, 'webhookUrl')
  const failureUrl = urlIn(body, 'cancelUrl') ?? successUrl
  const metadata = metadataIn(body)
  const { external_reference_id: externalReference } = metadata
  return {
    gateway: 'mollie',
    reference: metadata.reference ?? description,
    ...(externalReference !== undefined && { externalReference }),
    ...money,
    description,
    successUrl,
    failureUrl,
    ...(callbackUrl !== undefined && { callbackUrl }),
    metadata,
    expiresInMs: EXPIRES_IN_MS,
  }
}

const STATUSES: Record<State, string> = {
  open: 'open',
  processing: 'pending',
  authorized: 'authorized',
  paid: 'paid',
  failed: 'failed',
  cancelled: 'canceled',
  expired: 'expired',
  // Refunds do not change a payment's status.
  refund_requested: 'paid',
  refunded: 'paid',
}

const time = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, '+00:00')
const amountIn = (minor: number, currency: string) => ({
  value: majorText(minor, currency),
  currency,
})

function paymentAnswer(payment: Payment, payUrl: string, embed: string) {
  const { id, state, paidAt, declinedAt, authorizedAt } = payment
  const { successUrl, failureUrl, callbackUrl, captures } = payment
  const isAuthorized = authorizedAt !== undefined
  const { currency } = amountOf(payment)
  const { amount } = isAuthorized ? payment : amountOf(payment)
  const isPaid = STATUSES[state] === 'paid' || captures !== undefined
  const embedded = {
    ...(embed.includes('refunds') && { refunds: refundsOf(payment) }),
    ...(embed.includes('captures') && { captures: capturesOf(payment) }),
    ...(embed.includes('chargebacks') && { chargebacks: chargebacksOf(payment) }),
  }
  return {
    resource: 'payment',
    id,
    mode: 'test',
    createdAt: time(payment.createdAt),
    amount: amountIn(amount, currency),
    description: payment.description,
    method: isPaid ? 'ideal' : null,
    metadata: payment.metadata ?? null,
    status: STATUSES[state],
    isCancelable: state === 'open',
    expiresAt: time(payment.expiresAt),
    ...(isAuthorized && {
      authorizedAt: time(authorizedAt),
      captureMode: 'manual',
      captureBefore: time(authorizedAt + CAPTURED_WITHIN_MS),
      amountCaptured: amountIn(captures ? amountOf(payment).amount : 0, currency),
    }),
    ...(isPaid && {
      paidAt: time(paidAt ?? payment.updatedAt),
      amountRefunded: amountIn(refundedOf(payment), currency),
      amountRemaining: amountIn(remainderOf(payment), currency),
      details: { consumerName: 'Sara Ahmed', consumerAccount: 'NL55INGB0000000000' },
    }),
    ...(declinedAt !== undefined && { [`${STATUSES[state]}At`]: time(declinedAt) }),
    ...(state === 'failed' && {
      statusReason: { code: 'insufficient_funds', message: 'The account has too little money.' },
    }),
    profileId: PROFILE,
    sequenceType: 'oneoff',
    redirectUrl: successUrl,
    cancelUrl: failureUrl,
    ...(callbackUrl !== undefined && { webhookUrl: callbackUrl }),
    ...(Object.keys(embedded).length > 0 && { _embedded: embedded }),
    _links: {
      self: linkTo(`payments/${id}`),
      dashboard: { href: `https://my.mollie.com/dashboard/payments/${id}`, type: 'text/html' },
      ...(state === 'open' && { checkout: { href: payUrl, type: 'text/html' } }),
    },
  }
}

const linkTo = (path: string) => ({
  href: `https://api.mollie.com/v2/${path}`,
  type: 'application/hal+json',
})

/** The links of what belongs to a payment. */
const linksOf = ({ id }: Payment, name: string) => ({
  self: linkTo(`payments/${id}/${name}`),
  payment: linkTo(`payments/${id}`),
  ...DOCS,
})

const REFUND_STATUSES: Record<Refund['status'], string> = {
  pending: 'pending',
  succeeded: 'refunded',
  failed: 'failed',
  canceled: 'canceled',
}

const refundsOf = (payment: Payment) =>
  payment.gateway === 'mollie'
    ? (payment.refunds ?? []).map((refund) => refundAnswer(refund, payment))
    : []

const refundAnswer = (refund: Refund, payment: Payment) => ({
  resource: 'refund',
  id: refund.id,
  mode: 'test',
  amount: amountIn(refund.amount, amountOf(payment).currency),
  status: REFUND_STATUSES[refund.status],
  createdAt: time(refund.createdAt),
  description: payment.description,
  metadata: refund.metadata,
  paymentId: payment.id,
  _links: linksOf(payment, `refunds/${refund.id}`),
})

const capturesOf = (payment: Payment) =>
  (payment.captures ?? []).map((each) => captureAnswer(each, payment))

const captureAnswer = (capture: Capture, payment: Payment) => ({
  resource: 'capture',
  id: captureId(capture),
  mode: 'test',
  amount: amountIn(capture.amount, payment.currency),
  status: 'succeeded',
  createdAt: time(capture.createdAt),
  paymentId: payment.id,
  _links: linksOf(payment, `captures/${captureId(capture)}`),
})

const captureId = ({ id }: Capture): string => `cpt_${id.replaceAll('-', '')}`

const REVERSED = 'reversed'

const chargebacksOf = (payment: Payment) =>
  (payment.disputes ?? []).map(({ id, amount, status, createdAt, updatedAt }) => ({
    resource: 'chargeback',
    id,
    amount: amountIn(amount, amountOf(payment).currency),
    createdAt: time(createdAt),
    reason: { code: 'AC01', description: 'Account identifier incorrect' },
    reversedAt: status === REVERSED ? time(updatedAt) : null,
    paymentId: payment.id,
    _links: linksOf(payment, `chargebacks/${id}`),
  }))

const webhooks = {
  content: ({ after }: Transition) => ({ id: after.id }),
  async encode({ content, eventId, forgery }: Pick<Signed, 'content' | 'eventId' | 'forgery'>) {
    const id = forgery === 'tampered' ? eventId : String(content.id)
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    return { headers, body: String(new URLSearchParams({ id })) }
  },
} satisfies WebhookFormat

const PREFIXES = { payment: 'tr', refund: 're', dispute: 'chb', event: 'tr' }

export const mollie = {
  title: 'Mollie',
  accent: '#0b5cff',
  moves: {
    pay: { open: 'paid', processing: 'paid' },
    pay_late: { failed: 'paid', cancelled: 'paid', expired: 'paid' },
    transfer: { open: 'processing' },
    authorize: { open: 'authorized' },
    fail: { open: 'failed', processing: 'failed' },
    cancel: { open: 'cancelled' },
    expire: { open: 'expired', authorized: 'expired' },
  },
  hasPartialRefunds: true,
  disputedAs: 'standing',
  refundsTakeTime: true,
  inMinorUnits: true,
  idOf: (kind, uuid) => `${PREFIXES[kind]}_${uuid.replaceAll('-', '')}`,
  merchant: { api_key: 'test_simulated' },
  webhooks,
  backUrl: backToShop,
  conflict: () => errorAnswer(409, CONFLICT.message),
  simulate: HINTS,
  api,
} satisfies Simulation
