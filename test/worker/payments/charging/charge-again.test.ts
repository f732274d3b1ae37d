import { describe, expect, it } from 'vitest'
import { storyOf } from '../../../../worker/payments/api/story.ts'
import { GatewayUnavailableException } from '../../../../worker/payments/domain/exceptions.ts'
import type { PaymentStatus } from '../../../../worker/payments/domain/status.ts'
import { request } from '../../../support/payments.ts'
import { reported, setUpPayments } from '../../../support/payments-setup.ts'

const order = request()

describe('a repeated charge', () => {
  const HOUR = 3_600_000
  const keyed = { idempotencyKey: 'key-1' }

  /** A charge whose payment page expires in an hour. */
  async function charged() {
    const setup = setUpPayments()
    const { payments, script, clock, charged } = setup
    script.charge = () => ({
      ok: true,
      gatewayTransactionId: `gateway-${charged.length}`,
      redirectUrl: 'https://bank.example/pay',
      qrCode: 'data:,',
      readableCode: 'ABCD',
      deepLink: 'bank://1',
      expiresAt: clock.now() + HOUR,
    })
    const { response, isNew } = await payments.chargeOrFind(order, keyed)
    expect(isNew).toBe(true)
    const report = (status: PaymentStatus, more = {}) =>
      setup.webhook({ gatewayTransactionId: 'gateway-1', status, ...more })
    const { status, gateway, reference, transactionId, gatewayTransactionId } = response
    const bare = { status, gateway, reference, transactionId, gatewayTransactionId }
    return { ...setup, response, bare, report }
  }

  it.each([keyed, {}])('returns the same charge while it can be paid (%o)', async (context) => {
    const { payments, response, charged: calls } = await charged()
    expect(response).toHaveProperty('redirectUrl')
    const again = await payments.chargeOrFind(order, context)
    expect(again).toStrictEqual({ response, isNew: false })
    expect(calls).toHaveLength(1)
  })

  it.each([keyed, {}])(
    'is Paid after the payment, with the paid amount and without the page (%o)',
    async (context) => {
      const { payments, bare, report } = await charged()
      const paid = { amount: 20_000, currency: 'IQD' }
      await report('Paid', paid)
      const alert = { id: expect.any(String), kind: 'amount_mismatch' }
      const now = { ...bare, paid, alert }
      expect(await payments.charge(order, context)).toStrictEqual({ ...now, status: 'Paid' })
      await report('Refunded', paid)
      expect(await payments.charge(order, context)).toStrictEqual({ ...now, status: 'Refunded' })
    },
  )

  it('names the late money of an earlier attempt, so that nobody is asked to pay twice', async () => {
    const { payments, transactionId, report } = await charged().then((c) => ({ ...c, ...c.bare }))
    await report('Expired')
    await report('Paid', { eventId: 'late' })
    const late = (await payments.queries.story(transactionId))?.transaction.alert
    expect(late).toMatchObject({ kind: 'late_payment' })
    for (const isNew of [true, false]) {
      const again = await payments.chargeOrFind(order)
      expect(again).toMatchObject({ isNew, response: { status: 'Pending', alert: late } })
    }
    await payments.ledger.acknowledge({ id: late?.id ?? '', by: 'ada', now: 1 })
    expect(await payments.charge(order)).not.toHaveProperty('alert')
  })

  it('says that its page has expired, though the gateway has not reported it', async () => {
    const { payments, clock, bare, report } = await charged()
    await clock.advance(HOUR)
    const stranded = { ...bare, status: 'Pending', isStranded: true }
    expect(await payments.charge(order)).toStrictEqual(stranded)
    const story = await storyOf(payments, bare.transactionId, clock.now())
    expect(story).toMatchObject({ isStranded: true })
    await report('Expired')
    const expired = await payments.charge(order, keyed)
    expect(expired).toStrictEqual({ ...bare, status: 'Expired' })
  })

  describe('with another key', () => {
    const february = { idempotencyKey: 'key-2' }
    const paidBy = { code: 'already_paid', name: 'PaymentConflictException' }

    it('is the open payment, and stays that one for this key', async () => {
      const { payments, response, bare, report } = await charged()
      const found = { response, isNew: false }
      expect(await payments.chargeOrFind(order, february)).toStrictEqual(found)
      expect(await payments.chargeOrFind({ ...order, repeat: true }, february)).toEqual(found)
      await report('Paid')
      const paid = { ...bare, status: 'Paid', paid: { amount: 25_000, currency: 'IQD' } }
      expect(await payments.charge(order, february)).toStrictEqual(paid)
      await expect(payments.charge({ ...order, amount: 1 }, february)).rejects.toMatchObject({
        code: 'idempotency_conflict',
        message: expect.stringMatching(/another amount\.$/),
      })
    })

    it.each(['Paid', 'PartiallyRefunded', 'Refunded'] as const)(
      'is refused if the order is %s, until it is asked for on purpose',
      async (status) => {
        const { payments, clock, script, bare, report } = await charged()
        await report('Paid')
        if (status !== 'Paid') {
          await report(status, { amount: status === 'Refunded' ? 25_000 : 1_000 })
        }
        const { transactionId } = bare
        for (const asked of [order, { ...order, amount: 9 }]) {
          const refused = payments.charge(asked, february)
          await expect(refused).rejects.toMatchObject({ ...paidBy, transactionId })
        }
        expect(await payments.charge(order)).toMatchObject({ status, transactionId })

        await clock.advance(1)
        script.charge = () => ({ ok: true, gatewayTransactionId: 'gateway-2' })
        const asked = { ...order, repeat: true }
        const again = await payments.chargeOrFind(asked, february)
        expect(again).toMatchObject({ isNew: true, response: { status: 'Pending' } })
        expect(again.response.transactionId).not.toBe(transactionId)
        // It is not part of the request: without it, too, the key names this payment.
        for (const request of [asked, order]) {
          const { response } = await payments.chargeOrFind(request, february)
          expect(response.transactionId).toBe(again.response.transactionId)
        }
        expect(await payments.charge(order, keyed)).toMatchObject({ status, transactionId })
      },
    )

    it('needs a key to be another payment: without one, it could not be sent again', async () => {
      const { payments } = await charged()
      await expect(payments.charge({ ...order, repeat: true })).rejects.toMatchObject({
        code: 'invalid_argument',
        message: expect.stringContaining('Idempotency-Key'),
      })
    })
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
    const { payments, script } = setUpPayments()
    const error = { code: 'declined', rawCode: 'E7', message: 'No.' }
    script.charge = () => ({ ok: false, error })
    const refused = await payments.charge(order, keyed).catch((thrown: unknown) => thrown)
    const [failed] = await payments.queries.transactions({}, { limit: 9 })
    expect(refused).toMatchObject({ code: 'gateway_refused', error, transactionId: failed?.id })
    expect(refused).toBeInstanceOf(GatewayUnavailableException)
    expect(await payments.charge(order, keyed)).toStrictEqual({
      status: 'Failed',
      gateway: 'bank',
      reference: 'order-1',
      transactionId: failed?.id,
      error,
    })
  })

  it('fails each time while its gateway returns no page, until our own check settles it', async () => {
    const setup = setUpPayments()
    const { payments, script, clock, charged: calls } = setup
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
