// Mollie's own package, unchanged, against the simulator: it shows that requests, answers and errors
// have Mollie's form, for each call that the driver makes.

import http from 'node:http'
import https from 'node:https'
import { createMollieClient, MollieApiError, PaymentEmbed } from '@mollie/api-client'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { MOLLIE, type SimulatorSetup, setUpSimulator } from '../support/simulator.ts'

let setup: SimulatorSetup
let theirs: ReturnType<typeof createMollieClient>
beforeAll(async () => {
  setup = await setUpSimulator()
  theirs = clientWith(MOLLIE.apiKey)
})
afterAll(() => setup[Symbol.asyncDispose]())
afterEach(() => {
  setup.faults({})
  setup.merchant.bodies.length = 0
})

/** It makes an agent of https, whatever the address is: so it gets one of http in its place. */
function clientWith(apiKey: string) {
  const { Agent } = https
  https.Agent = http.Agent as typeof https.Agent
  try {
    return createMollieClient({ apiKey, apiEndpoint: `${setup.url}/v2/` })
  } finally {
    https.Agent = Agent
  }
}

const eur = (value: string, currency = 'EUR') => ({ value, currency })
const created = (more: object = {}) =>
  theirs.payments.create({
    amount: eur('12.50'),
    description: 'Two lamps',
    redirectUrl: 'https://shop.example/thanks',
    webhookUrl: setup.callback,
    metadata: { external_reference_id: 'ext-1', reference: 'order-1' },
    ...more,
  })
const embed = [PaymentEmbed.refunds, PaymentEmbed.chargebacks]
const paid = async () => {
  const { id } = await created()
  await setup.act(id, 'pay')
  return theirs.payments.get(id, { embed })
}
const refused = (asked: Promise<unknown>): Promise<MollieApiError> =>
  asked.then(
    () => expect.fail('It was not refused.'),
    (reason: MollieApiError) => reason,
  )

describe('Mollie’s own client', () => {
  it('makes a payment with a page, and finds it', async () => {
    const payment = await created()
    expect(payment).toMatchObject({
      resource: 'payment',
      mode: 'test',
      status: 'open',
      amount: eur('12.50'),
      isCancelable: true,
      metadata: { external_reference_id: 'ext-1', reference: 'order-1' },
    })
    expect(payment.id).toMatch(/^tr_[A-Za-z0-9]+$/)
    expect(payment.getCheckoutUrl()).toBe(`${setup.url}/pay/${payment.id}`)
    expect(await theirs.payments.get(payment.id)).toMatchObject({ id: payment.id })
    const [first] = await theirs.payments.page({ limit: 1 })
    expect(first).toMatchObject({ id: payment.id })
  })

  it('makes one payment of a repeated key, which need not be a UUID', async () => {
    const idempotencyKey = 'wh3cXB7ANp7kUmrEkKZl3Dd4'
    const first = await created({ idempotencyKey })
    expect((await created({ idempotencyKey })).id).toBe(first.id)
  })

  it('gets the webhook of a payment, which has no more than its id', async () => {
    const { id, status, _embedded } = await paid()
    expect(status).toBe('paid')
    expect(_embedded).toEqual({ refunds: [], chargebacks: [] })
    expect(await setup.merchant.got(1)).toEqual([`id=${id}`])
  })

  it.each([
    ['fail', 'failed'],
    ['cancel', 'canceled'],
    ['expire', 'expired'],
    ['transfer', 'pending'],
  ])('reads after %s the status %s', async (action, status) => {
    const { id } = await created()
    await setup.act(id, action)
    const payment = await theirs.payments.get(id)
    expect(payment.status).toBe(status)
    expect(payment.getCheckoutUrl()).toBeNull()
  })

  it('refunds a part, which is made a while later', async () => {
    const { id: paymentId } = await paid()
    const refund = await theirs.paymentRefunds.create({
      paymentId,
      amount: eur('2.50'),
      description: 'Broken',
      metadata: { refund_id: '01R' },
    })
    expect(refund).toMatchObject({ resource: 'refund', status: 'pending', amount: eur('2.50') })
    const statusNow = async () => {
      const { _embedded } = await theirs.payments.get(paymentId, { embed })
      return _embedded?.refunds?.map(({ status, metadata }) => ({ status, metadata }))
    }
    const made = [{ status: 'refunded', metadata: { refund_id: '01R' } }]
    await expect.poll(statusNow).toEqual(made)
    const { status, amountRefunded } = await theirs.payments.get(paymentId)
    expect({ status, amountRefunded }).toEqual({ status: 'paid', amountRefunded: eur('2.50') })
    const [listed] = await theirs.paymentRefunds.page({ paymentId })
    expect(listed).toMatchObject({ id: refund.id })
    const amount = eur('10.01')
    const more = theirs.paymentRefunds.create({ paymentId, amount, description: 'More' })
    expect(await refused(more)).toMatchObject({ statusCode: 422, field: 'amount' })
  })

  it('cancels a payment, once', async () => {
    const { id } = await created()
    expect(await theirs.payments.cancel(id)).toMatchObject({ id, status: 'canceled' })
    expect(await refused(theirs.payments.cancel(id))).toMatchObject({ statusCode: 422 })
  })

  it('captures an authorized payment in parts, and gives back no more than that', async () => {
    const { id: paymentId } = await created()
    await setup.act(paymentId, 'authorize')
    const read = () => theirs.payments.get(paymentId, { embed: [...embed, PaymentEmbed.captures] })
    expect(await read()).toMatchObject({ status: 'authorized', amountCaptured: eur('0.00') })
    const capture = await theirs.paymentCaptures.create({ paymentId, amount: eur('7.50') })
    expect(capture).toMatchObject({ resource: 'capture', amount: eur('7.50'), paymentId })
    expect(await read()).toMatchObject({
      status: 'authorized',
      amount: eur('12.50'),
      amountCaptured: eur('7.50'),
      amountRemaining: eur('7.50'),
    })
    const over = theirs.paymentRefunds.create({ paymentId, amount: eur('7.51') })
    expect(await refused(over)).toMatchObject({ statusCode: 422, field: 'amount' })
    await setup.act(paymentId, 'refund')
    await expect.poll(async () => (await read()).amountRemaining).toEqual(eur('0.00'))
    const more = theirs.paymentCaptures.create({ paymentId, amount: eur('5.01') })
    expect(await refused(more)).toMatchObject({ statusCode: 422, field: 'amount' })
    await theirs.paymentCaptures.create({ paymentId })
    expect(await read()).toMatchObject({
      status: 'paid',
      amountCaptured: eur('12.50'),
      amountRemaining: eur('5.00'),
    })
    expect(await theirs.paymentCaptures.page({ paymentId })).toHaveLength(2)
  })

  it('reads a chargeback', async () => {
    const { id } = await paid()
    await setup.act(id, 'charge_back')
    const { _embedded, status } = await theirs.payments.get(id, { embed })
    expect(status).toBe('paid')
    expect(_embedded?.chargebacks).toMatchObject([{ amount: eur('12.50'), paymentId: id }])
  })

  it.each([
    ['a number of decimals that is not the currency’s', { amount: eur('12.5') }, 'amount'],
    ['decimals of a currency without any', { amount: eur('1500.00', 'JPY') }, 'amount'],
    ['no page to return to', { redirectUrl: undefined }, 'redirectUrl'],
    ['the parameters of an access token', { testmode: true }, 'testmode'],
  ])('is refused with %s', async (_what, more, field) => {
    const error = await refused(created(more))
    expect(error).toBeInstanceOf(MollieApiError)
    expect(error).toMatchObject({ statusCode: 422, field })
  })

  it('is refused with another key, and for a payment that is not there', async () => {
    const stranger = clientWith('test_another-key-of-the-same-length').payments.page()
    expect(await refused(stranger)).toMatchObject({ statusCode: 401 })
    expect(await refused(theirs.payments.get('tr_none'))).toMatchObject({ statusCode: 404 })
  })
})
