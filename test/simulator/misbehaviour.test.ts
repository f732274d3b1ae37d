// Each fault, as a merchant sees it.

import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { API_KEY, type SimulatorSetup, setUpSimulator, TRANSACTION } from '../support/simulator.ts'

const KEY = new TextEncoder().encode(API_KEY)

let setup: SimulatorSetup
beforeEach(async () => {
  setup = await setUpSimulator()
})
afterEach(() => setup[Symbol.asyncDispose]())

const tokenOf = (body: string | undefined) =>
  (JSON.parse(body ?? '{}') as { webhook_token: string }).webhook_token

interface Claims {
  eventId: string
  data: { currentStatus: string; amount: { value: number; currency: string } }
}
const claimsOf = (body: string | undefined) => decodeJwt(tokenOf(body)) as unknown as Claims

/** Pays a payment with these faults. Resolves when its webhooks are done. */
async function paidUnder(faults: Record<string, unknown>) {
  setup.faults({ orders: { 'order-1': faults } })
  const id = await setup.charged('order-1')
  await setup.act(id, 'pay')
  return id
}

describe('the API', () => {
  it('is slow', async () => {
    setup.faults({ orders: { 'order-1': { slowMs: 80 } } })
    const started = performance.now()
    expect((await setup.init('order-1')).status).toBe(200)
    expect(performance.now() - started).toBeGreaterThan(75)
  })

  it('loses its answer, and refuses each repetition with the id of what it made', async () => {
    setup.faults({ all: { answerLost: true, endpoints: ['init'] } })
    const init = () => setup.init('lost', { externalReferenceId: 'ext-lost' })
    expect((await init()).status).toBe(502)
    const again = await init()
    expect([again.status, (await init()).status]).toEqual([409, 409])
    const { transactionId } = (await again.json()) as { transactionId: string }
    expect(await setup.inquiry(transactionId)).toMatchObject({ status: 'PENDING' })
  })

  it('refuses it although other orders get other faults meanwhile', async () => {
    const lost = { answerLost: true, endpoints: ['init'] }
    const init = () => setup.init('lost too', { externalReferenceId: 'ext-lost-too' })
    setup.faults({ orders: { 'ext-lost-too': lost } })
    expect((await init()).status).toBe(502)
    setup.faults({ orders: { 'ext-lost-too': lost, another: { slowMs: 1 } } })
    expect((await init()).status).toBe(409)
  })

  it('never answers, but executes the request', async () => {
    await setup.token()
    setup.faults({ all: { timeout: true, endpoints: ['init'] } })
    const gaveUp = new AbortController()
    const asked = async () => {
      const { signal } = gaveUp
      const headers = { authorization: `Bearer ${await setup.token()}` }
      const body = JSON.stringify({
        language: 'En',
        externalReferenceId: 'ext-silent',
        orderId: 'silent',
        serviceType: 'Delivery',
        amount: { value: 1, currency: 'IQD' },
      })
      return setup.call(`${TRANSACTION}/init`, { method: 'POST', headers, body, signal })
    }
    const answer = asked()
    const made = async () =>
      (await (await setup.call('/_control/payments?order=silent')).json()) as {
        payments: unknown[]
      }
    await expect.poll(async () => (await made()).payments).toHaveLength(1)
    gaveUp.abort()
    await expect(answer).rejects.toMatchObject({ name: 'AbortError' })
    setup.faults({})
    expect((await setup.init('silent')).status).toBe(400)
  })

  it.each([200, 502])(
    'has an outage with an HTML page and status %i, and executes nothing',
    async (outage) => {
      setup.faults({ all: { outage, endpoints: ['init'] } })
      const answer = await setup.init('order-1')
      expect(answer.status).toBe(outage)
      expect(answer.headers.get('content-type')).toMatch(/^text\/html/)
      expect(await answer.text()).toMatch(/^<!doctype html>/)
      setup.faults({})
      expect((await setup.init('order-1')).status).toBe(200)
    },
  )

  it('has an outage for a number of requests, then works again', async () => {
    setup.faults({ all: { outage: 502, times: 2, endpoints: ['init'] } })
    const statuses = []
    for (let n = 0; n < 3; n++) statuses.push((await setup.init('order-1')).status)
    expect(statuses).toEqual([502, 502, 200])
  })

  it('can be faulty for one order only', async () => {
    setup.faults({ orders: { 'order-1': { outage: 503 } } })
    const statuses = [(await setup.init('order-1')).status, (await setup.init('order-2')).status]
    expect(statuses).toEqual([503, 200])
  })
})

describe('a webhook', () => {
  it('is sent 50 times at once, with the same content', async () => {
    await paidUnder({ copies: 50 })
    expect(setup.merchant.bodies).toHaveLength(50)
    expect(new Set(setup.merchant.bodies).size).toBe(1)
  })

  it('is sent late', async () => {
    const started = performance.now()
    await paidUnder({ lateMs: 150 })
    expect(performance.now() - started).toBeGreaterThan(145)
    expect(setup.merchant.bodies).toHaveLength(1)
  })

  it('is sent out of order: the previous state follows', async () => {
    await paidUnder({ outOfOrder: true })
    const claims = setup.merchant.bodies.map(claimsOf)
    expect(claims.map(({ data }) => data.currentStatus)).toEqual(['SUCCESS', 'PENDING'])
    expect(new Set(claims.map(({ eventId }) => eventId)).size).toBe(2)
  })

  it('is sent before the response to the charge', async () => {
    setup.faults({ all: { beforeAnswer: true } })
    const answer = await setup.init('order-1')
    expect(setup.merchant.bodies).toHaveLength(1)
    expect(await answer.json()).toMatchObject({ status: 'SUCCESS' })
  })

  it('has a different amount, even 0, or currency, and so has the inquiry', async () => {
    const id = await paidUnder({ amount: 0, currency: 'USD' })
    const paid = { currency: 'USD', value: 0 }
    expect(claimsOf(setup.merchant.bodies[0]).data.amount).toEqual(paid)
    expect(await setup.inquiry(id)).toMatchObject({ transactionDetails: { amount: paid } })
  })

  it('is tampered with: its signature belongs to other claims', async () => {
    await paidUnder({ tampered: true })
    const [body] = setup.merchant.bodies
    expect(claimsOf(body).data.amount.value).toBe(250_000)
    await expect(jwtVerify(tokenOf(body), KEY)).rejects.toMatchObject({
      code: 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
    })
  })

  it('has a token with alg none', async () => {
    await paidUnder({ algNone: true })
    const token = tokenOf(setup.merchant.bodies[0])
    expect(decodeProtectedHeader(token).alg).toBe('none')
    expect(token.endsWith('.')).toBe(true)
  })

  it('is lost, and only the inquiry has the result', async () => {
    const id = await paidUnder({ lost: true })
    expect(setup.merchant.bodies).toEqual([])
    expect((await setup.inquiry(id)).status).toBe('SUCCESS')
  })
})

describe('the control API', () => {
  const put = (body: string) => setup.call('/_control/faults', { method: 'PUT', body })

  it('sets and shows faults, and refuses unknown ones', async () => {
    const plan = { all: { slowMs: 1 }, orders: { a: { lost: true } } }
    expect((await put(JSON.stringify(plan))).status).toBe(200)
    expect(await (await setup.call('/_control/faults')).json()).toEqual(plan)
    for (const wrong of ['{"all":{"slwo":1}}', 'no json']) {
      expect((await put(wrong)).status).toBe(400)
    }
    const state = await setup.call('/_control')
    expect(await state.json()).toEqual({ faults: plan, payments: 0, webhooks: 0 })
  })

  it('lists all payments, or those of an order', async () => {
    await setup.charged('a')
    const id = await setup.charged('b')
    const listed = await setup.call('/_control/payments?order=b')
    expect(await listed.json()).toMatchObject({ payments: [{ id, reference: 'b' }] })
    const all = (await (await setup.call('/_control/payments')).json()) as { payments: unknown[] }
    expect(all.payments).toHaveLength(2)
    expect(await (await setup.call(`/_control/payments/${id}`)).json()).toMatchObject({ id })
  })

  it('refuses unknown actions and payments', async () => {
    const id = await setup.charged('a')
    const asked = [
      setup.act(id, 'request_refund'),
      setup.act(id, 'fly'),
      setup.act('nothing', 'pay'),
    ]
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([404, 404, 404])
  })

  it('answers unknown paths with JSON', async () => {
    const answer = await setup.call('/v2/nothing', { method: 'POST' })
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ error: { type: 'invalid_request_error' } })
  })
})
