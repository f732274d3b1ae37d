// Payments that are checked with their gateways: which are due, that a check is claimed, and what
// follows from the gateway's answer, or from none: another check, or an alert. Pure.

import { alertAbout, unsettledAlert } from '../domain/alerts.ts'
import { MAX_WAIT_MS, MIN_WAIT_MS, nextCheckAt } from '../domain/check-times.ts'
import type { PaymentError } from '../domain/exceptions.ts'
import { isCalled, isUnsent, withPageClosed } from '../domain/open-charge.ts'
import {
  type Alert,
  type Decision,
  isForeign,
  isOfAnother,
  isOpen,
  type Payment,
  refundUnderWay,
  unchanged,
  withCheck,
  withCheckBy,
  withRefund,
  withTransaction,
} from '../domain/payment.ts'
import { areReadLater, refundDetail } from '../domain/refunds.ts'
import type { RefundRow, TransactionRow } from '../domain/rows.ts'
import { DAY_MS, HOUR_MS, hasCome, isAhead, isoTime } from '../domain/time.ts'
import type { Report } from '../domain/types.ts'
import {
  type Act,
  type AskedBy,
  byId,
  type DueClaim,
  paymentIn,
  type Rules,
  type WorkingSet,
} from './act.ts'
import { type Answer, keysOf, type Taken, takeAnswer } from './answer.ts'
import { type UnreadableEvent, unreadableTwice } from './check-soon.ts'
import { recordAudit, store } from './store.ts'

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
      recordAudit(rows, asked, { at: now, action: 'check', transaction_id: id })
      return { state: 'claimed', check: checkOf(claimed, rows) }
    },
  }
}

const checkOf = (transaction: TransactionRow, { pause }: Pick<WorkingSet, 'pause'>): Check => ({
  transaction,
  ...(pause && { isPaused: true }),
})

export interface CheckSettled {
  /** As its check was claimed. */
  asked: TransactionRow
  now: number
  answer?: Answer
  /** Its gateway was asked, and gave none. */
  noAnswer?: 'unknown' | 'unreachable'
  /**
   * It could not be asked: a payment that still has the status that it had is checked again, even
   * if nothing is open any more.
   */
  isUnanswered?: true
  /** The gateway's answer could not be read. */
  unreadable?: UnreadableEvent
}

export interface Settled extends Taken {
  /** That a person should look at it. */
  alert?: 'unsettled' | 'refund_unsettled'
  /** Missing: it is not checked any more. */
  nextCheckAt?: number
}

export function settleCheck(settled: CheckSettled, rules: Rules): Act<Settled> {
  const { asked, answer, now } = settled
  const answered = answer && { asked, answer, now }
  return {
    keys: answered ? keysOf(answered) : [['payment', asked.id]],
    decide(rows) {
      const before = paymentIn(rows, asked.id)
      if (answered && hasIdSince(asked, before)) return checkedSoon(rows, before, now)
      const lost =
        answered && isGivenUp(before)
          ? { ...unchanged(before), alerts: [unsettledAlert(before.transaction, now)] }
          : undefined
      if (lost) store(rows, lost, rules)
      const taken = answered ? takeAnswer(rows, answered, rules) : {}
      // What has changed by it decides when it is checked again.
      if (taken.outcome === 'applied') return { ...taken, ...(lost && { alert: 'unsettled' }) }
      const { decision, ...next } = checked(paymentIn(rows, asked.id), settled)
      store(rows, decision, rules)
      return { ...taken, ...next }
    },
  }
}

/** It was sent, and its gateway gave no id to ask by: only we have decided that it has ended. */
const isGivenUp = ({ transaction }: Payment): boolean =>
  transaction.status === 'Pending' &&
  transaction.gateway_transaction_id === null &&
  !isUnsent(transaction)

/** It was to be given up, and now its gateway can be asked. */
const hasIdSince = (asked: TransactionRow, { transaction }: Payment): boolean =>
  asked.gateway_transaction_id === null && transaction.gateway_transaction_id !== null

function checkedSoon(rows: WorkingSet, { transaction }: Payment, now: number): Settled {
  rows.put({ transactions: [withCheckBy(transaction, now)] })
  return { nextCheckAt: now }
}

/** A payment that does not change by its check. */
function checked(
  payment: Payment,
  { asked, now, isUnanswered, unreadable, ...settled }: CheckSettled,
): { decision: Decision } & Omit<Settled, 'outcome'> {
  const answer = settled.answer?.report
  const report = answer && !isOfAnother(payment.transaction, answer) ? answer : undefined
  const checkedAs = report?.status ?? settled.noAnswer
  const seen = checkedAs ? withCheck(payment, checkedAs, now) : payment
  const open = report?.isPageClosed ? withPageClosed(seen) : seen
  const { status, next_check_at: due } = payment.transaction
  const isMadeDue = due !== asked.next_check_at
  // A refund that has begun since is not missing in an answer from before it.
  const current = isMadeDue && refundUnderWay(payment) ? undefined : report
  const { at, alert, failed } = nextOf(payment, now, current)
  const rest = failed ? withRefund(open, failed) : open
  const isAsked = isOpen(rest) || (isUnanswered && status === asked.status)
  const next = isAsked ? (at ?? null) : null
  // What has made it due since the claim waits for its own check.
  const next_check_at = isMadeDue ? sooner(due, next) : next
  const timed = withTransaction(rest, { next_check_at })
  const read = unreadable && unreadableTwice(timed, unreadable, 'status', now)
  const alerts = [...(alert ? [alert] : []), ...(read?.alerts ?? [])]
  return {
    decision: { payment: read?.payment ?? timed, events: [], alerts },
    ...(alert && { alert: alert.kind as 'unsettled' | 'refund_unsettled' }),
    ...(next_check_at !== null && { nextCheckAt: next_check_at }),
  }
}

const sooner = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b)

interface Next {
  /** When it is checked again, if something of it is open. */
  at?: number | undefined
  alert?: Alert
  /** A refund that is given up, so that it can be asked for again. */
  failed?: RefundRow
}

/** No report: its gateway could not be asked. */
function nextOf(payment: Payment, now: number, report: Answer['report'] | undefined): Next {
  const refund = refundUnderWay(payment)
  if (refund) return nextOfRefund(payment, refund, now, report)
  const { status, created_at } = payment.transaction
  // It was checked because a refund arrived before its payment, or because an event was stale.
  // With an answer, that is settled.
  if (status !== 'Pending') return report ? {} : { at: now + HOUR_MS }
  const at = nextCheckAt(created_at, now, report?.payableUntil ?? endOf(payment))
  return at === undefined
    ? { alert: unsettledAlert(payment.transaction, now, report?.status) }
    : { at }
}

/** The time after which it cannot be paid; without a gateway's id, a day after its creation. */
const endOf = ({ transaction }: Payment): number | undefined => {
  const { expires_at, gateway_transaction_id: id, created_at } = transaction
  return id === null ? created_at + DAY_MS : (expires_at ?? undefined)
}

/** The gateway has this refund neither in its list nor in its sum. */
function isMissing(
  payment: Payment,
  { id, gateway_refund_id: gatewayId }: RefundRow,
  { status, amount, refunds: set }: Report,
  now: number,
): boolean {
  const { refunded_amount } = payment.transaction
  if (set) {
    // The later list may have it.
    if (areReadLater(payment, set.readAt, now)) return false
    return !set.refunds.some(
      (refund) => refund.id === undefined || refund.id === gatewayId || refund.refundId === id,
    )
  }
  return status === 'Paid' || (status === 'PartiallyRefunded' && amount <= refunded_amount)
}

const OUTCOME_UNKNOWN: PaymentError = {
  code: 'outcome_unknown',
  message: 'The gateway did not report the outcome of this refund, and has not made it.',
}
const DROPPED: PaymentError = {
  code: 'refund_cancelled',
  message: 'The gateway accepted this refund, no longer lists it, and has not made it.',
}

function nextOfRefund(
  payment: Payment,
  refund: RefundRow,
  now: number,
  report: Report | undefined,
): Next {
  const { transaction } = payment
  const { created_at: createdAt } = refund
  const isAccepted = refund.status === 'accepted'
  const since = isoTime(createdAt)
  const detail = { since, gatewayStatus: report?.status ?? 'none' } as const
  const about = { ...refundDetail(transaction, refund), ...detail }
  const alert = alertAbout(transaction, 'refund_unsettled', now, about)
  // A day after the request, the gateway reports no refund: it is given up. Not so one that the
  // gateway lists as requested, or that it accepted and lists none: a bank may take days, and a
  // second refund would pay twice. Nor does an unknown status mean that nothing was refunded.
  const isUnmade = report !== undefined && isMissing(payment, refund, report, now)
  // A bank that accepted it and no longer lists it has dropped it without a report. Kept, it would
  // lock every further refund for good.
  const isUnlisted = isUnmade && report.refunds !== undefined
  if (isUnmade && (!isAccepted || isUnlisted) && now - createdAt >= DAY_MS) {
    const error = JSON.stringify(isAccepted ? DROPPED : OUTCOME_UNKNOWN)
    return { failed: { ...refund, status: 'failed', error, updated_at: now }, alert }
  }
  const next = nextCheckAt(createdAt, now, createdAt + DAY_MS)
  const isDropped = isUnlisted && now - createdAt >= HOUR_MS
  // It is the payer's money: checks go on while the refund is pending, even after the alert.
  return next === undefined || (isAccepted && isDropped)
    ? { at: next ?? now + DAY_MS, alert }
    : { at: next }
}
