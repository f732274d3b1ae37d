import { beforeEach, describe, expect, it } from 'vitest'
import { asProblem } from '../../../../worker/payments/api/routes-hono.ts'
import { GatewayUnavailableException } from '../../../../worker/payments/domain/exceptions.ts'
import { type Problem, STATUS_OF } from '../../../../worker/shared/problem.ts'
import { request } from '../../../support/payments.ts'
import {
  type PaymentsSetup,
  reported,
  setUpPayments,
  unavailable,
} from '../../../support/payments-setup.ts'

let setup: PaymentsSetup
let transactionId: string

async function paid(own: Parameters<typeof setUpPayments>[0] = {}, amount = 25_000): Promise<void> {
  setup = setUpPayments(own)
  const charged = await setup.payments.charge(request())
  transactionId = charged.transactionId
  const { gatewayTransactionId = '' } = charged
  await setup.webhook({ gatewayTransactionId, amount })
  await setup.quiet()
  setup.events.length = 0
}

const refund = (amount: number, context = {}) =>
  setup.payments.refund('bank', { transactionId, amount, reason: 'Broken' }, context)
const current = async () => (await setup.payments.queries.story(transactionId))?.transaction

describe('a refund', () => {
  beforeEach(() => paid())

  it('of the full amount changes the payment, and causes one event', async () => {
    expect(await refund(25_000)).toStrictEqual({
      success: true,
      refundId: 'back-1',
      refundedAmount: 25_000,
    })
    await setup.quiet()
    expect(await current()).toMatchObject({ status: 'Refunded', refundedAmount: 25_000 })
    expect(setup.eventNames()).toEqual(['PaymentRefunded'])
  })

  it('is made once for one key, and refused for another request with that key', async () => {
    const first = await refund(5_000, { idempotencyKey: 'key-1' })
    expect(await refund(5_000, { idempotencyKey: 'key-1' })).toStrictEqual(first)
    await expect(refund(6_000, { idempotencyKey: 'key-1' })).rejects.toMatchObject({
      code: 'idempotency_conflict',
    })
    expect(setup.refunded).toHaveLength(1)
  })

  it('is refused while the result of another one is unknown', async () => {
    setup.script.refund = unavailable
    await expect(refund(25_000)).rejects.toMatchObject({ code: 'gateway_unavailable' })
    await expect(refund(25_000)).rejects.toMatchObject({
      code: 'in_progress',
      retryAfterMs: expect.any(Number),
    })
    expect(setup.refunded).toHaveLength(1)
    expect(await current()).toMatchObject({ status: 'Paid', refundedAmount: 0 })
  })

  it('that was never sent, since there was no access token, may be asked for again at once', async () => {
    const works = setup.script.refund
    setup.script.refund = () => {
      throw new GatewayUnavailableException('no access token', { isUnsent: true })
    }
    const asked = { transactionId, amount: 25_000, reason: 'Broken' }
    const context = { idempotencyKey: 'key-1' }
    const driver = setup.payments.driver('bank')
    await expect(driver.refund?.(asked, context)).rejects.toMatchObject({
      code: 'gateway_unavailable',
      retryAfterMs: 0,
    })
    setup.script.refund = works
    expect(await driver.refund?.(asked, context)).toMatchObject({ success: true })
    expect(await driver.refund?.(asked, context)).toMatchObject({ success: true })
    expect(setup.refunded).toHaveLength(2)
    expect(await current()).toMatchObject({ status: 'Refunded' })
  })

  it('is not made if its gateway answers about another payment, which is an alert', async () => {
    let asked = 0
    setup.script.refund = unavailable
    setup.script.status = () => {
      asked++
      return reported('Refunded', { gatewayTransactionId: 'another' })
    }
    await expect(refund(25_000)).rejects.toMatchObject({ code: 'gateway_unavailable' })
    for (const minutes of [1, 5, 1]) {
      await setup.clock.advance(minutes * 60_000)
      await setup.payments.sweeper.sweep()
    }
    expect(asked).toBe(1)
    expect(await current()).toMatchObject({ status: 'Paid', refundedAmount: 0 })
    expect(await setup.payments.queries.alerts({}, { limit: 9 })).toMatchObject([
      { kind: 'id_mismatch', transactionId },
    ])
  })

  it('changes nothing when the gateway refuses it, and can be repeated', async () => {
    setup.script.refund = () => ({ ok: false, error: { code: 'no_funds', message: 'Empty.' } })
    await expect(refund(25_000)).rejects.toMatchObject({ error: { code: 'no_funds' } })
    setup.script.refund = () => ({ ok: true, isDone: true })
    const again = await refund(25_000)
    expect(again.refundId).toMatch(/^[0-9A-Z]{26}$/)
    expect(await current()).toMatchObject({ status: 'Refunded' })
  })

  it('that a bank makes by hand changes nothing until the bank reports it', async () => {
    setup.script.refund = () => ({ ok: true, isDone: false })
    expect(await refund(25_000)).toMatchObject({ success: true, refundedAmount: 25_000 })
    expect(await current()).toMatchObject({ status: 'Paid', refundedAmount: 0 })
    await expect(refund(25_000)).rejects.toMatchObject({
      code: 'in_progress',
      retryAfterMs: expect.any(Number),
    })
    setup.script.status = () => reported('Refunded')
    await setup.clock.advance(10 * 60_000)
    await setup.payments.sweeper.sweep()
    await setup.quiet()
    expect(await current()).toMatchObject({ status: 'Refunded', refundedAmount: 25_000 })
    expect(setup.eventNames()).toEqual(['PaymentRefunded'])
    const story = await setup.payments.queries.story(transactionId)
    expect(story?.refunds).toMatchObject([{ status: 'succeeded' }])
  })

  it.each([
    ['0', 0],
    ['a fraction', 0.5],
    ['more than was paid', 25_001],
  ])('of %s is refused before the gateway is called', async (_, amount) => {
    await expect(refund(amount)).rejects.toMatchObject({ code: 'invalid_argument' })
    expect(setup.refunded).toHaveLength(0)
  })
})

describe('a refund that is not possible', () => {
  const refused = (message: string) => ({ code: 'invalid_argument', message })

  it('reports that everything was refunded before', async () => {
    await paid()
    await refund(25_000)
    await expect(refund(25_000)).rejects.toMatchObject(
      refused('All that was paid was refunded already.'),
    )
  })

  it('reports that nothing was paid, for a payment of 0', async () => {
    await paid({}, 0)
    await expect(refund(25_000)).rejects.toMatchObject(
      refused('Nothing was paid, so nothing can be refunded.'),
    )
    expect(setup.refunded).toHaveLength(0)
  })

  it('reports that the payment is not paid', async () => {
    await paid()
    const charged = await setup.payments.charge(request({ reference: 'order-2' }))
    transactionId = charged.transactionId
    await expect(refund(25_000)).rejects.toMatchObject(
      refused('A payment that is Pending cannot be refunded.'),
    )
  })

  it('succeeds with its key if a webhook has reported that it was made', async () => {
    await paid()
    setup.script.refund = unavailable
    const key = { idempotencyKey: 'key-1' }
    await expect(refund(25_000, key)).rejects.toMatchObject({ code: 'gateway_unavailable' })
    const { gatewayTransactionId = '' } = (await current()) ?? {}
    await setup.webhook({ gatewayTransactionId, status: 'Refunded' })
    expect(await refund(25_000, key)).toMatchObject({ success: true, refundedAmount: 25_000 })
    expect(setup.refunded).toHaveLength(1)
  })
})

describe('a refund that has failed', () => {
  const keyed = (idempotencyKey: string) => refund(25_000, { idempotencyKey })
  const failed = { code: 'refund_failed', message: 'No.' }

  async function expectNewKeyOnly(): Promise<void> {
    const before = setup.refunded.length
    const problem = await keyed('key-1').catch(asProblem)
    expect(problem).toMatchObject({ reason: 'refund_failed', message: 'No.' })
    expect(STATUS_OF[(problem as Problem).reason]).toBe(422)
    expect(setup.refunded).toHaveLength(before)
    setup.script.refund = () => ({ ok: true, isDone: true, gatewayRefundId: 'back-2' })
    expect(await keyed('key-2')).toMatchObject({ refundId: 'back-2', refundedAmount: 25_000 })
    await setup.quiet()
    expect(await current()).toMatchObject({ status: 'Refunded', refundedAmount: 25_000 })
  }

  it('since the gateway refused it is told to its key, and a new key refunds again', async () => {
    await paid()
    setup.script.refund = () => ({ ok: false, error: { code: 'no_funds', message: 'No.' } })
    await expect(keyed('key-1')).rejects.toMatchObject({ code: 'gateway_refused' })
    await expectNewKeyOnly()
  })

  it.each([
    ['made', true],
    ['accepted', false],
  ])('after it was %s is told to its key, and a new key refunds again', async (_, isDone) => {
    await paid()
    setup.script.refund = () => ({ ok: true, isDone, gatewayRefundId: 'back-1' })
    await keyed('key-1')
    const { gatewayTransactionId = '', status = 'Paid' } = (await current()) ?? {}
    const alert = { status, alert: 'refund_failed', refundId: 'back-1', error: failed } as const
    await setup.webhook({ gatewayTransactionId, ...alert })
    expect(await current()).toMatchObject({ status, refundedAmount: 0 })
    await expectNewKeyOnly()
  })
})

describe('a gateway with full refunds only', () => {
  it('is not called for a partial refund', async () => {
    await paid({ gateway: { refunds: 'full' } })
    await expect(refund(5_000)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('25000') as unknown,
    })
    expect(setup.refunded).toHaveLength(0)
  })

  it('is not called if its configuration does not allow refunds', async () => {
    await paid({ gateway: { refundProblem: () => 'The scope reverse:write is missing.' } })
    await expect(refund(25_000)).rejects.toMatchObject({ message: /reverse:write/ })
    expect(setup.refunded).toHaveLength(0)
  })

  it('is asked for the charged amount, and refunds the paid amount', async () => {
    await paid({ gateway: { refunds: 'full' } }, 20_000)
    await expect(refund(20_000)).rejects.toMatchObject({ code: 'invalid_argument' })
    const key = { idempotencyKey: 'key-1' }
    const answer = { success: true, refundId: 'back-1', refundedAmount: 20_000 }
    expect(await refund(25_000, key)).toStrictEqual(answer)
    expect(await refund(25_000, key)).toStrictEqual(answer)
    await setup.quiet()
    const story = { status: 'Refunded', amount: 25_000, refundedAmount: 20_000 }
    const transaction = { ...story, paid: { amount: 20_000, currency: 'IQD' } }
    expect(await current()).toMatchObject(transaction)
    expect(setup.events).toMatchObject([{ name: 'PaymentRefunded', payload: { transaction } }])
  })
})

it('a refund of a payment of another amount is possible up to the paid amount', async () => {
  await paid({}, 20_000)
  await expect(refund(20_001)).rejects.toMatchObject({
    code: 'invalid_argument',
    message: 'Of 20000 IQD (minor units) only 20000 can still be refunded.',
  })
  await refund(20_000)
  expect(await current()).toMatchObject({ status: 'Refunded', refundedAmount: 20_000 })
})
