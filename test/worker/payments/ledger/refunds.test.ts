// Refunds in the ledger: one at a time, claimed before the gateway is called. And those of late money,
// whose payment keeps its status.

import { describe, expect, it } from 'vitest'
import { ALERTED } from '../../../support/ledger-fakes.ts'
import { HOUR, iso, type LedgerSetup, T0 } from '../../../support/ledger-setup.ts'
import { rivalledSetup } from './memory-ledger.ts'

const failed = { status: 'Paid', alert: 'refund_failed' } as const

/** Expired, and then paid. */
async function paidLate(w: LedgerSetup) {
  const ended = await w.reached('Expired')
  await w.webhook(ended, { amount: 20_000 })
  for (const { id, kind } of await w.queries.alerts({}, { limit: 9 })) {
    if (kind === 'amount_mismatch') await w.ledger.acknowledge({ id, by: 'ada', now: T0 })
  }
  w.deliverer.take()
  return await w.read(ended)
}

describe('a refund', () => {
  it('is claimed before the gateway is called, and changes its payment when it is done', async () => {
    const w = rivalledSetup()
    const transaction = await w.reached('Paid')
    const start = w.refundStart(transaction, { amount: 4_000 })
    const begun = await w.ledger.beginRefund(start)
    expect(begun).toEqual({ state: 'begun', transaction, amount: 4_000 })
    expect((await w.story(transaction)).refunds).toEqual([
      {
        id: start.id,
        amount: 4_000,
        reason: 'Returned',
        status: 'claimed',
        correlationId: 'correlation-3',
        createdAt: iso(start.now),
        updatedAt: iso(start.now),
      },
    ])
    const finished = await w.endRefund(start.id, { kind: 'done', gatewayRefundId: 'r-1' })
    expect(finished).toMatchObject({
      transaction: { status: 'PartiallyRefunded', refundedAmount: 4_000 },
      pending: [{ outboxId: start.id, type: 'PaymentRefunded', correlationId: 'correlation-3' }],
    })
    const story = await w.story(transaction)
    expect(story.transaction).toEqual(finished.transaction)
    expect(story.refunds).toMatchObject([{ status: 'succeeded', gatewayRefundId: 'r-1' }])
    expect(story.events.at(-1)).toMatchObject({
      id: start.id,
      type: 'PaymentRefunded',
      payload: { transaction: finished.transaction },
    })
  })

  it('finds its payment by the gateway’s id, at that gateway only', async () => {
    const w = rivalledSetup()
    const transaction = await w.reached('Paid')
    const transactionId = transaction.gatewayTransactionId ?? ''
    expect(await w.refund(transaction, { transactionId, gateway: 'fib' })).toEqual({
      state: 'unknown_transaction',
    })
    expect(await w.refund(transaction, { gateway: 'fib' })).toEqual({
      state: 'unknown_transaction',
    })
    expect(await w.refund(transaction, { transactionId: 'nobody' })).toEqual({
      state: 'unknown_transaction',
    })
    expect(await w.refund(transaction, { transactionId })).toMatchObject({
      state: 'begun',
      transaction: { id: transaction.id },
    })
  })

  it('is made once for fifty calls at the same time', async () => {
    const w = rivalledSetup()
    const transaction = await w.reached('Paid')
    const all = await Promise.all(
      Array.from({ length: 50 }, () => w.refund(transaction, { amount: 100 })),
    )
    const states = all.map(({ state }) => state)
    expect(states.filter((state) => state === 'begun')).toHaveLength(1)
    expect(states.filter((state) => state === 'in_progress')).toHaveLength(49)
    expect((await w.story(transaction)).refunds).toHaveLength(1)
  })

  it('is not begun while the gateway’s circuit is open', async () => {
    const w = rivalledSetup()
    const transaction = await w.reached('Paid')
    w.mayCall = false
    expect(await w.refund(transaction)).toEqual({ state: 'not_admitted' })
    expect((await w.story(transaction)).refunds).toEqual([])
  })

  it('that failed is found by our id and by the gateway’s', async () => {
    const w = rivalledSetup()
    const transaction = await w.reached('Paid')
    const first = await w.claimed(transaction, { amount: 4_000 })
    await w.webhook(transaction, { ...failed, refundId: first })
    const second = await w.claimed(transaction, { amount: 4_000 })
    const accepted = { kind: 'accepted', gatewayRefundId: 're-2', nextCheckAt: T0 } as const
    await w.endRefund(second, accepted)
    await w.webhook(transaction, { ...failed, refundId: 're-2' })
    const { refunds } = await w.story(transaction)
    expect(refunds.map(({ status }) => status)).toEqual(['failed', 'failed'])
  })
})

describe('a refund of late money', () => {
  it('that the gateway reports before it answers is settled by the report', async () => {
    const w = rivalledSetup(ALERTED)
    const late = await paidLate(w)
    const refundId = await w.claimed(late, { amount: 20_000 })
    await w.endRefund(refundId, { kind: 'accepted', nextCheckAt: T0 + HOUR })
    expect(await w.read(late)).toMatchObject({ alert: { kind: 'late_payment' } })
    const report = await w.webhook(late, { status: 'Refunded', amount: 20_000 })
    expect(report).toMatchObject({
      outcome: 'unchanged',
      pending: [
        { type: 'RefundAmountChanged', payload: { previousRefundedAmount: 0 } },
        { type: 'AlertSettled', payload: { alert: { kind: 'late_payment' } } },
      ],
    })
    const { refunds, transaction } = await w.story(late)
    expect(refunds).toMatchObject([{ status: 'succeeded' }])
    expect(transaction).toMatchObject({ status: 'Expired', refundedAmount: 20_000 })
    expect((await w.endRefund(refundId, { kind: 'done' })).pending).toEqual([])
  })

  it('of a part leaves the alert open until the rest is refunded, and never gives more back', async () => {
    const w = rivalledSetup(ALERTED)
    const late = await paidLate(w)
    const first = await w.claimed(late, { amount: 5_000, idempotencyKey: 'z' })
    const part = await w.endRefund(first, { kind: 'done' })
    expect(part).toMatchObject({
      transaction: { refundedAmount: 5_000, alert: { kind: 'late_payment' } },
      pending: [{ type: 'RefundAmountChanged' }],
    })
    expect(await w.refund(late, { amount: 15_001 })).toMatchObject({ state: 'too_much' })
    const second = await w.claimed(late, { amount: 15_000, idempotencyKey: 'a' })
    const rest = await w.endRefund(second, { kind: 'done' })
    expect(rest).toMatchObject({
      transaction: { refundedAmount: 20_000 },
      pending: [
        { payload: { previousRefundedAmount: 5_000, transaction: { refundRevision: 2 } } },
        { payload: { alert: { gatewayReference: second } } },
      ],
    })
    expect(await w.alerts()).toEqual([])
  })
})
