// Payments that are checked with their gateways: which are due, what a check finds of them, and
// when they are due again. Pure.

import { MAX_WAIT_MS, MIN_WAIT_MS } from '../domain/check-times.ts'
import type { PaymentError } from '../domain/exceptions.ts'
import { type EventIds, paymentIdsIn } from '../domain/match.ts'
import { newId } from '../domain/new-id.ts'
import { withPageClosed } from '../domain/open-charge.ts'
import {
  type Alert,
  alertAbout,
  type Decision,
  isCalled,
  isForeign,
  isOpen,
  isUnderWay,
  type Payment,
  raiseAlert,
  refundUnderWay,
  unchanged,
  withRefund,
  withTransaction,
} from '../domain/payment.ts'
import type { DisputeRow, RefundRow, TransactionRow } from '../domain/rows.ts'
import type { CheckStatus, PaymentStatus } from '../domain/status.ts'
import { hasCome, isAhead } from '../domain/time.ts'
import type { AlertDetail } from '../domain/types.ts'
import {
  type Act,
  type Asked,
  byId,
  type DueClaim,
  type Key,
  keysOfIds,
  paymentIn,
  type Rules,
  recordAct,
  store,
} from './act.ts'
import type { WorkingSet } from './working-set.ts'

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

export function withCheckSoon(transaction: TransactionRow, now: number): TransactionRow {
  const { next_check_at: due } = transaction
  const isSooner = due === null || due > now
  return isSooner ? { ...transaction, next_check_at: now } : transaction
}

interface SoonChecked {
  gateway: string
  ids: EventIds
  now: number
  /** An event with these ids. One that is final raises an alert, also without a payment. */
  unreadable?: UnreadableEvent | undefined
}

export function checkSoon(
  { gateway, ids: asked, now, unreadable }: SoonChecked,
  rules: Rules,
): Act<undefined> {
  const ids = paymentIdsIn(gateway, asked)
  const { gatewayTransactionId: about } = asked
  const alert = unreadable?.isFinal && unreadableAlert(unreadable, gateway, about, now)
  return {
    keys: [...keysOfIds(ids), ...alertKey(alert)],
    decide(rows) {
      const matched = rows.match(ids)
      if (!matched) {
        const known = rows.all('alerts').find(({ subject }) => subject === alert?.subject)
        const raised = alert && raiseAlert(alert, known, () => newId(now))
        if (raised) rows.put({ alerts: [raised] })
        return undefined
      }
      const { payment, others } = matched
      const decision = unreadable
        ? rememberUnreadable(payment, unreadable, now)
        : unchanged(withTransaction(payment, withCheckSoon(payment.transaction, now)))
      store(rows, decision, rules)
      rows.put({ transactions: others.map((other) => withCheckSoon(other, now)) })
      return undefined
    },
  }
}

/** A webhook that is genuine and could not be read. */
export interface UnreadableEvent {
  /** Generated once for each delivery. */
  id: string
  /** The fields, without their values. */
  why: string
  /** It will not be repeated: a person must know at once. */
  isFinal?: true
}

/** For one whose payment is not known. `about`: the gateway's id of what it is about. */
function unreadableAlert(
  { id, why }: UnreadableEvent,
  gateway: string,
  about: string | undefined,
  now: number,
): Alert {
  return {
    kind: 'unreadable',
    subject: about === undefined ? id : `${gateway} ${about}`,
    gateway,
    transactionId: null,
    createdAt: now,
    detail: {
      error: `A webhook cannot be read: ${why}.`,
      ...(about !== undefined && { gatewayTransactionId: about }),
    },
  }
}

/**
 * The gateway is asked instead. It will repeat the event: from the second on a person must know,
 * because all later events of this kind may be lost, too.
 */
function rememberUnreadable(payment: Payment, unreadable: UnreadableEvent, now: number): Decision {
  const { payment: remembered, alerts } = unreadableTwice(payment, unreadable, 'webhooks', now)
  const asked = withCheckSoon(remembered.transaction, now)
  return { payment: withTransaction(remembered, asked), events: [], alerts }
}

/** The first time, the gateway may only be in disorder. */
function unreadableTwice(
  payment: Payment,
  { id: event, why, isFinal }: UnreadableEvent,
  what: 'webhooks' | 'status',
  now: number,
): Pick<Decision, 'payment' | 'alerts'> {
  const { transaction } = payment
  const first = transaction.unreadable_event ?? event
  const error = `Its ${what} cannot be read: ${why}.`
  const subject = `${transaction.id} event`
  const alert = alertAbout(transaction, 'unreadable', now, { error }, subject)
  return {
    payment: withTransaction(payment, { unreadable_event: first }),
    alerts: first === event && !isFinal ? [] : [alert],
  }
}

export interface CheckClaim {
  /** Ours. */
  transactionId: string
  now: number
  until: number
  asked?: Asked
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
  refunds: readonly RefundRow[]
  disputes: readonly DisputeRow[]
  /** The one under way that is waited for. */
  refund?: RefundRow
  /** Payments are paused: a charge that was never sent is not sent now. */
  isPaused?: true
}

const alertKey = (alert: Pick<Alert, 'kind' | 'subject'> | undefined): Key[] =>
  alert ? [['alert', alert.kind, alert.subject]] : []

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
      const payments = ours.flatMap(({ id }) => rows.payment(id) ?? [])
      return payments.map((payment) => checkOf(payment, rows))
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
      const claimed = withTransaction(payment, { next_check_at })
      rows.put({ transactions: [claimed.transaction] })
      recordAct(rows, asked, { at: now, action: 'check', transaction_id: id })
      return { state: 'claimed', check: checkOf(claimed, rows) }
    },
  }
}

function checkOf(payment: Payment, { pause }: Pick<WorkingSet, 'pause'>): Check {
  const { transaction, refunds, disputes } = payment
  const refund = refundUnderWay(payment)
  return {
    transaction,
    refunds,
    disputes,
    ...(refund && { refund }),
    ...(pause && { isPaused: true }),
  }
}

export interface CheckSettled {
  transactionId: string
  now: number
  /** When it is due, as its claim stored that. */
  due: number | null
  /** What the gateway said. Missing: it was not asked. */
  asked?: CheckStatus
  /** Missing: it is not checked any more. */
  nextCheckAt?: number
  /**
   * Its gateway could not be asked. A payment that still has this status is checked again, even if
   * nothing is open any more.
   */
  whileStill?: PaymentStatus
  /** Its page can no longer be paid. */
  isPageClosed?: boolean
  /** Raised once for each kind and transaction. */
  alert?: { kind: 'unsettled' | 'refund_unsettled'; detail: AlertDetail }
  /** The gateway's answer could not be read. */
  unreadable?: UnreadableEvent
  /** Gives this refund up if it is still under way, so that it can be asked for again. */
  failedRefund?: { refundId: string; error: PaymentError }
}

export function settleCheck(settled: CheckSettled, rules: Rules): Act<undefined> {
  const { transactionId: id, alert } = settled
  return {
    keys: [['payment', id], ...alertKey(alert && { kind: alert.kind, subject: id })],
    decide(rows) {
      store(rows, checked(paymentIn(rows, id), settled), rules)
      return undefined
    },
  }
}

/** The gateway was asked about it: also a check that changed nothing is seen. */
export const withCheck = (payment: Payment, said: CheckStatus, now: number): Payment =>
  withTransaction(payment, { last_check_at: now, last_check_status: said })

function checked(payment: Payment, settled: CheckSettled): Decision {
  const { now, due, asked, nextCheckAt, whileStill, alert } = settled
  const { status, next_check_at: current } = payment.transaction
  const seen = asked ? withCheck(payment, asked, now) : payment
  const open = settled.isPageClosed ? withPageClosed(seen) : seen
  const rest = failRefund(open, settled)
  const isAsked = isOpen(rest) || status === whileStill
  const next = isAsked ? (nextCheckAt ?? null) : null
  // A refund that has begun since the claim waits for its own check.
  const next_check_at = current === due ? next : sooner(current, next)
  // A refund that has ended in the meantime needs no alert.
  const isSettled = alert?.kind === 'refund_unsettled' && !refundUnderWay(payment)
  const raised =
    alert && !isSettled && alertAbout(payment.transaction, alert.kind, now, alert.detail)
  const timed = withTransaction(rest, { next_check_at })
  const { unreadable } = settled
  const read = unreadable && unreadableTwice(timed, unreadable, 'status', now)
  const alerts = [...(raised ? [raised] : []), ...(read?.alerts ?? [])]
  return { payment: read?.payment ?? timed, events: [], alerts }
}

const sooner = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b)

/** A refund that has begun in the meantime is another one, and stays. */
function failRefund(payment: Payment, { failedRefund, now }: CheckSettled): Payment {
  const refund = payment.refunds.find(({ id }) => id === failedRefund?.refundId)
  if (!failedRefund || !refund || !isUnderWay(refund)) return payment
  const error = JSON.stringify(failedRefund.error)
  return withRefund(payment, { ...refund, status: 'failed', error, updated_at: now })
}
