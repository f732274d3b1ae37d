// Status checks that are due, and how they are settled.

import { describe, expect, it } from 'vitest'
import { read } from '../support/readable-queries.ts'
import type { On } from './ledger.ts'
import { HOUR, iso, MINUTE, T0 } from './ledger-world.ts'

const ENDED = ['Paid', 'Failed', 'Cancelled', 'Expired', 'Refunded', 'PartiallyRefunded'] as const

export function checkContract(on: On): void {
  describe('a check', () => {
    it(
      'can be claimed when it is due, once until its next time',
      on(async (w) => {
        const transaction = await w.charged()
        const due = T0 + 5 * MINUTE
        const claim = { until: due + MINUTE, limit: 9 }
        expect(await w.ledger.claimChecks({ ...claim, now: due - 1 })).toEqual([])
        expect(await w.ledger.claimChecks({ ...claim, now: due })).toEqual([
          { transaction, request: w.start().request, isUnsent: false },
        ])
        expect(await w.ledger.claimChecks({ ...claim, now: due })).toEqual([])
        const again = { now: due + MINUTE, until: due + HOUR, limit: 9 }
        expect(await w.ledger.claimChecks(again)).toHaveLength(1)
      }),
    )

    it(
      'of one payment can be claimed before it is due, and the sweeper does not claim it meanwhile',
      on(async (w) => {
        const transaction = await w.charged()
        const now = T0 + 1_000
        const claim = { transactionId: transaction.id, now, until: T0 + HOUR }
        expect(await w.ledger.claimCheck(claim)).toEqual({
          state: 'claimed',
          check: { transaction, request: w.start().request, isUnsent: false },
        })
        const due = { until: T0 + 9 * HOUR, limit: 9 }
        expect(await w.ledger.claimChecks({ ...due, now: T0 + HOUR - 1 })).toEqual([])
        expect(await w.ledger.claimChecks({ ...due, now: T0 + HOUR })).toHaveLength(1)
      }),
    )

    it(
      'of a payment with a final status can be claimed, and is not due afterwards',
      on(async (w) => {
        const transaction = await w.reached('Failed')
        const claim = { transactionId: transaction.id, now: T0 + HOUR, until: T0 + 2 * HOUR }
        expect(await w.ledger.claimCheck(claim)).toMatchObject({ state: 'claimed' })
        expect(await w.ledger.claimChecks({ now: T0 + 9 * HOUR, until: 0, limit: 9 })).toEqual([])
      }),
    )

    it(
      'of one payment is refused while its charge is under way, or if there is no payment',
      on(async (w) => {
        const until = T0 + MINUTE
        const { id: transactionId } = await w.pending({ until })
        const claim = { transactionId, now: until - 1, until: T0 + HOUR }
        expect(await w.ledger.claimCheck(claim)).toMatchObject({ state: 'in_progress' })
        expect(await w.ledger.claimCheck({ ...claim, now: until })).toMatchObject({
          state: 'claimed',
        })
        expect(await w.ledger.claimCheck({ ...claim, transactionId: '01NOBODY' })).toEqual({
          state: 'unknown_transaction',
        })
      }),
    )

    it(
      'is claimed up to the limit',
      on(async (w) => {
        for (const reference of ['a', 'b', 'c']) await w.charged({ request: { reference } })
        const claim = { now: T0 + HOUR, until: T0 + 2 * HOUR, limit: 2 }
        const first = await w.ledger.claimChecks(claim)
        const rest = await w.ledger.claimChecks(claim)
        expect([first.length, rest.length]).toEqual([2, 1])
        const ids = [...first, ...rest].map((check) => read(check).transaction.id)
        expect(new Set(ids).size).toBe(3)
      }),
    )

    it(
      'is due soon after a stale event for a Pending payment',
      on(async (w) => {
        const transaction = await w.charged()
        const names = {
          gatewayTransactionId: transaction.gatewayTransactionId ?? '',
          reference: 'order-1',
        }
        const claim = { now: T0 + 2_000, until: T0 + HOUR, limit: 9 }
        await w.ledger.checkSoon('fib', names, T0 + 2_000)
        await w.ledger.checkSoon('redirect', { ...names, gatewayTransactionId: 'x' }, T0 + 2_000)
        expect(await w.ledger.claimChecks(claim)).toEqual([])
        await w.ledger.checkSoon('redirect', names, T0 + 2_000)
        expect(await w.ledger.claimChecks(claim)).toHaveLength(1)
      }),
    )

    it(
      'is due soon after a stale event for a payment with a final status, unless it is Refunded',
      on(async (w) => {
        const due: string[] = []
        for (const status of ENDED) {
          const transaction = await w.reached(status, { request: { reference: status } })
          const gatewayTransactionId = transaction.gatewayTransactionId ?? ''
          const claim = { now: T0 + 9 * HOUR, until: T0 + 9 * HOUR + MINUTE, limit: 9 }
          expect(await w.ledger.claimChecks(claim)).toEqual([])
          const names = { gatewayTransactionId, reference: '' }
          await w.ledger.checkSoon('redirect', names, T0 + 9 * HOUR)
          const checks = await w.ledger.claimChecks(claim)
          due.push(...checks.map((check) => read(check).transaction.status))
          await w.ledger.settleCheck({ transactionId: transaction.id, now: T0 + 9 * HOUR })
          expect(await w.ledger.claimChecks({ ...claim, now: claim.until })).toEqual([])
        }
        expect(due).toEqual(ENDED.filter((status) => status !== 'Refunded'))
      }),
    )

    it(
      'of a payment with a final status is due again unless the status has changed',
      on(async (w) => {
        const transaction = await w.reached('Failed')
        const { id: transactionId, gatewayTransactionId = '' } = transaction
        const at = T0 + HOUR
        const until = at + HOUR
        await w.ledger.checkSoon('redirect', { gatewayTransactionId, reference: '' }, at)
        await w.ledger.claimChecks({ now: at, until, limit: 9 })
        const settled = { transactionId, now: at, nextCheckAt: at + MINUTE }
        await w.ledger.settleCheck({ ...settled, whileStill: 'Failed' })
        const again = { now: at + MINUTE, until, limit: 9 }
        expect(await w.ledger.claimChecks(again)).toHaveLength(1)
        await w.ledger.settleCheck({ ...settled, whileStill: 'Pending' })
        expect(await w.ledger.claimChecks({ ...again, now: until })).toEqual([])
      }),
    )

    it(
      'is due at once after a refund that arrives before its payment, and after the payment',
      on(async (w) => {
        const transaction = await w.charged()
        const claim = { until: T0 + HOUR, limit: 9 }
        const early = await w.webhook(transaction, { status: 'Refunded', receivedAt: T0 + 2_000 })
        expect(early.outcome).toBe('illegal')
        expect(await w.ledger.claimChecks({ ...claim, now: T0 + 2_000 })).toMatchObject([
          { transaction: { status: 'Pending' } },
        ])
        await w.webhook(transaction, { receivedAt: T0 + 3_000 })
        expect(await w.ledger.claimChecks({ ...claim, now: T0 + 3_000 })).toMatchObject([
          { transaction: { status: 'Paid' } },
        ])
        const { id: transactionId } = transaction
        const again = T0 + 4_000
        await w.ledger.settleCheck({ transactionId, now: T0 + 3_000, nextCheckAt: again })
        expect(await w.ledger.claimChecks({ ...claim, now: again })).toHaveLength(1)
        await w.webhook(transaction, { status: 'Refunded', receivedAt: T0 + 5_000 })
        expect(await w.ledger.claimChecks({ ...claim, now: T0 + HOUR })).toEqual([])
      }),
    )

    it(
      'contains the refund under way',
      on(async (w) => {
        const transaction = await w.reached('Paid')
        const refundId = await w.claimed(transaction, { amount: 4_000 })
        const refund = { id: refundId, amount: 4_000, createdAt: T0 + 20_000, isAccepted: false }
        const until = T0 + 2 * HOUR
        const claim = { until, limit: 9 }
        const early = { ...claim, now: T0 + 20_000 + MINUTE - 1 }
        expect(await w.ledger.claimChecks(early)).toEqual([])
        const checks = await w.ledger.claimChecks({ ...claim, now: T0 + 20_000 + MINUTE })
        expect(checks).toMatchObject([{ transaction: { id: transaction.id }, refund }])
        await w.endRefund(refundId, { kind: 'accepted', nextCheckAt: T0 + HOUR })
        expect(await w.ledger.claimChecks({ ...claim, now: T0 + HOUR - 1 })).toEqual([])
        expect(await w.ledger.claimChecks({ ...claim, now: T0 + HOUR })).toMatchObject([
          { refund: { ...refund, isAccepted: true } },
        ])
      }),
    )

    it(
      'is settled until its next time, or for good',
      on(async (w) => {
        const transaction = await w.charged()
        const transactionId = transaction.id
        const at = T0 + HOUR
        const until = T0 + 9 * HOUR
        await w.ledger.claimChecks({ now: at, until, limit: 9 })
        await w.ledger.settleCheck({ transactionId, now: at, nextCheckAt: at + MINUTE })
        expect(await w.ledger.claimChecks({ now: at + MINUTE - 1, until, limit: 9 })).toEqual([])
        expect(await w.ledger.claimChecks({ now: at + MINUTE, until, limit: 9 })).toHaveLength(1)
        await w.ledger.settleCheck({ transactionId, now: at + MINUTE })
        expect(await w.ledger.claimChecks({ now: until, until, limit: 9 })).toEqual([])
      }),
    )

    it(
      'raises an alert once for each kind and payment',
      on(async (w) => {
        const transaction = await w.charged()
        const transactionId = transaction.id
        const alert = { kind: 'unsettled', detail: { gatewayStatus: 'Pending' } } as const
        await w.ledger.settleCheck({ transactionId, now: T0 + HOUR, alert })
        await w.ledger.settleCheck({ transactionId, now: T0 + 2 * HOUR, alert })
        const [raised, ...more] = await w.queries.alerts({}, { limit: 9 })
        expect(more).toEqual([])
        expect(raised).toMatchObject({
          kind: 'unsettled',
          gateway: 'redirect',
          transactionId,
          detail: { gatewayStatus: 'Pending' },
          createdAt: iso(T0 + HOUR),
        })
      }),
    )

    it(
      'can give up a refund that was never made, so that it can be requested again',
      on(async (w) => {
        const transaction = await w.reached('Paid')
        const refundId = await w.claimed(transaction, { amount: 4_000 })
        const error = { code: 'not_refunded', message: 'The gateway knows of none.' }
        const settled = { transactionId: transaction.id, givenUp: { refundId, error } }
        await w.ledger.settleCheck({ ...settled, now: T0 + HOUR })
        expect((await w.story(transaction)).refunds).toMatchObject([{ status: 'failed', error }])
        expect((await w.refund(transaction, { amount: 4_000 })).state).toBe('begun')
      }),
    )

    it(
      'gives up no other refund than the checked one',
      on(async (w) => {
        const transaction = await w.reached('Paid')
        const refundId = await w.claimed(transaction)
        const error = { code: 'not_refunded', message: 'The gateway knows of none.' }
        // During the check the refund fails, and is requested again.
        await w.endRefund(refundId, { kind: 'refused', error })
        await w.claimed(transaction)
        const settled = { transactionId: transaction.id, givenUp: { refundId, error } }
        await w.ledger.settleCheck({ ...settled, now: T0 + HOUR, nextCheckAt: T0 + 2 * HOUR })
        const { refunds } = await w.story(transaction)
        expect(refunds.map(({ status }) => status)).toEqual(['failed', 'claimed'])
      }),
    )
  })
}
