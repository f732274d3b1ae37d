// The driver against the simulator, over real HTTP. Stripe's own package also works with this
// simulator.

import { describe, expect, it } from 'vitest'
import { createCaller } from '../../../../../worker/payments/gateways/guard/caller.ts'
import { createGuard } from '../../../../../worker/payments/gateways/guard/guard-process.ts'
import { stripe } from '../../../../../worker/payments/gateways/stripe/stripe.ts'
import { hostClock } from '../../../../../worker/shared/clock.ts'
import { openBed, type SimulatorBed, STRIPE } from '../../../../support/simulator.ts'

const silent = () => undefined
const CHARGE = {
  gateway: 'shop',
  reference: 'order-7',
  externalReferenceId: 'ext-7',
  amount: 1_250,
  currency: 'USD',
  description: 'Two lamps',
  returnUrl: 'https://shop.test/back',
  callbackUrl: undefined,
  now: 0,
}

async function charged(bed: SimulatorBed) {
  const { secretKey, webhookSecret } = STRIPE
  const settings = { base_url: bed.url, secret_key: secretKey, webhook_secret: webhookSecret }
  const shop = stripe.create('shop', settings)
  const base = { clock: hostClock, log: silent, fetch }
  const guard = createGuard({ gateways: new Map([['shop', shop]]), store: new Map(), ...base })
  const caller = createCaller({ guard, ...base, onTimeout: silent, onOpened: silent })
  const call = () => caller.startCall(shop)
  const charge = () => shop.charge(CHARGE, call())
  const answer = await charge()
  if (!answer.ok) throw new Error(answer.error.message)
  const names = { ...CHARGE, gatewayTransactionId: answer.gatewayTransactionId }
  const receivedAt = async (at: number) => {
    const body = bed.merchant.bodies[at] ?? ''
    const signature = bed.merchant.headers[at]?.['stripe-signature']
    const headers = new Headers({ 'stripe-signature': String(signature) })
    const request = { headers, query: new URLSearchParams(), body, receivedAt: Date.now() }
    return await shop.handleWebhook(request, call())
  }
  const received = async (count: number) => {
    await bed.merchant.got(count)
    return await receivedAt(count - 1)
  }
  /** The first one of this type. Those that follow each other at once may arrive in any order. */
  const receivedOf = async (type: string) => {
    const at = () => bed.merchant.bodies.findIndex((body) => JSON.parse(body).type === type)
    await expect.poll(at).not.toBe(-1)
    return await receivedAt(at())
  }
  return { shop, call, charge, answer, names, received, receivedOf }
}

describe('Stripe and the simulator', () => {
  it('charge once, report the payment, and refund it in two parts', async () => {
    await using bed = await openBed()
    const { shop, call, charge, answer, names, received } = await charged(bed)
    expect(await charge()).toEqual(answer)
    expect(answer).toMatchObject({ redirectUrl: expect.stringContaining(bed.url) })
    expect(await shop.checkStatus(names, call())).toMatchObject({ status: 'Pending' })

    await bed.act(names.gatewayTransactionId, 'pay')
    const { gatewayTransactionId, reference, externalReferenceId, amount, currency } = names
    expect(await received(1)).toMatchObject({
      ...{ gatewayTransactionId, reference, externalReferenceId, amount, currency },
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
    await using bed = await openBed()
    const { shop, call, names, received } = await charged(bed)
    await bed.act(names.gatewayTransactionId, 'transfer')
    expect(await received(1)).toMatchObject({ status: 'Pending' })
    const pending = { status: 'Pending', isBeingPaid: true }
    expect(await shop.checkStatus(names, call())).toMatchObject(pending)
    await expect(shop.cancel(names, call())).rejects.toMatchObject({ code: 'gateway_refused' })
    await bed.act(names.gatewayTransactionId, 'fail')
    expect(await received(2)).toMatchObject({ status: 'Failed' })
    const failed = { status: 'Failed', error: { rawCode: 'card_declined' } }
    expect(await shop.checkStatus(names, call())).toMatchObject(failed)
  })

  it('agree on a refund that fails after it was made', async () => {
    await using bed = await openBed()
    const { shop, call, names, receivedOf } = await charged(bed)
    bed.faults({ all: { refundFails: true } })
    await bed.act(names.gatewayTransactionId, 'pay')
    const refund = { ...names, refundId: 'rf-1', refundAmount: 1_250, reason: 'Broken' }
    expect(await shop.refund(refund, call())).toMatchObject({ ok: true })
    const told = { status: 'Paid', amount: 1_250, alert: 'refund_failed', refundId: 'rf-1' }
    expect(await receivedOf('refund.failed')).toMatchObject(told)
  })

  it('cancel an open session, and do not find sessions of others', async () => {
    await using bed = await openBed()
    const { shop, call, names, received } = await charged(bed)
    await shop.cancel(names, call())
    expect(await received(1)).toMatchObject({ status: 'Expired' })
    expect(await shop.checkStatus(names, call())).toMatchObject({ status: 'Expired' })
    const other = { ...names, gatewayTransactionId: 'cs_test_none' }
    expect(await shop.checkStatus(other, call())).toEqual({ known: false })
  })
})
