// A refund in the ledger: it is claimed before its gateway is called, and ends with the answer.

import type { Payment } from '../domain/payment.ts'
import {
  beginRefund as decideBegin,
  finishRefund as decideFinish,
  type RefundEnd,
  type RefundRefusal,
  type RefundStart,
} from '../domain/refund.ts'
import type { TransactionRow } from '../domain/rows.ts'
import type { RefundBegun } from './ledger.ts'
import { changesInOrder, type Keys, type Operation, type Rules } from './operation.ts'
import { toTransaction } from './read-rows.ts'
import type { WorkingSet } from './working-set.ts'

/**
 * `mayCall`: whether the gateway may be called. If not, nothing is claimed; undefined: the refund
 * could be made. An impossible one is refused in any case.
 */
export function beginRefund(
  start: RefundStart,
  mayCall: boolean,
): Operation<RefundBegun | undefined> {
  return {
    keys: keysOf(start),
    decide(rows) {
      const begun = decideBegin(paymentOf(rows, start), start)
      if (begun.state !== 'begun') return { answer: toRefused(begun) }
      if (!mayCall) return { answer: undefined }
      const { payment, refund } = begun
      const transaction = toTransaction({ ...payment.transaction })
      return {
        answer: { state: 'begun', transaction, amount: refund.amount },
        changes: { transactions: [payment.transaction], refunds: [refund] },
      }
    },
  }
}

const keysOf = ({ gateway, transactionId }: RefundStart): Keys => ({
  payments: [{ id: transactionId }, { gateway, gateway_transaction_id: transactionId }],
})

/** By our id or by the gateway's, within the gateway. */
function paymentOf(rows: WorkingSet, { gateway, transactionId }: RefundStart): Payment | undefined {
  const ours = rows.all('transactions').filter((row) => row.gateway === gateway)
  const found =
    ours.find(({ id }) => id === transactionId) ??
    ours.find(({ gateway_transaction_id: name }) => name === transactionId)
  return rows.payment(found?.id)
}

const toRefused = (refusal: RefundRefusal): RefundBegun =>
  'transaction' in refusal
    ? { ...refusal, transaction: toTransaction({ ...refusal.transaction }) }
    : refusal

export function finishRefund(end: RefundEnd, rules: Rules): Operation<TransactionRow> {
  const { refundId } = end
  return {
    keys: { refunds: [refundId] },
    decide(rows) {
      const refund = rows.get('refunds', refundId)
      const payment = rows.payment(refund?.transaction_id)
      if (!refund || !payment) throw new Error(`there is no refund ${refundId}`)
      const decision = decideFinish(payment, refund, end)
      const changes = changesInOrder(rows, { before: payment, decision, now: end.now }, rules)
      return { answer: decision.payment.transaction, changes }
    },
  }
}
