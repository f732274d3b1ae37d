import { expect, it } from 'vitest'
import { request } from '../../../support/payments.ts'
import { setUpPayments, unavailable } from '../../../support/payments-setup.ts'

async function charged(own: object = {}) {
  const setup = setUpPayments(own)
  const { transactionId } = await setup.payments.charge(request())
  const status = async () => (await setup.payments.queries.story(transactionId))?.transaction.status
  const check = async () => {
    await setup.payments.checkNow(transactionId)
    await setup.quiet()
    return await status()
  }
  return { setup, transactionId, status, check }
}
const paid = { known: true, status: 'Paid', amount: 25_000, currency: 'IQD' } as const

it('A payment whose webhook was lost is Paid after its check, with one event', async () => {
  const { setup, check } = await charged()
  setup.script.status = () => paid
  expect(await check()).toBe('Paid')
  expect(await check()).toBe('Paid')
  expect(setup.eventNames()).toEqual(['PaymentInitiated', 'PaymentSucceeded'])
})

it('A check of a payment that is not paid yet changes nothing', async () => {
  const { setup, check } = await charged()
  setup.script.status = () => ({ ...paid, status: 'Pending' })
  expect(await check()).toBe('Pending')
  setup.script.status = () => ({ known: false })
  expect(await check()).toBe('Pending')
  expect(setup.eventNames()).toEqual(['PaymentInitiated'])
})

it('A check also finds a late payment, which is an alert', async () => {
  const { setup, check } = await charged()
  setup.script.status = () => ({ ...paid, status: 'Failed' })
  expect(await check()).toBe('Failed')
  setup.script.status = () => paid
  expect(await check()).toBe('Failed')
  expect(setup.eventNames()).toEqual(['PaymentInitiated', 'PaymentFailed', 'AlertRaised'])
})

it('A check that its gateway does not answer fails with the id of the payment', async () => {
  const { setup, transactionId, check } = await charged()
  setup.script.status = unavailable
  await expect(check()).rejects.toMatchObject({ code: 'gateway_unavailable', transactionId })
})

it('A check of a charge under way is refused', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const setup = setUpPayments()
  setup.script.charge = async () => {
    await promise
    return { ok: true, gatewayTransactionId: 'g-1' }
  }
  const charging = setup.payments.charge(request())
  const under = async () => (await setup.payments.queries.transactions({}, { limit: 1 }))[0]?.id
  await expect.poll(under).toBeDefined()
  const check = setup.payments.checkNow((await under()) ?? '')
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
  await expect(setUpPayments().payments.checkNow('01NOBODY')).resolves.toBeUndefined()
})
