// The contract of a gateway, and that the simulator agrees.

import { describe, expect, it } from 'vitest'
import { gatewayContract } from '../../../../../libraries/testing/gateway-contract.ts'
import { CALL_TIMEOUT_MS, openCall } from '../../../../../worker/payments/gateways/client.ts'
import { createGuard } from '../../../../../worker/payments/gateways/guard.ts'
import { stripe } from '../../../../../worker/payments/gateways/stripe/stripe.ts'
import { hostClock } from '../../../../../worker/shared/clock.ts'
import { webhookRequest } from '../../../../support/payments.ts'
import { type SimulatorSetup, STRIPE, setUpSimulator } from '../../../../support/simulator.ts'
import { fixtures } from './stripe-fixtures.ts'
import { charge } from './stripe-setup.ts'

describe('the contract of a gateway, for stripe', () => {
  it.each(gatewayContract(fixtures))('$name', ({ run }) => run())
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
