// Refunds that their gateway lists: its list is what is stored, in whatever order it is told.

import { beforeEach, describe, expect, it } from 'vitest'
import type { ReportedRefund, Transaction } from '../../../../worker/payments/domain/types.ts'
import { hostClock } from '../../../../worker/shared/clock.ts'
import { ALERTED, FakeDeliverer } from '../../../support/ledger-fakes.ts'
import { LedgerSetup, T0 } from '../../../support/ledger-setup.ts'
import { sqliteLedger } from '../../../support/sqlite-database.ts'

let w: LedgerSetup
let charged: Transaction
beforeEach(async () => {
  const deliverer = new FakeDeliverer()
  const { ledger, queries } = sqliteLedger({
    subscribers: ALERTED,
    deliver: deliverer.deliver,
    clock: hostClock,
    log: () => undefined,
  })
  w = new LedgerSetup({ ledger, outbox: ledger, queries }, deliverer)
  charged = await w.charged({ request: { amount: 5_000, currency: 'USD' } as never })
})

const made = (id: string, amount: number, own: Partial<ReportedRefund> = {}): ReportedRefund => ({
  id,
  amount,
  status: 'succeeded',
  ...own,
})
const HOUR = 3_600_000
const cancelled = { code: 'refund_cancelled', message: 'The refund was cancelled.' }

/** The gateway's event, for which its list was read at this time. */
const reads = (readAt: number, ...refunds: ReportedRefund[]) => {
  const done = refunds.filter(({ status }) => status === 'succeeded')
  const sum = done.reduce((total, { amount }) => total + amount, 0)
  const status = sum === 0 ? 'Paid' : sum >= 5_000 ? 'Refunded' : 'PartiallyRefunded'
  const set = { readAt: T0 + readAt, refunds }
  return w.webhook(charged, { status, amount: sum === 0 ? 5_000 : sum, refunds: set })
}
const pay = () => w.webhook(charged)
const amounts = async () => {
  const { status, refundedAmount, refundRevision } = await w.read(charged)
  return [status, refundedAmount, refundRevision]
}

describe('refunds that are listed', () => {
  it('before the payment was reported count once it is, and an older list changes nothing', async () => {
    await reads(2, made('re-1', 5_000))
    expect(await amounts()).toEqual(['Pending', 0, 0])
    await pay()
    expect(await amounts()).toEqual(['Refunded', 5_000, 1])
    await reads(1, made('re-0', 2_000))
    expect(await amounts()).toEqual(['Refunded', 5_000, 1])
    expect(await w.eventsOf(charged)).toEqual([
      'PaymentInitiated',
      'PaymentSucceeded',
      'PaymentRefunded',
    ])
  })

  it('and fail raise one alert each, with the amount, the id and who asked', async () => {
    await pay()
    const refundId = await w.claimed(charged, { amount: 1_200, by: 'ada' })
    await w.endRefund(refundId, { kind: 'done', gatewayRefundId: 're-1' })
    for (const readAt of [1, 2]) {
      await reads(readAt, made('re-1', 1_200, { refundId, status: 'failed' }))
    }
    const { alerts } = await w.story(charged)
    const detail = { amount: 1_200, refundId, gatewayRefundId: 're-1', askedBy: 'ada' }
    expect(alerts).toMatchObject([{ kind: 'refund_failed', detail }])
    expect(await amounts()).toEqual(['PartiallyRefunded', 0, 2])
  })

  it('and are cancelled give the money back to the balance, and lock nothing', async () => {
    await pay()
    const first = await w.claimed(charged, { amount: 5_000, idempotencyKey: 'key-1' })
    await w.endRefund(first, { kind: 'accepted', gatewayRefundId: 're-1', nextCheckAt: T0 })
    expect(await w.refund(charged, { amount: 1 })).toMatchObject({ state: 'in_progress' })
    const gone = { refundId: first, status: 'failed', error: cancelled } as const
    await reads(1, made('re-1', 5_000, gone))
    expect(await w.alerts()).toEqual(['refund_failed'])
    const same = await w.refund(charged, { amount: 5_000, idempotencyKey: 'key-1' })
    expect(same).toMatchObject({ state: 'refused', error: { code: 'refund_cancelled' } })
    const again = await w.refund(charged, { amount: 5_000, idempotencyKey: 'key-2' })
    expect(again).toMatchObject({ state: 'begun' })
  })

  it('sum up to what was made, also when one before them has failed', async () => {
    await pay()
    await reads(1, made('re-1', 2_000))
    await reads(3, made('re-1', 2_000, { status: 'failed' }), made('re-2', 3_000))
    await reads(2, made('re-1', 2_000), made('re-2', 3_000))
    expect(await amounts()).toEqual(['PartiallyRefunded', 3_000, 2])
    const { refunds, events } = await w.story(charged)
    expect(refunds.map(({ status }) => status)).toEqual(['failed', 'succeeded'])
    expect(events.at(-1)).toMatchObject({ type: expect.stringMatching(/Alert|RefundAmount/) })
  })

  it('and fail after everything was refunded leave the status, and the rest can be refunded', async () => {
    await pay()
    await reads(1, made('re-1', 5_000))
    await reads(2, made('re-1', 5_000, { status: 'failed' }))
    expect(await amounts()).toEqual(['Refunded', 0, 2])
    const changed = (await w.story(charged)).events.find(
      ({ type }) => type === 'RefundAmountChanged',
    )
    expect(changed?.payload).toMatchObject({
      previousRefundedAmount: 5_000,
      transaction: { status: 'Refunded', refundedAmount: 0, refundRevision: 2 },
    })
    expect(await w.refund(charged, { amount: 5_000 })).toMatchObject({ state: 'begun' })
  })

  it('open the alert of an order that was paid twice again, when the one that settled it fails', async () => {
    await pay()
    const again = await w.reached('Paid', {
      request: { gateway: 'bank', amount: 5_000, currency: 'USD' } as never,
    })
    expect(await w.alerts()).toEqual(['double_payment'])
    await reads(1, made('re-1', 5_000))
    expect(await w.alerts()).toEqual([])
    await reads(2, made('re-1', 5_000, { status: 'failed' }))
    expect((await w.story(again)).alerts).toMatchObject([
      { kind: 'double_payment', transactionId: again.id },
    ])
    expect(new Set(await w.alerts())).toEqual(new Set(['double_payment', 'refund_failed']))
  })

  it('and were begun at the gateway itself are checked until they end', async () => {
    await pay()
    await reads(1, made('re-desk', 2_000, { status: 'accepted' }))
    const due = (ms: number) =>
      w.ledger.claimChecks({ now: T0 + ms, until: T0 + ms + 90_000, limit: 9 })
    expect(await due(HOUR)).toHaveLength(1)
    await reads(2)
    expect(await due(3 * HOUR)).toEqual([])
    expect(await w.refund(charged, { amount: 5_000 })).toMatchObject({ state: 'begun' })
  })

  it('after a refusal are asked for: what was made at the gateway itself gets in', async () => {
    await pay()
    const refundId = await w.claimed(charged, { amount: 5_000 })
    const error = { code: 'gateway_refused', message: 'Too much.' }
    await w.endRefund(refundId, { kind: 'refused', error })
    const due = { now: T0 + 22_000, until: T0 + 90_000, limit: 9 }
    expect(await w.ledger.claimChecks(due)).toMatchObject([{ transaction: { id: charged.id } }])
    await reads(1, made('re-desk', 2_000))
    expect(await w.refund(charged, { amount: 5_000 })).toMatchObject({ left: 3_000 })
    expect(await w.refund(charged, { amount: 3_000 })).toMatchObject({ state: 'begun' })
  })
})
