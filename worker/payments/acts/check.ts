// Payments that are checked with their gateways: which are due, and that a check is claimed. What
// follows from the gateway's answer is in answer.ts. Pure.

import { MAX_WAIT_MS, MIN_WAIT_MS } from '../domain/check-times.ts'
import { isCalled, isForeign, type Payment } from '../domain/payment.ts'
import type { TransactionRow } from '../domain/rows.ts'
import { hasCome, isAhead } from '../domain/time.ts'
import { type Act, type AskedBy, byId, type DueClaim, type WorkingSet } from './act.ts'
import { recordAct } from './store.ts'

/**
 * What a clock wrote that ran ahead is due once that is right again: by its own time, a payer who
 * has paid would be kept waiting for as long as it ran ahead. Then it waits as a new payment does.
 * @forTests The SQL that finds such payments is compared with it.
 */
export function isCheckDue(
  { transaction, refunds }: Pick<Payment, 'transaction' | 'refunds'>,
  now: number,
): boolean {
  const { next_check_at: due, created_at, updated_at, last_check_at } = transaction
  const written = [created_at, updated_at, last_check_at, ...refunds.map((it) => it.updated_at)]
  const longestMs = written.some((at) => isAhead(at, now)) ? MIN_WAIT_MS : MAX_WAIT_MS
  return due !== null && hasCome(due, now, longestMs)
}

export interface CheckClaim {
  /** Ours. */
  transactionId: string
  now: number
  until: number
  asked?: AskedBy
}

export type CheckClaimed =
  | { state: 'claimed'; check: Check }
  /** Its gateway is being called to charge it, until then at the latest. */
  | { state: 'in_progress'; until: number }
  | { state: 'unknown_transaction' }
  /** Another installation began it, and this database is a copy. */
  | { state: 'foreign' }

/** One transaction to ask the gateway about. */
export interface Check {
  transaction: TransactionRow
  /** Payments are paused: a charge that was never sent is not sent now. */
  isPaused?: true
}

/**
 * Payments whose check is due. They are due again at `until` if nothing comes of it; those of
 * another installation, which a webhook may have made due, never.
 */
export function claimChecks({ now, until, limit }: DueClaim & { until: number }): Act<Check[]> {
  return {
    keys: [['dueChecks', { now, limit }]],
    decide(rows) {
      const due = rows
        .all('transactions')
        .filter(({ id }) => {
          const payment = rows.payment(id)
          return payment !== undefined && isCheckDue(payment, now)
        })
        .toSorted((a, b) => (a.next_check_at ?? 0) - (b.next_check_at ?? 0) || byId(a, b))
        .slice(0, limit)
      const isTheirs = (row: TransactionRow) => isForeign(row, rows.installation)
      const ours = due.filter((row) => !isTheirs(row))
      const next = (row: TransactionRow) => (isTheirs(row) ? null : until)
      rows.put({ transactions: due.map((row) => ({ ...row, next_check_at: next(row) })) })
      return ours.map((row) => checkOf({ ...row, next_check_at: until }, rows))
    },
  }
}

/** One of them, due or not. */
export function claimCheck({
  transactionId: id,
  now,
  until,
  asked,
}: CheckClaim): Act<CheckClaimed> {
  return {
    keys: [['check', id]],
    decide(rows) {
      const payment = rows.payment(id)
      if (!payment) return { state: 'unknown_transaction' }
      const { transaction } = payment
      if (isForeign(transaction, rows.installation)) return { state: 'foreign' }
      const { called_until: calledUntil } = transaction
      if (calledUntil !== null && isCalled(transaction, now)) {
        return { state: 'in_progress', until: calledUntil }
      }
      // If no check is left, there is none to postpone.
      const next_check_at = transaction.next_check_at === null ? null : until
      const claimed = { ...transaction, next_check_at }
      rows.put({ transactions: [claimed] })
      recordAct(rows, asked, { at: now, action: 'check', transaction_id: id })
      return { state: 'claimed', check: checkOf(claimed, rows) }
    },
  }
}

const checkOf = (transaction: TransactionRow, { pause }: Pick<WorkingSet, 'pause'>): Check => ({
  transaction,
  ...(pause && { isPaused: true }),
})
