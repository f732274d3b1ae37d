// What a decision on a payment moves in the books: each movement of what was paid, given back, or
// came back. Pure, but for new ids.

import { capturedIn, refusedPart } from './capture.ts'
import { newId } from './new-id.ts'
import { type Alert, type Decision, type Payment, paidAmount } from './payment.ts'
import type { MovementRow, RefundRow, TransactionRow, WebhookEventRow } from './rows.ts'
import { UNPAID_ENDS } from './status.ts'

/** `event`: the gateway's, with its outcome. Without one, it happened at `now`. */
interface Cause {
  now: number
  event?: WebhookEventRow | undefined
}

type Moved = Pick<MovementRow, 'kind' | 'amount'> & Partial<MovementRow>

/**
 * The movements of one decision. Those of a payment, without `BESIDE_SUMS`, add up to what was paid
 * less what was refunded.
 */
export function movementsOf(
  before: Payment,
  decision: Pick<Decision, 'payment' | 'alerts'>,
  { now, event }: Cause,
): MovementRow[] {
  const { transaction } = decision.payment
  const moved = [
    ...paidOf(before.transaction, transaction),
    ...refundsOf(before, decision.payment),
    ...refusedOf(before, decision, event),
    ...refusedPartOf(before, decision.payment, event),
    ...disputesOf(before, decision.payment),
  ]
  return moved.map((each) => ({
    id: newId(now),
    transaction_id: transaction.id,
    gateway: transaction.gateway,
    refund_id: null,
    currency: transaction.paid_currency ?? transaction.currency,
    booked_at: now,
    occurred_at: event?.occurred_at ?? now,
    estimated: 0,
    ...each,
  }))
}

function paidOf(before: TransactionRow, after: TransactionRow): Moved[] {
  if (after.paid_at === null) return []
  const amount = paidAmount(after) - (before.paid_at === null ? 0 : paidAmount(before))
  const kind = UNPAID_ENDS.includes(after.status) ? 'late_paid' : 'paid'
  return before.paid_at === null || amount > 0 ? [{ kind, amount }] : []
}

/** Refunds of more than was paid count as what was paid. */
function refundsOf(before: Payment, after: Payment): Moved[] {
  if (after.transaction.paid_at === null) return []
  const paid = paidAmount(after.transaction)
  const isFirst = before.transaction.paid_at === null
  const paidBefore = isFirst ? 0 : paidAmount(before.transaction)
  // What was refunded before it was paid counts from now on.
  const known = isFirst ? [] : before.refunds
  const changes = after.refunds
    .map((row) => ({ row, change: made(row) - made(known.find(({ id }) => id === row.id)) }))
    // What came back first: otherwise what replaces it would be more than was paid.
    .toSorted((a, b) => a.change - b.change)
  let sum = known.reduce((total, row) => total + made(row), 0)
  // What had been refunded of more than was paid counts as soon as more was captured.
  const counted = Math.min(paidBefore, sum) - Math.min(paid, sum)
  const last = known.findLast((row) => made(row) > 0)
  const given: Moved[] =
    counted < 0 && last ? [{ kind: 'refunded', amount: counted, refund_id: last.id }] : []
  const moved = changes.flatMap(({ row, change }): Moved[] => {
    const amount = Math.min(paid, sum) - Math.min(paid, sum + change)
    sum += change
    if (amount === 0) return []
    return [{ kind: amount < 0 ? 'refunded' : 'refund_failed', amount, refund_id: row.id }]
  })
  return [...given, ...moved]
}

const made = (row: RefundRow | undefined): number => (row?.status === 'succeeded' ? row.amount : 0)

/** More of a part that was refused; or less, once the payment counts the whole. */
function refusedPartOf(before: Payment, after: Payment, event: WebhookEventRow | undefined) {
  if (!event || capturedIn(event) === undefined) return []
  const amount = refusedPart(after) - refusedPart(before)
  const { currency } = event
  return amount === 0 ? [] : [{ kind: 'refused_paid', amount, currency } satisfies Moved]
}

/** Money that is refused. Reported again, it is the same alert, and no movement. */
function refusedOf(
  before: Payment,
  { alerts }: Pick<Decision, 'alerts'>,
  event: WebhookEventRow | undefined,
): Moved[] {
  if (event?.outcome !== 'rejected') return []
  const { amount, currency } = event
  const isKnown = ({ kind, subject }: Alert) =>
    before.alerts.some((row) => row.kind === kind && row.subject === subject)
  return alerts
    .filter((alert) => alert.kind === 'amount_mismatch' && !isKnown(alert))
    .map(() => ({ kind: 'refused_paid', amount, currency }))
}

/** What banks have taken of each dispute, or of each chargeback, and given back. */
function disputesOf({ disputes: known }: Payment, { disputes }: Payment): Moved[] {
  const changes = disputes.map((row) => {
    const was = known.find(({ id }) => id === row.id)
    const change = row.out_amount - (was?.out_amount ?? 0)
    return { dispute: row.dispute, currency: row.currency, change, isSum: was?.part === null }
  })
  // Where only the sum was known, its parts are not known to have moved.
  const [sums, single] = [
    changes.filter(({ isSum }) => isSum),
    changes.filter(({ isSum }) => !isSum),
  ]
  const merged = sums.map((sum) => {
    const others = single.filter(({ dispute }) => dispute === sum.dispute)
    return { ...sum, change: others.reduce((total, { change }) => total + change, sum.change) }
  })
  const rest = single.filter(({ dispute }) => sums.every((sum) => sum.dispute !== dispute))
  return [...merged, ...rest].flatMap(({ change, currency }): Moved[] =>
    change === 0
      ? []
      : [{ kind: change > 0 ? 'disputed' : 'dispute_returned', amount: change, currency }],
  )
}
