// Payments that are checked with their gateways: which are due, and which a webhook makes due.
// Pure.

import { MAX_WAIT_MS, MIN_WAIT_MS } from '../domain/check-times.ts'
import { type EventIds, paymentIdsIn } from '../domain/match.ts'
import { newId } from '../domain/new-id.ts'
import {
  type Alert,
  alertAbout,
  type Decision,
  isCalled,
  isForeign,
  type Payment,
  raiseAlert,
  unchanged,
  withTransaction,
} from '../domain/payment.ts'
import type { TransactionRow } from '../domain/rows.ts'
import type { CheckStatus } from '../domain/status.ts'
import { hasCome, isAhead } from '../domain/time.ts'
import {
  type Act,
  type Asked,
  byId,
  type DueClaim,
  type Key,
  keysOfIds,
  type Rules,
  type WorkingSet,
} from './act.ts'
import { recordAct, store } from './store.ts'

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
export function unreadableTwice(
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

/** The gateway was asked about it: also a check that changed nothing is seen. */
export const withCheck = (payment: Payment, status: CheckStatus, now: number): Payment =>
  withTransaction(payment, { last_check_at: now, last_check_status: status })
