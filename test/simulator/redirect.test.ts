import { jwtVerify } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  API_KEY,
  CLIENT,
  type SimulatorSetup,
  setUpSimulator,
  TRANSACTION,
} from '../support/simulator.ts'

const KEY = new TextEncoder().encode(API_KEY)

let setup: SimulatorSetup
beforeAll(async () => {
  setup = await setUpSimulator()
})
afterAll(() => setup[Symbol.asyncDispose]())
afterEach(() => {
  setup.merchant.bodies.length = 0
})

/** The claims of a webhook, verified as a merchant does. */
async function claimsOf(body: string | undefined) {
  const { webhook_token: token } = JSON.parse(body ?? '{}') as { webhook_token: string }
  return (await jwtVerify(token, KEY, { algorithms: ['HS256'] })).payload
}

const grant = (form: Record<string, string>, headers: Record<string, string> = {}) =>
  setup.call('/oauth2/token', { method: 'POST', headers, body: new URLSearchParams(form) })

const reverse = async (transactionId: string, scope?: string) =>
  setup.call(`${TRANSACTION}/reverse`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await setup.token(scope)}` },
    body: JSON.stringify({ transactionId, reason: 'returned' }),
  })

describe('the token endpoint', () => {
  const good = {
    grant_type: 'client_credentials',
    client_id: CLIENT.id,
    client_secret: CLIENT.secret,
  }

  it('grants the requested scopes, with credentials in the form or the header', async () => {
    const answer = await grant({ ...good, scope: 'payment:read' })
    expect(await answer.json()).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3_600,
      scope: 'payment:read',
    })
    const basic = `Basic ${Buffer.from(`${CLIENT.id}:${CLIENT.secret}`).toString('base64')}`
    const other = { grant_type: 'client_credentials' }
    expect((await grant(other, { authorization: basic })).status).toBe(200)
  })

  it.each([
    [{ ...good, client_secret: 'other' }, 401, 'invalid_client'],
    [{ ...good, grant_type: 'password' }, 400, 'unsupported_grant_type'],
    [{ ...good, scope: 'payment:read admin' }, 400, 'invalid_scope'],
  ])('refuses %j', async (form, status, error) => {
    const answer = await grant(form)
    expect([answer.status, await answer.json()]).toEqual([status, { error }])
  })
})

describe('a charge', () => {
  it('returns the payment page', async () => {
    const answer = (await (await setup.init('shown')).json()) as Record<string, unknown>
    expect(answer).toMatchObject({
      status: 'PENDING',
      transactionDetails: {
        externalReferenceId: 'ext-shown',
        orderId: 'shown',
        amount: { value: 25_000, currency: 'IQD' },
      },
      expiryTime: expect.stringMatching(/Z$/),
    })
    const { transactionId } = answer.transactionDetails as { transactionId: string }
    expect(answer.redirectUrl).toBe(`${setup.url}/pay/${transactionId}`)
    const inquiry = await setup.inquiry(transactionId)
    expect(inquiry).toMatchObject({
      status: 'PENDING',
      transactionDetails: { transactionId },
      timeStamps: { createdAt: expect.any(String) },
    })
    expect(inquiry).not.toHaveProperty('redirectUrl')
  })

  it('with a known reference is refused, with the id of the transaction', async () => {
    const transactionId = await setup.charged('twice')
    const again = await setup.init('twice')
    expect(again.status).toBe(400)
    expect(await again.json()).toMatchObject({
      code: 'EXTERNAL_REFERENCE_ALREADY_EXISTS',
      transactionId,
    })
  })

  it.each([
    { language: 'en' },
    { externalReferenceId: '' },
    { amount: { value: 5, currency: 'USD' } },
    { amount: { value: 0, currency: 'IQD' } },
    { serviceType: undefined },
  ])('with %j is refused', async (more) => {
    expect((await setup.init('wrong', more)).status).toBe(400)
  })

  it('is refused without a token, with a revoked token, and without the scope', async () => {
    const init = (authorization: string) =>
      setup.call(`${TRANSACTION}/init`, { method: 'POST', headers: { authorization } })
    expect((await init('')).status).toBe(401)
    expect((await init(`Bearer ${await setup.token('payment:read')}`)).status).toBe(403)
    const token = await setup.token()
    expect((await init(`Bearer ${token}`)).status).toBe(400)
    await setup.call('/_control/tokens', { method: 'DELETE' })
    expect((await init(`Bearer ${token}`)).status).toBe(401)
  })

  it('that does not exist is unknown', async () => {
    expect(await setup.inquiry('nothing')).toMatchObject({ code: 'TRANSACTION_NOT_FOUND' })
  })
})

describe('a webhook', () => {
  it.each([
    ['pay', 'SUCCESS', null],
    ['fail', 'FAILED', 'Insufficient balance.'],
    ['cancel', 'FAILED', 'The customer cancelled the payment.'],
    ['expire', 'EXPIRED', 'The payment session has expired.'],
  ])('after %s says %s, signed by the API key', async (action, status, errorMessage) => {
    const id = await setup.charged(`webhook-${action}`)
    expect((await setup.act(id, action)).status).toBe(200)
    const [body] = await setup.merchant.got(1)
    expect(await claimsOf(body)).toEqual({
      eventType: 'STATUS_CHANGED',
      eventId: expect.stringMatching(/^[\da-f-]{36}$/),
      timestamp: expect.stringMatching(/Z$/),
      data: {
        transactionId: id,
        merchantReferenceId: `ext-webhook-${action}`,
        orderId: `webhook-${action}`,
        customerMsisdn: null,
        errorMessage,
        previousStatus: 'PENDING',
        currentStatus: status,
        amount: { currency: 'IQD', value: 25_000 },
      },
    })
    expect((await setup.inquiry(id)).status).toBe(status)
  })

  it('is not sent for a payment in a final state', async () => {
    const id = await setup.charged('ended')
    await setup.act(id, 'pay')
    expect((await setup.act(id, 'fail')).status).toBe(409)
    expect(setup.merchant.bodies).toHaveLength(1)
  })

  it('is retried with the same event id until it is accepted, and every attempt is recorded', async () => {
    setup.merchant.answers = [500, 302]
    const id = await setup.charged('retried')
    await setup.act(id, 'pay')
    const claims = await Promise.all(setup.merchant.bodies.map(claimsOf))
    expect(claims).toHaveLength(3)
    expect(new Set(claims.map(({ eventId }) => eventId)).size).toBe(1)
    const shown = await setup.call(`/_control/webhooks?payment=${id}`)
    expect(await shown.json()).toMatchObject({
      webhooks: [{ status: 500 }, { status: 302 }, { status: 200, answer: 'ok', attempt: 3 }],
    })
  })
})

describe('a refund', () => {
  it('of a paid transaction completes, with a webhook', async () => {
    const id = await setup.charged('refunded')
    await setup.act(id, 'pay')
    const answer = await reverse(id)
    expect(await answer.json()).toEqual({
      status: 'COMPLETED',
      transactionId: id,
      reversalReferenceId: expect.any(String),
    })
    expect((await setup.inquiry(id)).status).toBe('REFUNDED')
    const bodies = await setup.merchant.got(2)
    expect(await claimsOf(bodies[1])).toMatchObject({
      eventType: 'REFUND_COMPLETED',
      data: { previousStatus: 'SUCCESS', currentStatus: 'REFUNDED' },
    })
    expect((await reverse(id)).status).toBe(400)
  })

  it('is refused without reverse:write, before payment, and for an unknown transaction', async () => {
    const id = await setup.charged('unpaid')
    expect((await reverse(id)).status).toBe(400)
    await setup.act(id, 'pay')
    expect((await reverse(id, 'payment:read payment:write')).status).toBe(403)
    expect((await setup.inquiry(id)).status).toBe('SUCCESS')
    expect((await reverse('nothing')).status).toBe(404)
  })

  it('that fails has no reference, sends a webhook, and does not change the payment', async () => {
    const id = await setup.charged('refund-fails')
    await setup.act(id, 'pay')
    setup.faults({ orders: { 'refund-fails': { refundFails: true } } })
    expect(await (await reverse(id)).json()).toEqual({ status: 'FAILED', transactionId: id })
    setup.faults({})
    const bodies = await setup.merchant.got(2)
    expect(await claimsOf(bodies[1])).toMatchObject({ eventType: 'REFUND_FAILED' })
    expect((await setup.inquiry(id)).status).toBe('SUCCESS')
  })
})

it('lets a payment expire, with a webhook', async () => {
  await using quick = await setUpSimulator({ SIMULATOR_EXPIRY_MS: '50' })
  const id = await quick.charged('slow-payer')
  const [body] = await quick.merchant.got(1)
  expect(await claimsOf(body)).toMatchObject({ data: { currentStatus: 'EXPIRED' } })
  expect((await quick.inquiry(id)).status).toBe('EXPIRED')
})
