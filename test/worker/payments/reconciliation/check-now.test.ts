import { expect, it } from 'vitest'
import { request } from '../../../support/payments.ts'
import { openRoom, unavailable } from '../../../support/payments-room.ts'

async function charged(own: object = {}) {
  const room = openRoom(own)
  const { transactionId } = await room.payments.charge(request())
  const status = async () => (await room.payments.queries.story(transactionId))?.transaction.status
  const check = async () => {
    await room.payments.checkNow(transactionId)
    await room.quiet()
    return await status()
  }
  return { room, transactionId, status, check }
}
const paid = { known: true, status: 'Paid', amount: 25_000, currency: 'IQD' } as const

it('A payment whose webhook was lost is Paid after its check, with one event', async () => {
  const { room, check } = await charged()
  room.script.status = () => paid
  expect(await check()).toBe('Paid')
  expect(await check()).toBe('Paid')
  expect(room.eventNames()).toEqual(['PaymentInitiated', 'PaymentSucceeded'])
})

it('A check of a payment that is not paid yet changes nothing', async () => {
  const { room, check } = await charged()
  room.script.status = () => ({ ...paid, status: 'Pending' })
  expect(await check()).toBe('Pending')
  room.script.status = () => ({ known: false })
  expect(await check()).toBe('Pending')
  expect(room.eventNames()).toEqual(['PaymentInitiated'])
})

it('A check also finds a late payment, which is an alert', async () => {
  const { room, check } = await charged()
  room.script.status = () => ({ ...paid, status: 'Failed' })
  expect(await check()).toBe('Failed')
  room.script.status = () => paid
  expect(await check()).toBe('Failed')
  expect(room.eventNames()).toEqual(['PaymentInitiated', 'PaymentFailed', 'AlertRaised'])
})

it('A check that its gateway does not answer fails with the id of the payment', async () => {
  const { room, transactionId, check } = await charged()
  room.script.status = unavailable
  await expect(check()).rejects.toMatchObject({ code: 'gateway_unavailable', transactionId })
})

it('A check of a charge under way is refused', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const room = openRoom()
  room.script.charge = async () => {
    await promise
    return { ok: true, gatewayTransactionId: 'g-1' }
  }
  const charging = room.payments.charge(request())
  const under = async () => (await room.payments.queries.transactions({}, { limit: 1 }))[0]?.id
  await expect.poll(under).toBeDefined()
  const check = room.payments.checkNow((await under()) ?? '')
  await expect(check).rejects.toMatchObject({
    code: 'in_progress',
    retryAfterMs: expect.any(Number),
  })
  resolve()
  await charging
})

it('A check at a gateway without status checks is refused', async () => {
  const { check } = await charged({ gateway: { checkStatus: undefined } })
  await expect(check()).rejects.toMatchObject({ code: 'invalid_argument' })
})

it('A check of an unknown id does nothing', async () => {
  await expect(openRoom().payments.checkNow('01NOBODY')).resolves.toBeUndefined()
})
