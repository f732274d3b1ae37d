import { describe, expect, it } from 'vitest'
import { GatewayUnavailableException } from '../../../../worker/payments/domain/exceptions.ts'
import { openRoom } from '../../../support/payments-room.ts'

const order = {
  gateway: 'bank',
  reference: 'order-1',
  amount: 25_000,
  currency: 'IQD',
  description: 'A lamp',
}

describe('a charge that is asked for again', () => {
  const HOUR = 3_600_000
  const keyed = { idempotencyKey: 'key-1' }

  /** Charged, with a page for an hour, and a way to have the gateway tell of it. */
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
    const came = async (status: string, more = {}) => {
      const payload = {
        ...{ gateway: 'bank', gatewayTransactionId: 'gateway-1', reference: '', status },
        ...{ amount: 25_000, currency: 'IQD', eventId: status, occurredAt: clock.now(), raw: '{}' },
        ...more,
      }
      const request = { headers: new Headers(), query: new URLSearchParams(), receivedAt: 0 }
      const body = JSON.stringify(payload)
      await payments.receive('bank', { ...request, body }, 'correlation-2')
    }
    const { status, gateway, reference, transactionId, gatewayTransactionId } = response
    const bare = { status, gateway, reference, transactionId, gatewayTransactionId }
    return { ...room, response, bare, came }
  }

  it.each([keyed, {}])('is the same while it can be paid, and not new (%o)', async (context) => {
    const { payments, response } = await charged()
    expect(response).toHaveProperty('redirectUrl')
    const again = await payments.chargeOrFind(order, context)
    expect(again).toStrictEqual({ response, isNew: false })
  })

  it.each([keyed, {}])(
    'is Paid once it is paid, with what was paid and without the page to pay on (%o)',
    async (context) => {
      const { payments, bare, came } = await charged()
      const paid = { amount: 20_000, currency: 'IQD' }
      await came('Paid', paid)
      const now = { ...bare, paid }
      expect(await payments.charge(order, context)).toStrictEqual({ ...now, status: 'Paid' })
      await came('Refunded', paid)
      expect(await payments.charge(order, context)).toStrictEqual({ ...now, status: 'Refunded' })
    },
  )

  it('has no page when that has expired, though nobody has told so yet', async () => {
    const { payments, clock, bare } = await charged()
    await clock.advance(HOUR)
    expect(await payments.charge(order)).toStrictEqual({ ...bare, status: 'Pending' })
  })

  it.each(['Failed', 'Cancelled', 'Expired'])(
    'is %s by its key, and another attempt without one',
    async (status) => {
      const { payments, clock, bare, came } = await charged()
      const error = { code: 'payment_failed', rawCode: 'E51', message: 'Not enough money.' }
      const failed = status === 'Failed' && { error }
      await came(status, failed || {})
      expect(await payments.charge(order, keyed)).toStrictEqual({ ...bare, status, ...failed })
      // Ids sort by their time.
      await clock.advance(1)
      const { response, isNew } = await payments.chargeOrFind(order)
      expect(isNew).toBe(true)
      expect(response.transactionId).not.toBe(bare.transactionId)
    },
  )

  it('is Failed by its key where the gateway had refused it, with the reason', async () => {
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

  it('is a failure each time while its gateway gives no page, and our own check settles it', async () => {
    const room = openRoom()
    const { payments, script, clock, charged: calls } = room
    script.charge = () => {
      throw new GatewayUnavailableException('It is there.', { gatewayTransactionId: 'gateway-1' })
    }
    const failure = (context = {}) =>
      payments.charge(order, context).then(
        () => expect.fail('it is charged'),
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
    // Whoever comes back when it was told to finds what our check has found.
    script.status = () => ({
      ...{ known: true, status: 'Expired', amount: 25_000, currency: 'IQD', raw: '{}' },
    })
    for (let waited = 0; waited + 60_000 < retryAfterMs; waited += 60_000) {
      await clock.advance(60_000)
      await payments.sweeper.sweep()
    }
    await clock.advance(retryAfterMs % 60_000)
    const settled = await payments.queries.story(transactionId)
    expect(settled?.transaction.status).toBe('Expired')
  })
})
