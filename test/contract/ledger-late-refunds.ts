// Refunds of late money: it came after its payment had ended, and the payment keeps its status.

import { describe, expect, it } from 'vitest'
import type { On } from './ledger.ts'
import { ALERTED } from './ledger-fakes.ts'
import { HOUR, iso, T0, type World } from './ledger-world.ts'

/** Ended as `status`, and then paid. */
async function paidLate(w: World, status: 'Failed' | 'Cancelled' | 'Expired' = 'Expired') {
  const ended = await w.reached(status, { request: { reference: `order of ${status}` } })
  await w.webhook(ended, { amount: 20_000 })
  for (const { id, kind } of await w.queries.alerts({}, { limit: 9 })) {
    if (kind === 'amount_mismatch') await w.ledger.acknowledge(id, 'ada', T0)
  }
  w.dispatcher.take()
  return await w.read(ended)
}

const settledAlert = {
  ...{ kind: 'late_payment', acknowledgedBy: 'refund', acknowledgedAt: iso(T0 + 21_000) },
  gatewayReference: 'r-1',
}

export function lateRefundContract(on: On): void {
  describe('a refund of late money', () => {
    for (const status of ['Failed', 'Cancelled', 'Expired'] as const) {
      it(
        `keeps ${status}, stores what was paid and refunded, and settles the alert with an event`,
        on(async (w) => {
          const late = await paidLate(w, status)
          const refundId = await w.claimed(late, { fullOnly: true })
          const { transaction, pending } = await w.endRefund(refundId, {
            ...{ kind: 'done', gatewayRefundId: 'r-1' },
          })
          const paid = { amount: 20_000, currency: 'IQD' }
          expect(transaction).toMatchObject({ status, paid, refundedAmount: 20_000 })
          expect(transaction).not.toHaveProperty('alert')
          expect(pending).toMatchObject([
            { type: 'AlertSettled', payload: { alert: settledAlert, transaction } },
          ])
          const { alerts, events } = await w.story(late)
          expect(alerts.find(({ kind }) => kind === 'late_payment')).toMatchObject(settledAlert)
          expect(events.map(({ type }) => type)).not.toContain('PaymentRefunded')

          const report = await w.webhook(late, { status: 'Refunded', amount: 20_000 })
          expect(report).toMatchObject({ outcome: 'unchanged', pending: [] })
          expect(await w.read(late)).toEqual(transaction)
          const again = await w.refund(late, { fullOnly: true })
          expect(again).toEqual({ state: 'not_refundable', status })
        }, ALERTED),
      )
    }

    it(
      'that the gateway reports before it answers is settled by the report',
      on(async (w) => {
        const late = await paidLate(w)
        const refundId = await w.claimed(late, { amount: 20_000 })
        await w.endRefund(refundId, { kind: 'accepted', nextCheckAt: T0 + HOUR })
        expect(await w.read(late)).toMatchObject({ alert: { kind: 'late_payment' } })
        const report = await w.webhook(late, { status: 'Refunded', amount: 20_000 })
        expect(report).toMatchObject({
          outcome: 'unchanged',
          pending: [{ type: 'AlertSettled', payload: { alert: { kind: 'late_payment' } } }],
        })
        const { refunds, transaction } = await w.story(late)
        expect(refunds).toMatchObject([{ status: 'succeeded' }])
        expect(transaction).toMatchObject({ status: 'Expired', refundedAmount: 20_000 })
        expect((await w.endRefund(refundId, { kind: 'done' })).pending).toEqual([])
      }, ALERTED),
    )

    it(
      'of a part leaves the alert open until the rest is refunded, and never gives more back',
      on(async (w) => {
        const late = await paidLate(w)
        const first = await w.claimed(late, { amount: 5_000, idempotencyKey: 'z' })
        const part = await w.endRefund(first, { kind: 'done' })
        expect(part).toMatchObject({
          transaction: { refundedAmount: 5_000, alert: { kind: 'late_payment' } },
          pending: [],
        })
        expect(await w.refund(late, { amount: 15_001 })).toMatchObject({ state: 'too_much' })
        const second = await w.claimed(late, { amount: 15_000, idempotencyKey: 'a' })
        const rest = await w.endRefund(second, { kind: 'done' })
        expect(rest).toMatchObject({
          transaction: { refundedAmount: 20_000 },
          pending: [{ payload: { alert: { gatewayReference: second } } }],
        })
        expect(await w.alerts()).toEqual([])
      }, ALERTED),
    )

    it(
      'that is refused changes nothing, and is not possible once a person has settled the alert',
      on(async (w) => {
        const late = await paidLate(w)
        const error = { code: 'no', message: 'No.' }
        const refundId = await w.claimed(late, { amount: 20_000 })
        await w.endRefund(refundId, { kind: 'refused', error })
        expect(await w.alerts()).toEqual(['late_payment'])
        const { alert } = await w.read(late)
        const settling = w.ledger.acknowledge(alert?.id ?? '', 'ada', T0 + HOUR, 'bank-7')
        expect(await settling).toBe(true)
        expect(w.dispatcher.take()).toMatchObject([
          {
            type: 'AlertSettled',
            payload: { alert: { acknowledgedBy: 'ada', gatewayReference: 'bank-7' } },
          },
        ])
        const now = await w.refund(late, { amount: 20_000 })
        expect(now).toEqual({ state: 'not_refundable', status: 'Expired' })
      }, ALERTED),
    )
  })
}
