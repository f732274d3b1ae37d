// Charges over HTTP: once for each key and order; invalid ones are refused before any call.

import { describe, expect, it, vi } from 'vitest'
import { externalReference } from '../../worker/payments/domain/begin-charge.ts'
import type { OpenedPayment, Transaction } from '../../worker/payments/domain/schemas.ts'
import { LAST } from '../support/edge.ts'
import { PATIENT } from '../support/patience.ts'
import { byText, freshReference, order, SECRETS } from '../support/payment-system.ts'
import type { Payments } from './payments.ts'

export function chargesContract({ host, system }: Payments): void {
  const charge = async (request: unknown, headers: Record<string, string> = {}) => {
    const answer = await system().post('/charges', request, headers)
    const text = await answer.text()
    return { ...JSON.parse(text), status: answer.status, headers: answer.headers, text }
  }
  const of = async (reference: unknown) => {
    const path = `/transactions?reference=${reference}`
    return (await system().get<{ transactions: Transaction[] }>(path)).transactions
  }

  describe(`charges on ${host}`, () => {
    it('are 201 with the payment page, and are stored with their request', async () => {
      const request = order({
        returnUrl: 'https://shop.test/thanks',
        customerPhone: '9647801234567',
        metadata: { service_type: 'Books' },
      })
      const { status, text, headers } = await charge(request, { 'X-Correlation-Id': 'shop-0001' })
      expect(status).toBe(201)
      expect(headers.get('X-Correlation-Id')).toBe('shop-0001')
      const answer = JSON.parse(text) as OpenedPayment
      expect(answer).toEqual({
        status: 'Pending',
        gateway: 'redirect',
        reference: request.reference,
        transactionId: expect.any(String),
        gatewayTransactionId: expect.any(String),
        redirectUrl: `${system().simulator.url}/pay/${answer.gatewayTransactionId}`,
        expiresAt: expect.any(String),
      })
      const story = await system().story(answer.transactionId)
      expect(story).toMatchObject({
        status: 'Pending',
        amount: 25_000,
        currency: 'IQD',
        refundedAmount: 0,
        attempt: 1,
        redirectUrl: answer.redirectUrl,
        correlationId: 'shop-0001',
        metadata: { service_type: 'Books' },
      })
      const payment = await system().simulator.payment(answer.gatewayTransactionId)
      expect(payment).toMatchObject({
        externalReference: story.externalReferenceId,
        amount: 25_000,
        serviceType: 'Books',
        phone: '9647801234567',
        successUrl: 'https://shop.test/thanks',
      })
      await vi.waitUntil(() => system().receiver.of(answer.transactionId).length > 0, PATIENT)
      const [initiated] = system().receiver.of(answer.transactionId)
      expect(initiated).toMatchObject({
        type: 'PaymentInitiated',
        data: { gateway: 'redirect', request: { reference: request.reference, amount: 25_000 } },
      })
      // Personal data of the payer is neither stored nor sent.
      expect(JSON.stringify([story, initiated])).not.toContain('9647801234567')
    })

    it('at the bank have a code, a QR code and a link, and no page', async () => {
      const answer = await system().charged({ gateway: 'fib' })
      expect(answer).toMatchObject({
        readableCode: expect.any(String),
        qrCode: expect.stringMatching(/^data:image\//),
        deepLink: expect.stringMatching(/^https?:/),
      })
      expect(answer).not.toHaveProperty('redirectUrl')
    })

    it.each([true, false])(
      'that are repeated are 200 with the current payment, and a page while it can be paid (with a key: %s)',
      async (withKey) => {
        const request = order()
        const headers: Record<string, string> = withKey
          ? { 'Idempotency-Key': crypto.randomUUID() }
          : {}
        const first = await charge(request, headers)
        const second = await charge(Object.fromEntries(Object.entries(request).reverse()), headers)
        expect([first.status, second.status]).toEqual([201, 200])
        expect(second.text).toBe(first.text)
        await system().simulator.act(first.gatewayTransactionId, 'pay')
        const third = await charge(request, headers)
        const { redirectUrl, expiresAt, ...bare } = JSON.parse(first.text)
        const paid = { amount: request.amount, currency: request.currency }
        expect([redirectUrl, expiresAt]).toEqual([expect.any(String), expect.any(String)])
        expect(third.status).toBe(200)
        expect(JSON.parse(third.text)).toEqual({ ...bare, status: 'Paid', paid })
        expect(await system().simulator.payments(String(request.reference))).toHaveLength(1)
        expect(await of(request.reference)).toHaveLength(1)
        await system().expectEvents(first.transactionId, ['PaymentInitiated', 'PaymentSucceeded'])
      },
    )

    it('sent ten times at once are one charge', async () => {
      const request = order()
      const answers = await Promise.all(Array.from({ length: 10 }, () => charge(request)))
      const charged = answers.filter(({ status }) => status < 300)
      expect(charged.filter(({ status }) => status === 201)).toHaveLength(1)
      expect(new Set(charged.map(({ text }) => text)).size).toBe(1)
      for (const { status, code } of answers.filter((each) => each.status >= 300)) {
        expect({ status, code }).toEqual({ status: 409, code: 'in_progress' })
      }
      expect(await system().simulator.payments(String(request.reference))).toHaveLength(1)
      expect(await of(request.reference)).toHaveLength(1)
    })

    it('repeated with other values are 409, by key and by order', async () => {
      const headers = { 'Idempotency-Key': crypto.randomUUID() }
      const request = order()
      await charge(request, headers)
      const otherAmount = await charge({ ...request, amount: 30_000 }, headers)
      expect(otherAmount).toMatchObject({ status: 409, code: 'idempotency_conflict' })
      expect(otherAmount.error).toMatch(/ another amount\.$/)
      const otherKey = await charge({ ...request, amount: 30_000, returnUrl: 'https://a.test' })
      expect(otherKey).toMatchObject({ status: 409, code: 'reference_conflict' })
      expect(otherKey.error).toMatch(/ another amount, returnUrl\.$/)
      expect(await of(request.reference)).toHaveLength(1)
    })

    it('under another key are the open payment, and 409 once it is paid, unless with repeat', async () => {
      const request = order()
      const by = (key: string, more = {}) =>
        charge({ ...request, ...more }, { 'Idempotency-Key': `${request.reference}-${key}` })
      const first = await by('january')
      expect(await by('early')).toMatchObject({ status: 200, text: first.text })
      await system().simulator.act(first.gatewayTransactionId, 'pay')
      const { transactionId } = first
      const paid = { status: 200, transactionId }
      expect([await by('january'), await by('early')]).toMatchObject([paid, paid])
      const refused = { status: 409, code: 'already_paid', transactionId }
      expect(await by('february')).toMatchObject(refused)

      const second = await by('february', { repeat: true })
      expect(second.status).toBe(201)
      expect(await by('february')).toMatchObject({ status: 200, text: second.text })
      await system().simulator.act(second.gatewayTransactionId, 'pay')
      expect(await of(request.reference)).toMatchObject([
        { id: second.transactionId, status: 'Paid', attempt: 2, isRepeat: true },
        { id: transactionId, status: 'Paid', attempt: 1 },
      ])
      expect(await charge({ ...request, repeat: true })).toMatchObject({
        ...{ status: 422, code: 'invalid_argument' },
      })
    })

    it('repeated while the first is running are 409 in_progress', async () => {
      const request = order()
      await system().simulator.faults(String(request.reference), { slowMs: 5_000 })
      const slow = charge(request)
      await vi.waitUntil(async () => (await of(request.reference)).length === 1, PATIENT)
      expect(await charge(request)).toMatchObject({ status: 409, code: 'in_progress' })
      const first = await slow
      expect(first.status).toBe(201)
      expect((await charge(request)).text).toBe(first.text)
    })

    it.each([
      ['no amount', { amount: undefined }],
      ['an amount of 0', { amount: 0 }],
      ['a negative amount', { amount: -1 }],
      ['a broken amount', { amount: 12.5 }],
      ['an amount as text', { amount: '25000' }],
      ['an amount beyond all', { amount: 2 ** 53 }],
      ['no reference', { reference: undefined }],
      ['an empty reference', { reference: '' }],
      ['a reference of two lines', { reference: 'a\nb' }],
      ['a currency in small letters', { currency: 'iqd' }],
      ['a currency that the gateway does not take', { currency: 'USD' }],
      ['an unknown gateway', { gateway: 'nobody' }],
      ['a gateway called like what every object has', { gateway: 'constructor' }],
      ['a returnUrl that runs', { returnUrl: 'javascript:alert(1)' }],
      ['a field that nobody knows', { ammount: 1 }],
      ['metadata that nest', { metadata: { a: { b: 1 } } }],
    ])('with %s are 422, and nothing is stored', async (_what, wrong) => {
      const before = await system().rows()
      const { status, code, error, headers } = await charge({ ...order(), ...wrong })
      expect(headers.get('X-Correlation-Id')).toMatch(/^[0-9A-Z]{26}$/)
      expect({ status, code }).toEqual({ status: 422, code: 'invalid_argument' })
      expect(error).toMatch(/\.$/)
      expect(await system().rows()).toEqual(before)
    })

    it('that are not a JSON object are 422, and so is an invalid Idempotency-Key', async () => {
      for (const body of ['', '{', '[]', 'null', '"x"', 'amount=1']) {
        const answer = await system().api('/charges', { method: 'POST', body })
        expect([answer.status, await answer.json()], body).toEqual([
          422,
          { code: 'invalid_argument', error: expect.any(String) },
        ])
      }
      const long = await charge(order(), { 'Idempotency-Key': 'k'.repeat(256) })
      expect(long).toMatchObject({ status: 422, code: 'invalid_argument' })
    })

    it('over 64 KiB are 413', async () => {
      const large = await charge({ ...order(), description: 'x'.repeat(65 << 10) }, LAST)
      expect(large).toMatchObject({ status: 413, code: 'payload_too_large' })
    })

    it('that the gateway refuses are 422 and Failed, and the order can be paid again', async () => {
      // A payment with this external reference and another amount exists already.
      const reference = freshReference()
      await initAtGateway({
        orderId: reference,
        externalReferenceId: externalReference({ gateway: 'redirect', reference }, 1),
        amount: { value: 1_000, currency: 'IQD' },
      })
      const refused = await charge(order({ reference }))
      expect(refused).toMatchObject({ status: 422, code: 'gateway_refused' })
      const [failed] = await of(reference)
      expect(failed).toMatchObject({
        status: 'Failed',
        attempt: 1,
        error: { code: 'gateway_refused', rawCode: 'EXTERNAL_REFERENCE_ALREADY_EXISTS' },
      })
      const id = failed?.id ?? ''
      await vi.waitUntil(() => system().receiver.of(id).length === 2, PATIENT)
      expect(system().receiver.typesOf(id).sort(byText)).toEqual([
        'PaymentFailed',
        'PaymentInitiated',
      ])

      const again = await charge(order({ reference }))
      expect(again.status).toBe(201)
      expect(await of(reference)).toMatchObject([
        { status: 'Pending', attempt: 2 },
        { status: 'Failed', attempt: 1 },
      ])
    })

    it.each(['fail', 'expire'] as const)(
      'of an order can be made again after its payment did %s, as another payment',
      async (action) => {
        const request = order()
        const key = { 'Idempotency-Key': crypto.randomUUID() }
        const first = await charge(request, key)
        await system().simulator.act(first.gatewayTransactionId, action)
        const ended = await charge(request, key)
        expect(ended.status).toBe(200)
        expect(JSON.parse(ended.text)).toMatchObject({
          status: action === 'fail' ? 'Failed' : 'Expired',
          transactionId: first.transactionId,
        })
        expect(ended.text).not.toContain('redirectUrl')
        const second = await charge(request)
        expect(second.status).toBe(201)
        expect(second.gatewayTransactionId).not.toBe(first.gatewayTransactionId)
        await system().simulator.act(second.gatewayTransactionId, 'pay')
        const [paid, before] = await of(request.reference)
        expect(paid).toMatchObject({ id: second.transactionId, attempt: 2, status: 'Paid' })
        expect(before?.externalReferenceId).not.toBe(paid?.externalReferenceId)
      },
    )
  })

  /** As another system with the same credentials would. */
  async function initAtGateway(more: object): Promise<void> {
    const { url } = system().simulator
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: 'signalbox-local',
      client_secret: SECRETS.redirect.clientSecret,
      scope: 'payment:write',
    })
    const granted = await fetch(`${url}/oauth2/token`, { method: 'POST', body: form })
    const { access_token } = (await granted.json()) as { access_token: string }
    const answer = await fetch(`${url}/api/v2/payment-gateway/transaction/init`, {
      method: 'POST',
      headers: { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ language: 'En', serviceType: 'Delivery', ...more }),
    })
    expect(answer.status).toBe(200)
  }
}
