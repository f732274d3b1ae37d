// The bank's own client, unchanged, against the simulator. It shows that the simulator behaves like
// the bank.

import type { PaymentStatus } from '@first-iraqi-bank/sdk/payment'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { CLIENT, type SimulatorSetup, setUpSimulator } from '../support/simulator.ts'

// The bank's package prints a line of its own when it is loaded, which is none of a test's report.
const { log } = console
console.log = () => undefined
const { PaymentSDK } = await import('@first-iraqi-bank/sdk/payment')
console.log = log

const HOST = 'https://fib-stage.fib.iq'
const realFetch = globalThis.fetch

let setup: SimulatorSetup
const bank = PaymentSDK.getClient(CLIENT.id, CLIENT.secret, 'stage')

beforeAll(async () => {
  setup = await setUpSimulator()
  // Its code contains the hosts, so the test redirects the requests in the network layer.
  vi.stubGlobal('fetch', (input: string | URL | Request, init?: RequestInit) => {
    const url = String(input instanceof Request ? input.url : input)
    return realFetch(url.startsWith(HOST) ? setup.url + url.slice(HOST.length) : input, init)
  })
})
afterAll(async () => {
  vi.unstubAllGlobals()
  await setup[Symbol.asyncDispose]()
})
afterEach(() => {
  setup.merchant.bodies.length = 0
})

async function token(): Promise<string> {
  return (await (await bank.authenticate()).json()).access_token
}

async function created(amount = 25_000) {
  const answer = await bank.createPayment(
    {
      amount,
      description: 'order-1',
      statusCallbackUrl: new URL(setup.callback),
      redirectUri: new URL('https://shop.example/thanks'),
      expiresIn: { hours: 12 },
      refundableFor: { days: 7 },
    },
    await token(),
  )
  expect(answer.status).toBe(201)
  return answer.json()
}

const statusOf = async (id: string): Promise<PaymentStatus> =>
  (await bank.getPaymentStatus(id, await token())).json()

describe('the bank’s official client', () => {
  it('gets a token that is valid for a minute', async () => {
    const answer = await bank.authenticate()
    expect(await answer.json()).toMatchObject({
      access_token: expect.any(String),
      expires_in: 60,
      token_type: 'Bearer',
    })
    const stranger = PaymentSDK.getClient(CLIENT.id, 'other', 'stage')
    expect((await stranger.authenticate()).status).toBe(401)
  })

  it('creates a payment with a code, a QR code, links, and the requested lifetime', async () => {
    const payment = await created()
    expect(payment).toEqual({
      paymentId: expect.stringMatching(/^[\da-f-]{36}$/),
      readableCode: expect.stringMatching(/^(\w{4}-){2}\w{4}$/),
      qrCode: expect.stringMatching(/^data:image\/png;base64,/),
      validUntil: expect.any(String),
      personalAppLink: `${setup.url}/pay/${payment.paymentId}`,
      businessAppLink: expect.any(String),
      corporateAppLink: expect.any(String),
    })
    const hours = (Date.parse(payment.validUntil) - Date.now()) / 3_600_000
    expect(hours).toBeCloseTo(12, 1)
    expect(await statusOf(payment.paymentId)).toEqual({
      paymentId: payment.paymentId,
      status: 'UNPAID',
      amount: { amount: 25_000, currency: 'IQD' },
      paidAt: null,
      decliningReason: null,
      declinedAt: null,
      paidBy: null,
    })
  })

  it('sees a paid payment, and the callback has only id and status', async () => {
    const { paymentId } = await created()
    await setup.act(paymentId, 'pay')
    expect(await statusOf(paymentId)).toMatchObject({
      status: 'PAID',
      paidAt: expect.any(String),
      paidBy: { name: expect.any(String), iban: expect.any(String) },
    })
    const [body] = await setup.merchant.got(1)
    expect(JSON.parse(body ?? '')).toEqual({ id: paymentId, status: 'PAID' })
  })

  it('cancels a payment, once', async () => {
    const { paymentId } = await created()
    expect((await bank.cancelPayment(paymentId, await token())).status).toBe(204)
    expect(await statusOf(paymentId)).toMatchObject({
      status: 'DECLINED',
      decliningReason: 'PAYMENT_CANCELLATION',
      declinedAt: expect.any(String),
    })
    expect((await bank.cancelPayment(paymentId, await token())).status).toBe(409)
    // Otherwise it may come during the next test.
    await setup.merchant.got(1)
  })

  it('refunds a paid payment: accepted first, executed later, with a callback each', async () => {
    const { paymentId } = await created()
    expect((await bank.refundPayment(paymentId, await token())).status).toBe(409)
    await setup.act(paymentId, 'pay')
    expect((await bank.refundPayment(paymentId, await token())).status).toBe(202)
    const bodies = await setup.merchant.got(3)
    expect(bodies.map((body) => (JSON.parse(body) as { status: string }).status)).toEqual([
      'PAID',
      'REFUND_REQUESTED',
      'REFUNDED',
    ])
    expect((await statusOf(paymentId)).status).toBe('REFUNDED')
  })

  it('sees an expired payment as declined, with the reason', async () => {
    const { paymentId } = await created()
    await setup.act(paymentId, 'expire')
    const { status, decliningReason } = await statusOf(paymentId)
    expect([status, decliningReason]).toEqual(['DECLINED', 'PAYMENT_EXPIRATION'])
  })

  it('is refused without a token, and for an unknown payment', async () => {
    const { paymentId } = await created()
    expect((await bank.getPaymentStatus(paymentId, 'nothing')).status).toBe(401)
    expect((await bank.getPaymentStatus('nothing', await token())).status).toBe(404)
  })

  it('gets an error for an invalid amount', async () => {
    const answer = await bank.createPayment({ amount: 0 }, await token())
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ errors: [{ code: 'INVALID_REQUEST' }] })
  })
})
