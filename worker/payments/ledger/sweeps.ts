// Operations of the sweeper: checks and events that are due, and their results. And of a person:
// send a delivery again, acknowledge an alert.

import {
  type CheckSettled,
  checkSoon as decideCheckSoon,
  settleCheck as decideSettle,
  isCheckDue,
  rememberUnreadable,
  type UnreadableEvent,
} from '../domain/check.ts'
import type { PaymentIds } from '../domain/match.ts'
import type { Dispatched, Subscribers } from '../domain/outbox.ts'
import {
  areListenersDue,
  deadAlert,
  redeliver as decideRedeliver,
  isDeliveryDue,
  LEASE_MS,
  type PendingEvent,
  pendingEvent,
  settleDelivery,
  settleListeners,
} from '../domain/outbox.ts'
import {
  acknowledgeAlert,
  isCalled,
  type Payment,
  refundUnderWay,
  unchanged,
  withAlerts,
  withTransaction,
} from '../domain/payment.ts'
import type { DeliveryRow, OutboxRow } from '../domain/rows.ts'
import type { DueClaim } from '../outbox/dispatch.ts'
import type { Check, CheckClaim, CheckClaimed } from './ledger.ts'
import { changesInOrder, changesOf, type Operation, type Rules } from './operation.ts'
import type { Changes, WorkingSet } from './working-set.ts'

interface SoonChecked {
  ids: PaymentIds
  now: number
  unreadable?: UnreadableEvent | undefined
}

export function checkSoon(
  { ids, now, unreadable }: SoonChecked,
  subscribers: Subscribers,
): Operation<undefined> {
  return {
    keys: { payments: [ids] },
    decide(rows) {
      const matched = rows.match(ids)
      if (!matched) return { answer: undefined }
      const { payment, others } = matched
      const decision = unreadable
        ? rememberUnreadable(payment, unreadable, now)
        : unchanged(withTransaction(payment, decideCheckSoon(payment.transaction, now)))
      const changes = changesOf(rows, decision, subscribers)
      const asked = others.map((other) => decideCheckSoon(other, now))
      const transactions = [...changes.transactions, ...asked]
      return { answer: undefined, changes: { ...changes, transactions } }
    },
  }
}

/** Payments whose check is due. They are due again at `until` if nothing comes of it. */
export function claimChecks({
  now,
  until,
  limit,
}: DueClaim & { until: number }): Operation<Check[]> {
  return {
    keys: { dueChecks: { now, limit } },
    decide(rows) {
      const due = rows
        .all('transactions')
        .filter((row) => isCheckDue(row, now))
        .toSorted((a, b) => (a.next_check_at ?? 0) - (b.next_check_at ?? 0) || byId(a, b))
        .slice(0, limit)
      return {
        answer: due.flatMap(({ id }) => checkOf(rows.payment(id)) ?? []),
        changes: { transactions: due.map((row) => ({ ...row, next_check_at: until })) },
      }
    },
  }
}

/** One of them, due or not. */
export function claimCheck({ transactionId: id, now, until }: CheckClaim): Operation<CheckClaimed> {
  return {
    keys: { checks: [id] },
    decide(rows) {
      const check = checkOf(rows.payment(id))
      if (!check) return { answer: { state: 'unknown_transaction' } }
      const { transaction } = check
      const { called_until: calledUntil } = transaction
      if (calledUntil !== null && isCalled(transaction, now)) {
        return { answer: { state: 'in_progress', until: calledUntil } }
      }
      // If no check is left, there is none to postpone.
      const next_check_at = transaction.next_check_at === null ? null : until
      return {
        answer: { state: 'claimed', check },
        changes: { transactions: [{ ...transaction, next_check_at }] },
      }
    },
  }
}

function checkOf(payment: Payment | undefined): Check | undefined {
  const refund = payment && refundUnderWay(payment)
  return payment && { transaction: payment.transaction, ...(refund && { refund }) }
}

export function settleCheck(settled: CheckSettled, subscribers: Subscribers): Operation<undefined> {
  const { transactionId: id, alert } = settled
  return {
    keys: { payments: [{ id }], alerts: alert ? [{ kind: alert.kind, subject: id }] : [] },
    decide(rows) {
      const payment = rows.payment(id)
      if (!payment) throw new Error(`there is no transaction ${id}`)
      const decision = decideSettle(payment, settled)
      return { answer: undefined, changes: changesOf(rows, decision, subscribers) }
    },
  }
}

/** Leases what is due, the oldest first. */
export function claimEvents({ now, limit }: DueClaim): Operation<PendingEvent[]> {
  const leased_until = now + LEASE_MS
  return {
    keys: { dueEvents: { now, limit } },
    decide(rows) {
      const due = rows
        .all('outbox')
        .map((outbox) => {
          const delivery = deliveriesOf(rows, outbox).find((each) => isDeliveryDue(each, now))
          return { outbox, listeners: areListenersDue(outbox, now), delivery }
        })
        .filter(({ listeners, delivery }) => listeners || delivery !== undefined)
        .toSorted((a, b) => a.outbox.created_at - b.outbox.created_at || byId(a.outbox, b.outbox))
        .slice(0, limit)
      return {
        answer: due.flatMap((event) => pendingEvent(event) ?? []),
        changes: {
          outbox: due.flatMap(({ outbox, listeners }) =>
            listeners ? [{ ...outbox, leased_until }] : [],
          ),
          deliveries: due.flatMap(({ delivery }) =>
            delivery ? [{ ...delivery, leased_until }] : [],
          ),
        },
      }
    },
  }
}

/** The results of dispatched events: one operation for all that are settled together. */
export function settleEvents(
  outcomes: readonly Dispatched[],
  now: number,
  subscribers: Subscribers,
): Operation<undefined> {
  const dead = outcomes.filter(
    ({ listeners, delivery }) => isGivenUp(listeners) || isGivenUp(delivery),
  )
  return {
    keys: {
      outbox: outcomes.map(({ outboxId }) => outboxId),
      deliveries: outcomes.flatMap(({ delivery }) => delivery?.id ?? []),
      paymentsOfOutbox: dead.map(({ outboxId }) => outboxId),
      alerts: dead.flatMap(({ outboxId, delivery }) => [
        { kind: 'listener_dead', subject: outboxId },
        { kind: 'delivery_dead', subject: delivery?.id ?? outboxId },
      ]),
    },
    decide(rows) {
      const all = outcomes.flatMap((outcome) => {
        const outbox = rows.get('outbox', outcome.outboxId)
        return outbox ? [settle(rows, outbox, outcome, { now, subscribers })] : []
      })
      const changes = {
        outbox: all.flatMap(({ outbox = [] }) => outbox),
        deliveries: all.flatMap(({ deliveries = [] }) => deliveries),
        alerts: all.flatMap(({ alerts = [] }) => alerts),
      }
      return { answer: undefined, changes }
    },
  }
}

const isGivenUp = (result: Dispatched['listeners']): boolean =>
  result !== undefined && !result.ok && result.nextAttemptAt === undefined

function settle(
  rows: WorkingSet,
  outbox: OutboxRow,
  { listeners, delivery }: Dispatched,
  { now, subscribers }: { now: number; subscribers: Subscribers },
): Changes {
  const notified = listeners && settleListeners(outbox, listeners, now)
  const row = delivery && rows.get('deliveries', delivery.id)
  const sent = delivery && row && settleDelivery(row, delivery, now)
  const payment = rows.payment(outbox.transaction_id)
  const alerts = []
  if (payment && notified?.isDead && listeners) {
    const { error } = listeners
    const failed = error === undefined ? {} : { error }
    alerts.push(deadAlert(payment.transaction, outbox, { failed, now }))
  }
  if (payment && sent?.isDead && delivery) {
    const { status, error } = delivery
    const failed = {
      ...(status !== undefined && { lastStatus: status }),
      ...(error !== undefined && { error }),
    }
    alerts.push(deadAlert(payment.transaction, outbox, { delivery: sent.delivery, failed, now }))
  }
  const settled = {
    outbox: notified ? [notified.outbox] : [],
    deliveries: sent ? [sent.delivery] : [],
  }
  if (!payment) return settled
  const raised = changesOf(rows, { ...unchanged(payment), alerts }, subscribers)
  return {
    ...raised,
    outbox: [...settled.outbox, ...raised.outbox],
    deliveries: [...settled.deliveries, ...raised.deliveries],
  }
}

/** Sends a delivery again, in any status. False: there is none with this id. */
export function redeliver(id: string, now: number): Operation<boolean> {
  return {
    keys: { deliveries: [id] },
    decide(rows) {
      const delivery = rows.get('deliveries', id)
      if (!delivery) return { answer: false }
      return { answer: true, changes: { deliveries: [decideRedeliver(delivery, now)] } }
    },
  }
}

interface Acknowledged {
  id: string
  by: string
  now: number
  gatewayReference?: string | undefined
}

/**
 * Marks an alert as seen; a second time changes nothing. False: there is none of this id. Late
 * money that was refunded by hand may have been one of two payments of its order.
 */
export function acknowledge(
  { id, by, now, gatewayReference }: Acknowledged,
  rules: Rules,
): Operation<boolean> {
  return {
    keys: { alertIds: [id] },
    decide(rows) {
      const alert = rows.get('alerts', id)
      if (!alert) return { answer: false }
      const acknowledged = acknowledgeAlert(alert, by, now, gatewayReference)
      const payment = rows.payment(alert.transaction_id ?? undefined)
      if (!payment) return { answer: true, changes: { alerts: [acknowledged] } }
      const decision = unchanged(withAlerts(payment, [acknowledged]))
      return {
        answer: true,
        changes: changesInOrder(rows, { before: payment, decision, now }, rules),
      }
    },
  }
}

const deliveriesOf = (rows: WorkingSet, { id }: OutboxRow): DeliveryRow[] =>
  rows.all('deliveries').filter(({ outbox_id }) => outbox_id === id)

const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1)
