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

it('A check is seen with what the gateway said, also if nothing changed', async () => {
  const { setup, transactionId, check } = await charged()
  const seen = async () => (await setup.payments.queries.story(transactionId))?.check
  expect(await seen()).toEqual({ nextAt: expect.any(String) })
  const lastAt = expect.any(String)
  setup.script.status = () => ({ ...paid, status: 'Pending' })
  await check()
  expect(await seen()).toEqual({ lastAt, lastStatus: 'Pending', nextAt: expect.any(String) })
  setup.script.status = () => ({ known: false })
  await check()
  expect(await seen()).toMatchObject({ lastStatus: 'unknown' })
  setup.script.status = unavailable
  await check().catch(() => undefined)
  expect(await seen()).toMatchObject({ lastStatus: 'unreachable' })
  setup.script.status = () => paid
  await check()
  expect(await seen()).toEqual({ lastAt, lastStatus: 'Paid' })
})

it('A charge without an id is asked about by ours, where the gateway still knows that', async () => {
  const lost = async (chargeRepeatableForMs: number) => {
    const setup = setUpPayments({ gateway: { chargeRepeatableForMs } })
    setup.script.charge = unavailable
    const { transactionId } = await setup.payments.charge(request()).catch((error) => error)
    setup.script.charge = () =>
      Promise.resolve({
        ok: true,
        gatewayTransactionId: 'g-1',
        redirectUrl: 'https://pay.example/',
      })
    return { setup, transactionId: String(transactionId) }
  }
  const known = await lost(60_000)
  await known.setup.payments.checkNow(known.transactionId)
  expect(await known.setup.payments.queries.story(known.transactionId)).toMatchObject({
    transaction: { gatewayTransactionId: 'g-1' },
  })
  const unknown = await lost(0)
  await expect(unknown.setup.payments.checkNow(unknown.transactionId)).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining('has given no id of this payment'),
  })
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
