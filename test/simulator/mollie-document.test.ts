// Mollie's OpenAPI document, in the form of the package that Mollie generates from it: it refuses an
// answer of the simulator, or a request of ours, that the document does not have.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { GatewayCharge, GatewayRefund } from '../../worker/payments/gateways/gateway.ts'
import { paymentOf, refundOf } from '../../worker/payments/gateways/mollie/wire.ts'
import { inTools, noTools } from '../support/judges.ts'
import { MOLLIE, type SimulatorSetup, setUpSimulator } from '../support/simulator.ts'

type Call = (request: object) => Promise<Record<string, unknown>>
interface Document {
  payments: Record<'create' | 'get' | 'cancel', Call>
  refunds: Record<'create', Call>
}
interface Schema {
  parse(body: unknown): unknown
}

let setup: SimulatorSetup
let mollie: Document
let schemas: Readonly<Record<string, Schema>>
beforeAll(async () => {
  if (noTools !== '') return
  setup = await setUpSimulator()
  const here = inTools('node_modules/mollie-api-typescript/dist/esm')
  const { Client } = await import(`${here}/index.js`)
  schemas = await import(`${here}/models/index.js`)
  mollie = new Client({ serverURL: setup.url, security: { apiKey: MOLLIE.apiKey } })
})
afterAll(() => setup?.[Symbol.asyncDispose]())

const eur = (value: string) => ({ currency: 'EUR', value })
const embed = 'refunds,chargebacks'

async function made(): Promise<string> {
  const { id } = await mollie.payments.create({
    paymentRequest: {
      amount: eur('12.50'),
      description: 'Two lamps',
      webhookUrl: setup.callback,
      redirectUrl: 'https://shop.example/thanks',
      metadata: { external_reference_id: 'ext-1', reference: 'order-1' },
    },
  })
  return String(id)
}

const CHARGE = {
  gateway: 'mollie',
  amount: 1_250,
  currency: 'EUR',
  reference: 'order-1',
  description: 'Two lamps',
  externalReferenceId: 'ext-1',
  returnUrl: 'https://shop.example/thanks',
  callbackUrl: 'https://shop.example/callback',
  earlier: 'none',
  installation: 'shop',
  now: 0,
} satisfies GatewayCharge
const REFUND = {
  refundAmount: 250,
  amount: 1_250,
  currency: 'EUR',
  reason: 'Broken',
  refundId: '01R',
  gatewayTransactionId: 'tr_1',
  externalReferenceId: 'ext-1',
  reference: 'order-1',
  earlier: 'none',
} satisfies GatewayRefund

describe.skipIf(noTools !== '')(`Mollie’s document${noTools}`, () => {
  it.each([
    ['a payment', 'PaymentRequest', () => paymentOf(CHARGE)],
    ['a refund', 'RefundRequest', () => refundOf(REFUND)],
  ])('has all that we send for %s', (_what, name, body) => {
    const sent = body()
    // What it does not know it leaves out.
    expect(schemas[`${name}$outboundSchema`]?.parse(sent)).toEqual(sent)
  })

  it.each([
    ['pay', 'paid'],
    ['fail', 'failed'],
    ['cancel', 'canceled'],
    ['expire', 'expired'],
    ['transfer', 'pending'],
    ['charge_back', 'paid'],
  ])('has the payment that the simulator answers after %s', async (action, status) => {
    const paymentId = await made()
    expect(await mollie.payments.get({ paymentId, embed })).toMatchObject({ status: 'open' })
    if (action === 'charge_back') await setup.act(paymentId, 'pay')
    await setup.act(paymentId, action)
    expect(await mollie.payments.get({ paymentId, embed })).toMatchObject({ status })
  })

  it('has the refund, the cancelled payment and the error that the simulator answers', async () => {
    const paymentId = await made()
    await setup.act(paymentId, 'pay')
    const refundRequest = { amount: eur('2.50'), description: 'Broken' }
    const refund = await mollie.refunds.create({ paymentId, refundRequest })
    expect(refund).toMatchObject({ status: 'pending', paymentId })
    await expect(mollie.payments.cancel({ paymentId })).rejects.toMatchObject({ status: 422 })
    const other = await made()
    const cancelled = await mollie.payments.cancel({ paymentId: other })
    expect(cancelled).toMatchObject({ status: 'canceled' })
    await expect(mollie.payments.get({ paymentId: 'tr_none' })).rejects.toMatchObject({
      status: 404,
    })
  })
})
