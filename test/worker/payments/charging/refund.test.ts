import { beforeEach, describe, expect, it } from 'vitest'
import { openRoom, type Room, unavailable } from '../../../support/payments-room.ts'

let room: Room
let transactionId: string

async function paid(own: Parameters<typeof openRoom>[0] = {}, amount = 25_000): Promise<void> {
  room = openRoom(own)
  const { payments, clock } = room
  const charged = await payments.charge({
    gateway: 'bank',
    reference: 'order-1',
    amount: 25_000,
    currency: 'IQD',
    description: 'A lamp',
  })
  transactionId = charged.transactionId
  const body = JSON.stringify({
    ...{ gateway: 'bank', gatewayTransactionId: charged.gatewayTransactionId, reference: '' },
    ...{ status: 'Paid', amount, currency: 'IQD', raw: {} },
    ...{ eventId: 'paid-1', occurredAt: clock.now() },
  })
  const request = { headers: new Headers(), query: new URLSearchParams(), body, receivedAt: 0 }
  await payments.receive('bank', request, 'correlation-1')
  await room.quiet()
  room.told.length = 0
}

const refund = (amount: number, context = {}) =>
  room.payments.refund('bank', { transactionId, amount, reason: 'Broken' }, context)
const current = async () => (await room.payments.queries.story(transactionId))?.transaction

describe('a refund', () => {
  beforeEach(() => paid())

  it('gives all back, moves the payment, and tells it once', async () => {
    expect(await refund(25_000)).toStrictEqual({
      success: true,
      refundId: 'back-1',
      refundedAmount: 25_000,
    })
    await room.quiet()
    expect(await current()).toMatchObject({ status: 'Refunded', refundedAmount: 25_000 })
    expect(room.names()).toEqual(['PaymentRefunded'])
  })

  it('gives parts back up to the whole, and tells of the changes of status alone', async () => {
    await refund(5_000)
    await refund(5_000)
    expect(await current()).toMatchObject({ status: 'PartiallyRefunded', refundedAmount: 10_000 })
    await expect(refund(15_001)).rejects.toMatchObject({ code: 'invalid_argument' })
    await refund(15_000)
    await room.quiet()
    expect(await current()).toMatchObject({ status: 'Refunded', refundedAmount: 25_000 })
    expect(room.names()).toEqual(['PaymentRefunded', 'PaymentRefunded'])
    expect(room.refunded).toHaveLength(3)
  })

  it('finds the payment by the gateway’s name too, never at another gateway', async () => {
    const { gatewayTransactionId = '' } = (await current()) ?? {}
    const request = { transactionId: gatewayTransactionId, amount: 25_000, reason: 'Broken' }
    expect(await room.payments.refund('bank', request)).toMatchObject({ success: true })
    await expect(room.payments.refund('other', request)).rejects.toMatchObject({
      code: 'invalid_argument',
    })
  })

  it('is made once for one key, and refused for another request with it', async () => {
    const first = await refund(5_000, { idempotencyKey: 'key-1' })
    expect(await refund(5_000, { idempotencyKey: 'key-1' })).toStrictEqual(first)
    await expect(refund(6_000, { idempotencyKey: 'key-1' })).rejects.toMatchObject({
      code: 'idempotency_conflict',
    })
    expect(room.refunded).toHaveLength(1)
  })

  it('is not made twice while one is under way, or its outcome is unknown', async () => {
    room.script.refund = unavailable
    await expect(refund(25_000)).rejects.toMatchObject({ code: 'gateway_unavailable' })
    await expect(refund(25_000)).rejects.toMatchObject({ code: 'in_progress' })
    expect(room.refunded).toHaveLength(1)
    expect(await current()).toMatchObject({ status: 'Paid', refundedAmount: 0 })
  })

  it('moves nothing when it is refused, and may be asked for again', async () => {
    room.script.refund = () => ({ ok: false, error: { code: 'no_funds', message: 'Empty.' } })
    await expect(refund(25_000)).rejects.toMatchObject({ error: { code: 'no_funds' } })
    room.script.refund = () => ({ ok: true, isDone: true })
    const again = await refund(25_000)
    expect(again.refundId).toMatch(/^[0-9A-Z]{26}$/)
    expect(await current()).toMatchObject({ status: 'Refunded' })
  })

  it('that a bank makes by hand moves nothing until the bank says so', async () => {
    room.script.refund = () => ({ ok: true, isDone: false })
    expect(await refund(25_000)).toMatchObject({ success: true, refundedAmount: 25_000 })
    expect(await current()).toMatchObject({ status: 'Paid', refundedAmount: 0 })
    await expect(refund(25_000)).rejects.toMatchObject({ code: 'in_progress' })
    room.script.status = () => ({
      ...{ known: true, status: 'Refunded', amount: 25_000, currency: 'IQD', raw: {} },
    })
    await room.clock.advance(10 * 60_000)
    await room.payments.sweeper.sweep()
    await room.quiet()
    expect(await current()).toMatchObject({ status: 'Refunded', refundedAmount: 25_000 })
    expect(room.names()).toEqual(['PaymentRefunded'])
    const story = await room.payments.queries.story(transactionId)
    expect(story?.refunds).toMatchObject([{ status: 'succeeded' }])
  })

  it.each([
    ['nothing', 0],
    ['a fraction', 0.5],
    ['more than was paid', 25_001],
  ])('of %s is refused before any call', async (_, amount) => {
    await expect(refund(amount)).rejects.toMatchObject({ code: 'invalid_argument' })
    expect(room.refunded).toHaveLength(0)
  })

  it('of a payment that there is not, or that was not paid, is refused before any call', async () => {
    const asked = { transactionId: 'nope', amount: 1, reason: 'Broken' }
    await expect(room.payments.refund('bank', asked)).rejects.toMatchObject({
      code: 'invalid_argument',
    })
    await refund(25_000)
    await expect(refund(1)).rejects.toMatchObject({ code: 'invalid_argument' })
    expect(room.refunded).toHaveLength(1)
  })
})

describe('a refund of which nothing is left', () => {
  const refused = (message: string) => ({ code: 'invalid_argument', message })

  it('says that all was refunded before', async () => {
    await paid()
    await refund(25_000)
    await expect(refund(25_000)).rejects.toMatchObject(
      refused('All that was paid was refunded already.'),
    )
  })

  it('says that nothing was paid, where a payment came with no money', async () => {
    await paid({}, 0)
    await expect(refund(25_000)).rejects.toMatchObject(
      refused('Nothing was paid, so nothing can be refunded.'),
    )
    expect(room.refunded).toHaveLength(0)
  })

  it('says that the payment is not paid', async () => {
    await paid()
    const order = { gateway: 'bank', reference: 'order-2', amount: 25_000, currency: 'IQD' }
    const charged = await room.payments.charge({ ...order, description: 'A lamp' })
    transactionId = charged.transactionId
    await expect(refund(25_000)).rejects.toMatchObject(
      refused('A payment that is Pending cannot be refunded.'),
    )
  })

  it('is answered by its key as the first time, also when a webhook told that it was made', async () => {
    await paid()
    room.script.refund = unavailable
    const key = { idempotencyKey: 'key-1' }
    await expect(refund(25_000, key)).rejects.toMatchObject({ code: 'gateway_unavailable' })
    const { gatewayTransactionId = '' } = (await current()) ?? {}
    const body = JSON.stringify({
      ...{ gateway: 'bank', gatewayTransactionId, reference: '', status: 'Refunded', raw: {} },
      ...{ amount: 25_000, currency: 'IQD', eventId: 'back-1', occurredAt: room.clock.now() },
    })
    const request = { headers: new Headers(), query: new URLSearchParams(), body, receivedAt: 0 }
    await room.payments.receive('bank', request, 'correlation-2')
    expect(await refund(25_000, key)).toMatchObject({ success: true, refundedAmount: 25_000 })
    expect(room.refunded).toHaveLength(1)
  })
})

describe('a gateway with full refunds only', () => {
  it('is not called for a part', async () => {
    await paid({ gateway: { refunds: 'full' } })
    await expect(refund(5_000)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('25000') as unknown,
    })
    expect(room.refunded).toHaveLength(0)
  })

  it('is not called when it is not configured to give back', async () => {
    await paid({ gateway: { refundProblem: () => 'The scope reverse:write is missing.' } })
    await expect(refund(25_000)).rejects.toMatchObject({ message: /reverse:write/ })
    expect(room.refunded).toHaveLength(0)
  })

  it('is asked for what was charged, and refunds what was paid', async () => {
    await paid({ gateway: { refunds: 'full' } }, 20_000)
    await expect(refund(20_000)).rejects.toMatchObject({ code: 'invalid_argument' })
    const key = { idempotencyKey: 'key-1' }
    const back = { success: true, refundId: 'back-1', refundedAmount: 20_000 }
    expect(await refund(25_000, key)).toStrictEqual(back)
    expect(await refund(25_000, key)).toStrictEqual(back)
    await room.quiet()
    const story = { status: 'Refunded', amount: 25_000, refundedAmount: 20_000 }
    const transaction = { ...story, paid: { amount: 20_000, currency: 'IQD' } }
    expect(await current()).toMatchObject(transaction)
    expect(room.told).toMatchObject([{ name: 'PaymentRefunded', payload: { transaction } }])
  })
})

it('of another amount than was charged gives parts back up to what was paid', async () => {
  await paid({}, 20_000)
  await expect(refund(20_001)).rejects.toMatchObject({
    code: 'invalid_argument',
    message: 'Of 20000 IQD (minor units) only 20000 can still be refunded.',
  })
  await refund(20_000)
  expect(await current()).toMatchObject({ status: 'Refunded', refundedAmount: 20_000 })
})
