// The contract of a gateway, and that the simulator agrees.

import Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { gatewayContract } from '../../../../../libraries/testing/gateway-contract.ts'
import type { HeldPayment } from '../../../../../libraries/testing/gateway-fixtures.ts'
import { json } from '../../../../../libraries/testing/gateway-setup.ts'
import { CALL_TIMEOUT_MS, openCall } from '../../../../../worker/payments/gateways/client.ts'
import { createGuard } from '../../../../../worker/payments/gateways/guard.ts'
import { stripe } from '../../../../../worker/payments/gateways/stripe/stripe.ts'
import { hostClock } from '../../../../../worker/shared/clock.ts'
import { webhookRequest } from '../../../../support/payments.ts'
import { type SimulatorSetup, STRIPE, setUpSimulator } from '../../../../support/simulator.ts'
import { charge, refund as part } from './stripe-setup.ts'

const SESSIONS = '/v1/checkout/sessions'
const settings = {
  base_url: 'https://api.stripe.test',
  secret_key: 'sk_test_the-key',
  webhook_secret: 'whsec_the-new-one whsec_the-old-one',
}

/** As Stripe writes it. A `state` here is the session's status, and that of its payment. */
function session({ id, reference, externalReferenceId, state, amount, currency }: HeldPayment) {
  const [status, payment_status = status, intent] = state.split(' ')
  const isExpanded = intent !== undefined
  return {
    id,
    object: 'checkout.session',
    url: `https://checkout.stripe.test/${id}`,
    status,
    payment_status,
    amount_total: amount,
    currency: currency.toLowerCase(),
    metadata: { external_reference_id: externalReferenceId, reference },
    customer_details: { email: 'sara@example.org' },
    payment_intent: isExpanded
      ? { id: 'pi_1', amount_received: 0, currency: currency.toLowerCase(), status: intent }
      : 'pi_1',
  }
}
const refundsOf = ({ refunded }: HeldPayment) =>
  refunded === 0 ? [] : [{ id: 're_1', amount: refunded, status: 'succeeded' }]

const healthy = ({ method, url, headers }: Request, held: HeldPayment) => {
  if (headers.get('authorization') !== `Bearer ${settings.secret_key}`) {
    return json({ error: { type: 'invalid_request_error', message: 'Invalid API key' } }, 401)
  }
  const path = `${method} ${new URL(url).pathname}`
  if (path === 'GET /v1/refunds') return json({ data: refundsOf(held), has_more: false })
  if (path === 'POST /v1/refunds') return json({ id: 're_1', status: 'succeeded' })
  return path.includes(SESSIONS) ? json(session(held)) : json({ error: { type: 'unknown' } }, 404)
}

const TYPES: Record<string, string> = {
  'complete unpaid requires_payment_method': 'checkout.session.async_payment_failed',
  'expired unpaid': 'checkout.session.expired',
}

function eventOf(held: HeldPayment, id: string) {
  if (held.refunded === 0) {
    const type = TYPES[held.state] ?? 'checkout.session.completed'
    return { id, type, data: { object: session(held) } }
  }
  const { amount_total: amount, currency, metadata } = session(held)
  const object = { id: 'ch_1', payment_intent: 'pi_1', amount, currency, metadata }
  return { id, type: 'charge.refunded', data: { object } }
}

const own: HeldPayment = {
  id: 'cs_test_1',
  reference: 'order-7',
  externalReferenceId: 'ext-7',
  state: 'complete paid',
  amount: 1_250,
  currency: 'USD',
  refunded: 0,
}
const event = (id: string) => JSON.stringify(eventOf(own, id))

const sign = (payload: string, secret = 'whsec_the-new-one', timestamp = 1_700_000_000) =>
  Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp })

const received = (body: string, signature = sign(body)) =>
  webhookRequest(body, 1_700_000_005_000, { 'stripe-signature': signature })

const contract = gatewayContract({
  driver: stripe,
  settings,
  charge,
  refund: { ...part, refundAmount: 1_250 },
  healthy,
  isMoney: ({ method, path }) =>
    [`POST ${SESSIONS}`, 'POST /v1/refunds'].includes(`${method} ${path}`),
  ids: ['cs_test_1', 'cs_test_2'],
  states: {
    Pending: 'open unpaid',
    Paid: 'complete paid',
    Failed: 'complete unpaid requires_payment_method',
    Expired: 'expired unpaid',
    PartiallyRefunded: 'complete paid',
    Refunded: 'complete paid',
  },
  sent: ({ reference, amount, currency }) => ({
    client_reference_id: reference,
    'line_items[0][price_data][unit_amount]': String(amount),
    'line_items[0][price_data][currency]': currency.toLowerCase(),
  }),
  sentRefund: ({ refundAmount }) => ({ amount: String(refundAmount) }),
  refuses: () => json({ error: { type: 'invalid_request_error', code: 'amount_too_small' } }, 400),
  refunds: {
    done: () => json({ id: 're_1', status: 'succeeded' }),
    accepted: () => json({ id: 're_1', status: 'pending' }),
  },
  repeatsFirstAnswer: true,
  signs: 'body',
  async callback(held, { id, at }) {
    const raw = eventOf(held, id)
    const body = JSON.stringify(raw)
    // In a rotation a later delivery may be signed with the old secret.
    const secret = at > 1_700_000_000_000 ? 'whsec_the-old-one' : 'whsec_the-new-one'
    return { request: received(body, sign(body, secret, at / 1_000)), raw }
  },
  hidden: ['sara@example.org'],
  async forged() {
    const body = event('evt_1')
    const good = sign(body)
    return {
      'no signature': { ...received(body), headers: new Headers() },
      'an empty signature': received(body, ''),
      'garbage for a signature': received(body, 'garbage'),
      'a signature that is cut off': received(body, good.slice(0, -4)),
      'another event’s signature': received(body, sign(event('evt_2'))),
      'another secret': received(body, sign(body, 'whsec_another')),
      'both secrets in one': received(body, sign(body, settings.webhook_secret)),
      'the API key as secret': received(body, sign(body, settings.secret_key)),
      'another body': received(body.replace('1250', '1'), good),
      'another time': received(body, good.replace('t=1700000000', 't=1700000001')),
    }
  },
})

describe('the contract of a gateway, for stripe', () => {
  it.each(contract)('$name', ({ run }) => run())
})

const silent = () => undefined

async function charged(setup: SimulatorSetup) {
  const { secretKey, webhookSecret } = STRIPE
  const settings = { base_url: setup.url, secret_key: secretKey, webhook_secret: webhookSecret }
  const shop = stripe.create('shop', settings)
  const base = { clock: hostClock, log: silent, fetch }
  const guard = createGuard({ gateways: new Map([['shop', shop]]), store: new Map(), ...base })
  const deadlineAt = hostClock.elapsed() + CALL_TIMEOUT_MS
  const call = () => openCall({ ...base, guard, notify: silent, key: 'shop', deadlineAt })
  const repeated = () => shop.charge(charge, call())
  const answer = await repeated()
  if (!answer.ok) throw new Error(answer.error.message)
  const names = { ...charge, gatewayTransactionId: answer.gatewayTransactionId }
  const receivedAt = async (at: number) => {
    const body = setup.merchant.bodies[at] ?? ''
    const signature = setup.merchant.headers[at]?.['stripe-signature']
    const headers = { 'stripe-signature': String(signature) }
    return await shop.handleWebhook(webhookRequest(body, Date.now(), headers), call())
  }
  const received = async (count: number) => {
    await setup.merchant.got(count)
    return await receivedAt(count - 1)
  }
  /** The first one of this type. Those that follow each other at once may arrive in any order. */
  const receivedOf = async (type: string) => {
    const at = () => setup.merchant.bodies.findIndex((body) => JSON.parse(body).type === type)
    await expect.poll(at).not.toBe(-1)
    return await receivedAt(at())
  }
  return { shop, call, repeated, answer, names, received, receivedOf }
}

describe('Stripe and the simulator', () => {
  it('charge once, report the payment, and refund it in two parts', async () => {
    await using setup = await setUpSimulator()
    const { shop, call, repeated, answer, names, received } = await charged(setup)
    expect(await repeated()).toEqual(answer)
    expect(answer).toMatchObject({ redirectUrl: expect.stringContaining(setup.url) })
    expect(await shop.checkStatus(names, call())).toMatchObject({ status: 'Pending' })

    await setup.act(names.gatewayTransactionId, 'pay')
    const { gatewayTransactionId, reference, externalReferenceId, amount, currency } = names
    expect(await received(1)).toMatchObject({
      gatewayTransactionId,
      reference,
      externalReferenceId,
      amount,
      currency,
      status: 'Paid',
    })
    expect(await shop.checkStatus(names, call())).toMatchObject({ status: 'Paid', amount })

    const refund = (refundId: string, refundAmount: number) =>
      shop.refund({ ...names, refundId, refundAmount, reason: 'Broken' }, call())
    const first = await refund('rf-1', 400)
    expect(first).toMatchObject({ ok: true, isDone: true })
    expect(await refund('rf-1', 400)).toEqual(first)
    expect(await received(2)).toMatchObject({ status: 'PartiallyRefunded', amount: 400 })
    const partly = { status: 'PartiallyRefunded', amount: 400, paidAmount: 1_250 }
    expect(await shop.checkStatus(names, call())).toMatchObject(partly)
    expect(await refund('rf-2', 851)).toMatchObject({ ok: false })
    expect(await refund('rf-3', 850)).toMatchObject({ ok: true, isDone: true })
    expect(await received(3)).toMatchObject({ status: 'Refunded', amount: 1_250 })
  })

  it('agree on a transfer that is under way, and on one that a bank refused', async () => {
    await using setup = await setUpSimulator()
    const { shop, call, names, received } = await charged(setup)
    await setup.act(names.gatewayTransactionId, 'transfer')
    expect(await received(1)).toMatchObject({ status: 'Pending' })
    const pending = { status: 'Pending', isBeingPaid: true }
    expect(await shop.checkStatus(names, call())).toMatchObject(pending)
    await expect(shop.cancel(names, call())).rejects.toMatchObject({ code: 'gateway_refused' })
    await setup.act(names.gatewayTransactionId, 'fail')
    expect(await received(2)).toMatchObject({ status: 'Failed' })
    const failed = { status: 'Failed', error: { rawCode: 'card_declined' } }
    expect(await shop.checkStatus(names, call())).toMatchObject(failed)
  })

  it('agree on a refund that fails after it was made', async () => {
    await using setup = await setUpSimulator()
    const { shop, call, names, receivedOf } = await charged(setup)
    setup.faults({ all: { refundFails: true } })
    await setup.act(names.gatewayTransactionId, 'pay')
    const refund = { ...names, refundId: 'rf-1', refundAmount: 1_250, reason: 'Broken' }
    expect(await shop.refund(refund, call())).toMatchObject({ ok: true })
    const failed = { refundId: 'rf-1', amount: 1_250, status: 'failed' }
    const expected = { status: 'Paid', amount: 1_250, refunds: { refunds: [failed] } }
    expect(await receivedOf('refund.failed')).toMatchObject(expected)
  })

  it('cancel an open session, and do not find sessions of others', async () => {
    await using setup = await setUpSimulator()
    const { shop, call, names, received } = await charged(setup)
    await shop.cancel(names, call())
    expect(await received(1)).toMatchObject({ status: 'Expired' })
    expect(await shop.checkStatus(names, call())).toMatchObject({ status: 'Expired' })
    const other = { ...names, gatewayTransactionId: 'cs_test_none' }
    expect(await shop.checkStatus(other, call())).toEqual({ known: false })
  })
})
