import { describe, expect, it } from 'vitest'
import { GatewayUnavailableException } from '../../../../worker/payments/domain/exceptions.ts'
import type { PaymentStatus } from '../../../../worker/payments/domain/status.ts'
import { request } from '../../../support/payments.ts'
import { openRoom, reported } from '../../../support/payments-room.ts'

const order = request()

describe('a repeated charge', () => {
  const HOUR = 3_600_000
  const keyed = { idempotencyKey: 'key-1' }

  /** A charge whose payment page expires in an hour. */
  async function charged() {
    const room = openRoom()
    const { payments, script, clock } = room
    script.charge = () => ({
      ...{ ok: true, gatewayTransactionId: 'gateway-1', redirectUrl: 'https://bank.example/pay' },
      ...{ qrCode: 'data:,', readableCode: 'ABCD', deepLink: 'bank://1' },
      expiresAt: clock.now() + HOUR,
    })
    const { response, isNew } = await payments.chargeOrFind(order, keyed)
    expect(isNew).toBe(true)
    const report = (status: PaymentStatus, more = {}) =>
      room.webhook({ gatewayTransactionId: 'gateway-1', status, ...more })
    const { status, gateway, reference, transactionId, gatewayTransactionId } = response
    const bare = { status, gateway, reference, transactionId, gatewayTransactionId }
    return { ...room, response, bare, report }
  }

  it.each([keyed, {}])('returns the same charge while it can be paid (%o)', async (context) => {
    const { payments, response } = await charged()
    expect(response).toHaveProperty('redirectUrl')
    const again = await payments.chargeOrFind(order, context)
    expect(again).toStrictEqual({ response, isNew: false })
  })

  it.each([keyed, {}])(
    'is Paid after the payment, with the paid amount and without the page (%o)',
    async (context) => {
      const { payments, bare, report } = await charged()
      const paid = { amount: 20_000, currency: 'IQD' }
      await report('Paid', paid)
      const now = { ...bare, paid }
      expect(await payments.charge(order, context)).toStrictEqual({ ...now, status: 'Paid' })
      await report('Refunded', paid)
      expect(await payments.charge(order, context)).toStrictEqual({ ...now, status: 'Refunded' })
    },
  )

  it('has no page after its page has expired, though the gateway has not reported it', async () => {
    const { payments, clock, bare } = await charged()
    await clock.advance(HOUR)
    expect(await payments.charge(order)).toStrictEqual({ ...bare, status: 'Pending' })
  })

  it.each(['Failed', 'Cancelled', 'Expired'] as const)(
    'is %s with its key, and a new attempt without one',
    async (status) => {
      const { payments, clock, bare, report } = await charged()
      const error = { code: 'payment_failed', rawCode: 'E51', message: 'Not enough money.' }
      const failed = status === 'Failed' && { error }
      await report(status, failed || {})
      expect(await payments.charge(order, keyed)).toStrictEqual({ ...bare, status, ...failed })
      // Ids are ordered by time.
      await clock.advance(1)
      const { response, isNew } = await payments.chargeOrFind(order)
      expect(isNew).toBe(true)
      expect(response.transactionId).not.toBe(bare.transactionId)
    },
  )

  it('is Failed with its key after the gateway refused it, with the reason', async () => {
    const { payments, script } = openRoom()
    const error = { code: 'declined', rawCode: 'E7', message: 'No.' }
    script.charge = () => ({ ok: false, error })
    const refused = await payments.charge(order, keyed).catch((thrown: unknown) => thrown)
    const [failed] = await payments.queries.transactions({}, { limit: 9 })
    expect(refused).toMatchObject({ code: 'gateway_refused', error, transactionId: failed?.id })
    expect(refused).toBeInstanceOf(GatewayUnavailableException)
    expect(await payments.charge(order, keyed)).toStrictEqual({
      ...{ status: 'Failed', gateway: 'bank', reference: 'order-1', transactionId: failed?.id },
      error,
    })
  })

  it('fails each time while its gateway returns no page, until our own check settles it', async () => {
    const room = openRoom()
    const { payments, script, clock, charged: calls } = room
    script.charge = () => {
      throw new GatewayUnavailableException('It is there.', { gatewayTransactionId: 'gateway-1' })
    }
    const failure = (context = {}) =>
      payments.charge(order, context).then(
        () => expect.fail('the charge succeeded'),
        (error: GatewayUnavailableException) => error,
      )
    const first = await failure()
    const { transactionId = '', retryAfterMs = 0 } = first
    expect(first).toMatchObject({
      name: 'GatewayUnavailableException',
      code: 'gateway_unavailable',
    })
    for (let again = 0; again < 3; again++) {
      expect(await failure()).toMatchObject({ transactionId, code: 'gateway_unavailable' })
    }
    expect(calls).toHaveLength(1)
    const story = await payments.queries.story(transactionId)
    expect(story?.transaction).toMatchObject({
      status: 'Pending',
      gatewayTransactionId: 'gateway-1',
    })
    // A repetition after the given time gets the result of our check.
    script.status = () => reported('Expired')
    for (let waited = 0; waited + 60_000 < retryAfterMs; waited += 60_000) {
      await clock.advance(60_000)
      await payments.sweeper.sweep()
    }
    await clock.advance(retryAfterMs % 60_000)
    const settled = await payments.queries.story(transactionId)
    expect(settled?.transaction.status).toBe('Expired')
  })
})
