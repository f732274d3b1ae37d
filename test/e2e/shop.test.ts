// The shop of docs/shop.md in a folder of its own, with the built package: from its first page to
// what a payer reads in the end.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPayments } from '../../libraries/payments/index.ts'
import { freePort } from '../../tools/harness/free-port.ts'
import { token } from '../support/edge.ts'
import { PATIENT } from '../support/patience.ts'
import { EVENTS_SECRET, PaymentSystem } from '../support/payment-system.ts'
import type { Program } from '../support/program.ts'
import { ShopFolder } from '../support/shop-folder.ts'

describe('the shop of docs/shop.md', () => {
  let folder: ShopFolder
  let shop: Program
  let system: PaymentSystem
  let url: string

  beforeAll(async () => {
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    const events = { PAYMENT_EVENTS_URL: `${url}/events` }
    system = await PaymentSystem.start('workerd', undefined, events)
    folder = await ShopFolder.make('shop', ['express'])
    shop = await folder.run([process.execPath, 'shop.ts'], String(port), {
      PORT: String(port),
      SIGNALBOX_URL: system.edge.origin,
      SIGNALBOX_TOKEN: await token({ scope: 'payments:write', repos: [] }),
      PAYMENT_EVENTS_SECRET: EVENTS_SECRET,
    })
  })
  afterAll(async () => {
    await shop?.stop()
    await system?.[Symbol.asyncDispose]()
    await folder?.remove()
  })

  /** Where the button of a page leads. */
  const press = async (page: string): Promise<string> => {
    const answer = await fetch(page, { method: 'POST', redirect: 'manual' })
    expect(answer.status).toBe(303)
    return new URL(answer.headers.get('location') ?? '', url).href
  }
  const idOf = (payPage: string) => payPage.slice(payPage.lastIndexOf('/') + 1)
  const read = async (page: string) => (await fetch(page)).text()
  const reads = (page: string, text: string) =>
    expect.poll(() => read(page), PATIENT).toContain(text)
  /** A page of the gateway, and the page of the shop that its payer comes back to. */
  const bought = async () => {
    const payPage = await press(`${url}/`)
    const { successUrl = '' } = await system.simulator.payment(idOf(payPage))
    return { payPage, back: successUrl }
  }

  it('sells a lamp: a button, the page of the gateway, and back to an order that is paid', async () => {
    expect(await read(`${url}/`)).toContain('Buy a lamp for IQD 25,000')
    const { payPage, back } = await bought()
    expect(await read(payPage)).toContain('25,000')
    // The payer comes back before anything was paid: that alone proves nothing.
    const early = await fetch(back)
    expect(early.headers.get('refresh')).toBe('2')
    expect(await early.text()).toContain('waiting for the payment')
    const paid = await fetch(payPage, { method: 'POST', body: 'action=pay', redirect: 'manual' })
    expect(paid.headers.get('location')).toContain(back)
    await reads(back, 'Your order is paid.')
    expect(await press(back)).toBe(back)
    expect(await read(back)).toContain('Your order is paid.')
  })

  it('offers to pay again after a failure, on another page of the gateway', async () => {
    const { payPage, back } = await bought()
    expect(await press(back)).toBe(payPage)
    await system.simulator.act(idOf(payPage), 'fail')
    await reads(back, 'Your order is not paid.')
    const again = await press(back)
    expect(again).not.toBe(payPage)
    await system.simulator.act(idOf(again), 'pay')
    await reads(back, 'Your order is paid.')
  })

  it('delivers nothing for another amount, and has somebody look', async () => {
    const { payPage, back } = await bought()
    const { reference } = await system.simulator.payment(idOf(payPage))
    await system.simulator.faults(reference, { amount: 250 })
    await system.simulator.act(idOf(payPage), 'pay')
    await reads(back, 'Your order is in question.')
    await expect.poll(() => shop.output, PATIENT).toContain('Somebody has to look: amount_mismatch')
  })

  it('asks for no more money after a late payment', async () => {
    const { payPage, back } = await bought()
    await system.simulator.act(idOf(payPage), 'fail')
    await reads(back, 'Your order is not paid.')
    await system.simulator.act(idOf(payPage), 'pay_late')
    await reads(back, 'Your order is in question.')
    expect(await read(back)).not.toContain('<button>')
    expect(await press(back)).toBe(back)
  })

  it('gives back what was paid twice, and keeps the order paid', async () => {
    const { payPage, back } = await bought()
    await system.simulator.act(idOf(payPage), 'fail')
    await reads(back, 'Your order is not paid.')
    const again = await press(back)
    await system.simulator.act(idOf(again), 'pay')
    await reads(back, 'Your order is paid.')
    await system.simulator.act(idOf(payPage), 'pay_late')
    const state = async (page: string) => (await system.simulator.payment(idOf(page))).state
    await expect.poll(() => state(payPage), PATIENT).toBe('refunded')
    expect(await state(again)).toBe('paid')
    expect(await read(back)).toContain('Your order is paid.')
  })

  it('offers to pay again when the gateway is away, and charges the order once', async () => {
    await system.simulator.everywhere({ outage: 502, endpoints: ['init'], times: 9 })
    const back = await press(`${url}/`)
    expect(await read(back)).toContain('Your order is not paid.')
    await system.simulator.everywhere({})
    const payPage = await press(back)
    await system.simulator.act(idOf(payPage), 'pay')
    await reads(back, 'Your order is paid.')
    const { reference } = await system.simulator.payment(idOf(payPage))
    expect(await system.simulator.payments(reference)).toHaveLength(1)
  })

  it('charges, is paid and refunds by the client of payments, as the gateway knows', async () => {
    const scope = 'payments:read payments:write'
    const payments = createPayments({
      url: system.edge.origin,
      token: () => token({ scope, repos: [] }),
    })
    const order = { reference: 'by-client', amount: 25_000, currency: 'IQD', description: 'A lamp' }
    const charge = await payments.charges.create({ gateway: 'redirect', ...order })
    const payment = idOf(charge.redirectUrl ?? '')
    const { transactionId } = charge
    await system.simulator.act(payment, 'pay')
    expect(await payments.transactions.check(transactionId)).toMatchObject({ status: 'Paid' })
    const refund = { gateway: 'redirect', transactionId, amount: 25_000, reason: 'Sent back' }
    const again = { ...refund, idempotencyKey: 'refund-by-client' }
    const refunded = await payments.refunds.create(again)
    expect(refunded).toMatchObject({ success: true, refundedAmount: 25_000 })
    expect(await payments.refunds.create(again)).toEqual(refunded)
    expect(await payments.transactions.get(transactionId)).toMatchObject({ status: 'Refunded' })
    expect(await system.simulator.payment(payment)).toMatchObject({ state: 'refunded' })
    await expect(payments.refunds.create(refund)).rejects.toMatchObject({
      ...{ name: 'PaymentsError', code: 'invalid_argument', status: 422 },
    })
  })

  it('takes no event that nobody signed, and knows no order that nobody made', async () => {
    expect((await fetch(`${url}/events`, { method: 'POST', body: '{}' })).status).toBe(401)
    for (const method of ['GET', 'POST']) {
      expect((await fetch(`${url}/orders/other`, { method })).status).toBe(404)
    }
  })
})
