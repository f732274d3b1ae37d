// The client of payments against a real edge in this process.

import { describe, expect, it } from 'vitest'
import {
  createPayments,
  PaymentsError,
  type PaymentsOptions,
} from '../../../libraries/payments/index.ts'
import { token } from '../../support/edge.ts'
import { processEdge } from '../../support/in-process-edge.ts'
import { request } from '../../support/payments.ts'
import { setUpPayments, unavailable } from '../../support/payments-setup.ts'
import { redirecting } from '../../support/redirecting.ts'

const ORDER = request()

function setUp(options: Partial<PaymentsOptions> = {}) {
  const setup = setUpPayments()
  const edge = processEdge({ payments: setup.payments })
  const fetchEdge = async (input: Parameters<typeof fetch>[0], init?: RequestInit) => {
    const { pathname, search } = new URL(String(input))
    return await edge.fetch(`${pathname}${search}`, init)
  }
  const payments = createPayments({
    url: `${edge.origin}/`,
    token: () => token({ scope: 'payments:read payments:write', repos: [] }),
    fetch: fetchEdge,
    ...options,
  })
  return { setup, payments }
}

/** With a fetch that answers this. */
const answered = (response: () => Response | Promise<Response>, more = {}) =>
  setUp({ fetch: async () => await response(), ...more }).payments

const failureOf = (work: Promise<unknown>): Promise<PaymentsError> =>
  work.then(
    () => {
      throw new Error('It was answered.')
    },
    (error: unknown) => {
      if (error instanceof PaymentsError) return error
      throw error
    },
  )

describe('The client of payments', () => {
  it('charges, refunds, lists, reads and checks', async () => {
    const { setup, payments } = setUp()
    const charge = await payments.charges.create(ORDER)
    expect(charge).toMatchObject({ status: 'Pending', redirectUrl: 'https://bank.example/pay' })
    const { transactionId: id, gatewayTransactionId } = charge
    expect(await payments.charges.create(ORDER)).toEqual(charge)
    const paid = { known: true, status: 'Paid', amount: 25_000, currency: 'IQD' } as const
    setup.script.status = () => paid
    expect(await payments.transactions.check(id)).toMatchObject({ status: 'Paid', paid: {} })
    const refund = { gateway: 'bank', transactionId: id, amount: 5_000, reason: 'Broken' }
    const refunded = await payments.refunds.create({ ...refund, idempotencyKey: 'refund-1' })
    expect(refunded).toEqual({ success: true, refundId: 'back-1', refundedAmount: 5_000 })
    expect(await payments.refunds.create({ ...refund, idempotencyKey: 'refund-1' })).toEqual(
      refunded,
    )
    expect(await payments.transactions.get(id)).toMatchObject({
      status: 'PartiallyRefunded',
      gatewayTransactionId,
      refundedAmount: 5_000,
      refunds: [{ status: 'succeeded', reason: 'Broken' }],
    })
    expect(await payments.gateways.list()).toMatchObject([{ key: 'bank', refunds: 'partial' }])
  })

  it('reads the books, and the sums of each day', async () => {
    const { setup, payments } = setUp()
    const { gatewayTransactionId = '' } = await payments.charges.create(ORDER)
    await setup.webhook({ gatewayTransactionId })
    const span = { after: '1970-01-01', before: '1970-01-02', zone: 'Asia/Baghdad' }
    const sum = { gateway: 'bank', currency: 'IQD', amountMinor: 25_000 }
    expect(await payments.movements.list({ ...span, gateway: 'bank' })).toMatchObject({
      movements: [{ kind: 'paid', reference: 'order-1', amount: '25000' }],
      sums: [sum],
    })
    expect(await payments.movements.days(span)).toMatchObject({
      days: [{ day: '1970-01-01', sums: [sum] }],
    })
    const wrong = payments.movements.list({ zone: 'Mars' })
    expect(await failureOf(wrong)).toMatchObject({ code: 'invalid_argument' })
  })

  it('cancels a payment, and says why it cannot', async () => {
    const { setup, payments } = setUp()
    const { transactionId: id, gatewayTransactionId = '' } = await payments.charges.create(ORDER)
    const no = { code: 'not_cancellable', status: 409, transactionId: id }
    expect(await failureOf(payments.transactions.cancel(id))).toMatchObject(no)
    await setup.webhook({ gatewayTransactionId, status: 'Expired' })
    expect(await payments.transactions.cancel(id)).toMatchObject({ status: 'Expired' })
  })

  it('lists alerts, acknowledges one and takes that back, sends again, and writes a note', async () => {
    const { setup, payments } = setUp()
    const { transactionId: id, gatewayTransactionId = '' } = await payments.charges.create(ORDER)
    await setup.webhook({ gatewayTransactionId, amount: 20_000 })
    const { alerts } = await payments.alerts.list()
    expect(alerts).toMatchObject([{ kind: 'amount_mismatch', transactionId: id }])
    expect((await payments.transactions.list({ needs: 'person' })).transactions).toHaveLength(1)
    const alert = alerts[0]?.id ?? ''
    await payments.alerts.acknowledge(alert, { gatewayReference: 'bank-7' })
    expect(await payments.alerts.list()).toEqual({ alerts: [] })
    expect((await payments.alerts.list({ all: true })).alerts).toMatchObject([
      { gatewayReference: 'bank-7' },
    ])
    await payments.alerts.reopen(alert)
    expect((await payments.alerts.list()).alerts).toMatchObject([{ id: alert }])
    const unknown = payments.deliveries.redeliver('nope')
    expect(await failureOf(unknown)).toMatchObject({ code: 'unknown_delivery' })

    const note = await payments.transactions.note(id, 'She called.')
    expect(note).toEqual({
      id: expect.any(String),
      text: 'She called.',
      by: expect.any(String),
      createdAt: expect.stringMatching(/Z$/),
    })
    expect(await payments.transactions.get(id)).toMatchObject({ notes: [note] })
    const wrong = payments.transactions.note(id, '')
    expect(await failureOf(wrong)).toMatchObject({ code: 'invalid_argument' })
    const acts = ['note', 'reopen', 'acknowledge', 'charge'].map((action) => ({ action }))
    expect((await payments.audit.list({ transaction: id })).audit).toMatchObject(acts)
  })

  it('pauses payments and resumes them', async () => {
    const { payments } = setUp()
    const pause = await payments.pause()
    expect(pause).toEqual({ since: expect.stringMatching(/Z$/), by: expect.any(String) })
    expect(await payments.pause()).toEqual(pause)
    const failure = await failureOf(payments.charges.create(ORDER))
    expect(failure).toMatchObject({ code: 'paused', status: 503, retryAfterS: 30 })
    await payments.resume()
    expect(await payments.charges.create(ORDER)).toMatchObject({ status: 'Pending' })
  })

  it('lists page by page, by filter', async () => {
    const { setup, payments } = setUp()
    for (const reference of ['order-1', 'order-2']) {
      await setup.clock.advance(1)
      await payments.charges.create({ ...ORDER, reference })
    }
    const { transactions, cursor } = await payments.transactions.list({ limit: 1 })
    expect(transactions).toMatchObject([{ reference: 'order-2' }])
    const older = await payments.transactions.list({ limit: 1, cursor })
    expect(older.transactions).toMatchObject([{ reference: 'order-1' }])
    expect(await payments.transactions.list({ status: 'Paid' })).toEqual({ transactions: [] })
  })

  it('fails with the code and the status of the edge, and with what helps to go on', async () => {
    const { setup, payments } = setUp()
    expect(await failureOf(payments.charges.create({ ...ORDER, amount: 0 }))).toMatchObject({
      name: 'PaymentsError',
      code: 'invalid_argument',
      status: 422,
      message: expect.stringContaining('amount') as string,
    })
    setup.script.charge = unavailable
    const failure = await failureOf(payments.charges.create(ORDER))
    expect(failure).toMatchObject({ code: 'gateway_unavailable', status: 503 })
    expect(failure.retryAfterS).toBeGreaterThan(0)
    expect(failure.correlationId).toMatch(/^\w{26}$/)
    const { id } = (await payments.transactions.list()).transactions[0] ?? {}
    expect(failure.transactionId).toBe(id)
    // @ts-expect-error: no operation of this client has such a code
    expect(failure.code === 'unknown_task').toBe(false)
  })

  it('sends an idempotency key as its header, and refuses one that no header can hold', async () => {
    const { setup, payments } = setUp()
    const first = await payments.charges.create({ ...ORDER, idempotencyKey: 'one' })
    const again = await payments.charges.create({ ...ORDER, idempotencyKey: 'one' })
    expect(again.transactionId).toBe(first.transactionId)
    const other = { ...ORDER, amount: 1, idempotencyKey: 'one' }
    expect(await failureOf(payments.charges.create(other))).toMatchObject({
      code: 'idempotency_conflict',
      status: 409,
    })
    for (const idempotencyKey of ['', 'a\nb', 'ключ', 'x'.repeat(256)]) {
      const failure = await failureOf(payments.charges.create({ ...ORDER, idempotencyKey }))
      expect(failure).toMatchObject({ code: 'invalid_argument', status: 0 })
    }
    expect(setup.charged).toHaveLength(1)
  })

  it('says that there was no answer, or that it was of something else', async () => {
    const lost = () => Promise.reject(new TypeError('fetch failed'))
    expect(await failureOf(answered(lost).gateways.list())).toMatchObject({
      code: 'unreachable',
      status: 0,
      cause: { message: 'fetch failed' },
    })
    const slow: typeof fetch = (_input, init) =>
      new Promise((_, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
      })
    const { payments } = setUp({ fetch: slow, timeoutMs: 1 })
    expect(await failureOf(payments.gateways.list())).toMatchObject({
      code: 'unreachable',
      cause: { name: 'TimeoutError' },
    })
    for (const body of ['<html>', '{"message":"Bad gateway"}', 'null']) {
      const proxy = answered(() => new Response(body, { status: 502 }))
      const failure = { code: 'invalid_answer', status: 502 }
      expect(await failureOf(proxy.gateways.list())).toMatchObject(failure)
    }
    const page = answered(() => new Response('<html>'))
    expect(await failureOf(page.gateways.list())).toMatchObject({ code: 'invalid_answer' })
  })

  it('follows no redirect, which would carry the order to another host', async () => {
    const { url, asked } = await redirecting()
    const failure = await failureOf(createPayments({ url, token: 't' }).charges.create(ORDER))
    expect(failure).toMatchObject({ code: 'invalid_answer', status: 307 })
    expect(asked).toEqual(['/api/payments/charges'])
  })

  it('sends nothing without a url and a token', async () => {
    for (const missing of [{ url: undefined }, { token: undefined }, { token: '' }]) {
      expect(() => setUp(missing)).toThrow(expect.objectContaining({ code: 'invalid_options' }))
    }
    expect(() => setUp({ url: undefined })).toThrow(
      /^createPayments needs its url: set SIGNALBOX_URL /,
    )
    expect(() => setUp({ token: '' })).toThrow(
      /^createPayments needs its token: set SIGNALBOX_TOKEN /,
    )
    const { payments } = setUp({ token: () => Promise.reject(new Error('no key')) })
    expect(await failureOf(payments.gateways.list())).toMatchObject({
      code: 'invalid_options',
      cause: { message: 'no key' },
    })
    const { payments: stranger } = setUp({ token: 'x.y.z' })
    expect(await failureOf(stranger.gateways.list())).toMatchObject({
      code: 'unauthorized',
      status: 401,
    })
  })
})
