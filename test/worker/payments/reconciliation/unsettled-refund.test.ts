// The sweeper settles refunds whose results are not known.

import { describe, expect, it } from 'vitest'
import type { AnyGateway } from '../../../../worker/payments/gateways/gateway.ts'
import { DAY, HOUR, MINUTE, reports, setUpSweep, silent } from './sweep-setup.ts'

const LISTED = reports('Paid', {
  refunds: { readAt: 0, refunds: [{ amount: 25_000, status: 'accepted' }] },
} as object)

describe('a refund under way', () => {
  /** A paid payment with a refund whose answer was lost, or that the gateway makes later. */
  async function refunding(
    gateway: Partial<AnyGateway>,
    kind: 'unknown' | 'accepted',
    { amount = 25_000, isLate = false } = {},
  ) {
    const made = setUpSweep({ gateway })
    const id = await made.charge()
    if (isLate) await made.webhook(id, 'Expired')
    await made.webhook(id, 'Paid')
    await made.quiet()
    const begin = (refundId: string) => {
      const now = made.clock.now()
      return made.ledger.beginRefund({
        id: refundId,
        gateway: 'bank',
        transactionId: id,
        amount,
        reason: 'returned',
        fullOnly: false,
        requestHash: 'r',
        mayCall: true,
        now,
        until: now + 90_000,
      })
    }
    await begin('r-1')
    const now = made.clock.now()
    const result = { kind, nextCheckAt: now + 5 * MINUTE }
    await made.ledger.finishRefund({ refundId: 'r-1', now, result })
    const refund = async () => (await made.story(id)).refunds[0]
    return { ...made, id, refund, begin }
  }

  it.each(['unknown', 'accepted'] as const)(
    'that is %s succeeds when the gateway reports it',
    async (kind) => {
      const { pass, story, id, refund, moves } = await refunding(reports('Refunded'), kind)
      await pass(6 * MINUTE)
      expect((await story(id)).transaction).toMatchObject({
        status: 'Refunded',
        refundedAmount: 25_000,
      })
      expect(await refund()).toMatchObject({ status: 'succeeded' })
      expect(moves()).toEqual(['PaymentSucceeded', 'PaymentRefunded'])
    },
  )

  it('for a part of the payment succeeds when the gateway reports it', async () => {
    const gateway = reports('PartiallyRefunded', { amount: 10_000 } as object)
    const { pass, story, id, refund } = await refunding(gateway, 'unknown', { amount: 10_000 })
    await pass(6 * MINUTE)
    const partial = { status: 'PartiallyRefunded', refundedAmount: 10_000 }
    expect((await story(id)).transaction).toMatchObject(partial)
    expect(await refund()).toMatchObject({ status: 'succeeded' })
  })

  it('of late money succeeds when the gateway reports it, after days too, without another alert', async () => {
    let there = reports('Paid')
    const gateway = { checkStatus: () => there.checkStatus() }
    const { pass, story, id, refund } = await refunding(gateway, 'accepted', { isLate: true })
    await pass(3 * DAY)
    expect(await refund()).toMatchObject({ status: 'accepted' })
    there = reports('Refunded')
    await pass(2 * DAY)
    expect(await refund()).toMatchObject({ status: 'succeeded' })
    const { transaction, alerts } = await story(id)
    expect(transaction).toMatchObject({ status: 'Expired', refundedAmount: 25_000 })
    expect(alerts).toMatchObject([{ kind: 'late_payment', acknowledgedBy: 'refund' }])
  })

  it('of late money is given up as any other, and can be asked for again', async () => {
    const made = await refunding(reports('Paid'), 'unknown', { isLate: true })
    await made.pass(DAY + 2 * MINUTE)
    expect(await made.refund()).toMatchObject({ error: { code: 'outcome_unknown' } })
    const { transaction, alerts } = await made.story(made.id)
    expect(transaction.alert).toMatchObject({ kind: 'late_payment' })
    expect(alerts.map(({ kind }) => kind)).toEqual(['late_payment', 'refund_unsettled'])
  })

  it('is given up if its result is unknown and the payment is still Paid after a day', async () => {
    const { pass, story, id, refund } = await refunding(reports('Paid'), 'unknown')
    await pass(DAY - MINUTE)
    expect(await refund()).toMatchObject({ status: 'claimed' })
    await pass(3 * MINUTE)
    expect(await refund()).toMatchObject({ status: 'failed', error: { code: 'outcome_unknown' } })
    const { alerts, transaction } = await story(id)
    const detail = { refundId: 'r-1', amount: 25_000, currency: 'IQD', gatewayStatus: 'Paid' }
    expect(alerts).toMatchObject([{ kind: 'refund_unsettled', detail }])
    expect(transaction.status).toBe('Paid')
  })

  it('that its bank no longer lists raises an alert within hours, and is given up after a day', async () => {
    const dropped = reports('Paid', { refunds: { readAt: 0, refunds: [] } } as object)
    const { pass, story, id, refund, begin } = await refunding(dropped, 'accepted')
    await pass(HOUR - MINUTE)
    expect((await story(id)).alerts).toEqual([])
    await pass(2 * HOUR)
    const detail = { refundId: 'r-1', amount: 25_000, gatewayStatus: 'Paid' }
    expect((await story(id)).alerts).toMatchObject([{ kind: 'refund_unsettled', detail }])
    expect(await refund()).toMatchObject({ status: 'accepted' })
    expect(await begin('r-2')).toMatchObject({ state: 'in_progress' })
    await pass(DAY)
    expect(await refund()).toMatchObject({ status: 'failed', error: { code: 'refund_cancelled' } })
    expect((await story(id)).alerts).toHaveLength(1)
    expect(await begin('r-2')).toMatchObject({ state: 'begun' })
  })

  it('that its bank makes after it was given up is counted once', async () => {
    let made = false
    const { pass, story, id, clock, stale } = await refunding(
      {
        checkStatus: async () => {
          const refunds = made ? [{ amount: 25_000, status: 'succeeded' as const }] : []
          const set = { refunds: { readAt: clock.now(), refunds } }
          return await reports(made ? 'Refunded' : 'Paid', set as object).checkStatus()
        },
      },
      'accepted',
    )
    await pass(2 * DAY)
    made = true
    for (let times = 0; times < 2; times++) {
      await stale(id)
      await pass(2 * MINUTE)
    }
    const { transaction, refunds } = await story(id)
    expect(transaction).toMatchObject({ status: 'Refunded', refundedAmount: 25_000 })
    expect(refunds.map(({ status }) => status)).toEqual(['failed', 'succeeded'])
  })

  it.each([
    ['that was accepted', 'accepted', reports('Paid')],
    ['whose result is unknown', 'unknown', silent],
    ['that its bank lists', 'unknown', LISTED],
    ['of a payment that is Pending at the gateway', 'unknown', reports('Pending')],
  ] as const)(
    '%s is not given up, and raises an alert after days',
    async (_what, kind, gateway) => {
      const { pass, story, id, refund } = await refunding(gateway, kind)
      await pass(3 * DAY)
      expect((await story(id)).alerts).toEqual([])
      await pass(4 * DAY)
      const isAccepted = kind === 'accepted' || gateway === LISTED
      expect((await refund())?.status).toBe(isAccepted ? 'accepted' : 'claimed')
      expect((await story(id)).alerts).toMatchObject([{ kind: 'refund_unsettled' }])
    },
  )
})
