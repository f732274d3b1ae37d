// Operations of the sweeper: checks and events that are due, and their results. And of a person:
// send a delivery again, acknowledge an alert.

import {
  type CheckSettled,
  checkSoon as decideCheckSoon,
  settleCheck as decideSettle,
  isCheckDue,
  rememberUnreadable,
  type UnreadableEvent,
  unreadableAlert,
} from '../domain/check.ts'
import { newId } from '../domain/new-id.ts'
import {
  areListenersDue,
  type Dispatched,
  deadAlert,
  redeliver as decideRedeliver,
  goneAlert,
  isDeliveryDue,
  isGone,
  isWaiting,
  LEASE_MS,
  type PendingEvent,
  pendingEvent,
  settleDelivery,
  settleListeners,
  type WaitingFor,
} from '../domain/outbox.ts'
import {
  type Alert,
  acknowledgeAlert,
  isCalled,
  isForeign,
  type Payment,
  raiseAlert,
  refundUnderWay,
  unchanged,
  withAlerts,
  withTransaction,
} from '../domain/payment.ts'
import type { DeliveryRow, OutboxRow, TransactionRow } from '../domain/rows.ts'
import type { DueClaim, EventClaim } from '../outbox/dispatch.ts'
import type { Asked, Check, CheckClaim, CheckClaimed, EventIds } from './ledger.ts'
import {
  HURRIED_AT_ONCE,
  type Operation,
  type Rules,
  recordAct,
  store,
  storeInOrder,
} from './operation.ts'
import { paymentIdsIn } from './webhooks.ts'
import type { WorkingSet } from './working-set.ts'

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
): Operation<undefined> {
  const ids = paymentIdsIn(gateway, asked)
  const { gatewayTransactionId: about } = asked
  const alert = unreadable?.isFinal && unreadableAlert(unreadable, gateway, about, now)
  return {
    keys: { payments: [ids], alerts: alert ? [alert] : [] },
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
        : unchanged(withTransaction(payment, decideCheckSoon(payment.transaction, now)))
      store(rows, decision, rules)
      rows.put({ transactions: others.map((other) => decideCheckSoon(other, now)) })
      return undefined
    },
  }
}

/**
 * Payments whose check is due. They are due again at `until` if nothing comes of it; those of
 * another installation, which a webhook may have made due, never.
 */
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
}: CheckClaim): Operation<CheckClaimed> {
  return {
    keys: { checks: [id] },
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

export function settleCheck(settled: CheckSettled, rules: Rules): Operation<undefined> {
  const { transactionId: id, alert } = settled
  return {
    keys: { payments: [{ id }], alerts: alert ? [{ kind: alert.kind, subject: id }] : [] },
    decide(rows) {
      const payment = rows.payment(id)
      if (!payment) throw new Error(`there is no transaction ${id}`)
      store(rows, decideSettle(payment, settled), rules)
      return undefined
    },
  }
}

/** Leases what is due, the oldest first. */
export function claimEvents({ now, limit, dueBy = now }: EventClaim): Operation<PendingEvent[]> {
  const leased_until = now + LEASE_MS
  const due = { now, dueBy }
  return {
    keys: { dueEvents: { ...due, limit } },
    decide(rows) {
      const events = rows
        .all('outbox')
        .map((outbox) => {
          const delivery = deliveriesOf(rows, outbox).find((each) => isDeliveryDue(each, due))
          return { outbox, listeners: areListenersDue(outbox, due), delivery }
        })
        .filter(({ listeners, delivery }) => listeners || delivery !== undefined)
        .toSorted((a, b) => a.outbox.created_at - b.outbox.created_at || byId(a.outbox, b.outbox))
        .slice(0, limit)
      for (const { outbox, listeners, delivery } of events) {
        if (listeners) rows.put({ outbox: [{ ...outbox, leased_until }] })
        if (delivery) rows.put({ deliveries: [{ ...delivery, leased_until }] })
      }
      return events.flatMap((event) => pendingEvent(event) ?? [])
    },
  }
}

/** The results of dispatched events: one operation for all that are settled together. */
export function settleEvents(
  outcomes: readonly Dispatched[],
  now: number,
  rules: Rules,
): Operation<undefined> {
  const alerting = outcomes.filter(
    ({ listeners, delivery }) => isGivenUp(listeners) || isGivenUp(delivery) || isGone(delivery),
  )
  return {
    keys: {
      outbox: outcomes.map(({ outboxId }) => outboxId),
      deliveries: outcomes.flatMap(({ delivery }) => delivery?.id ?? []),
      paymentsOfOutbox: alerting.map(({ outboxId }) => outboxId),
      alerts: alerting.flatMap(({ outboxId, delivery }) => [
        { kind: 'listener_dead', subject: outboxId },
        { kind: 'delivery_dead', subject: delivery?.id ?? outboxId },
      ]),
    },
    decide(rows) {
      for (const outcome of outcomes) settle(rows, outcome, now, rules)
      return undefined
    },
  }
}

const isGivenUp = (result: Dispatched['listeners']): boolean =>
  result !== undefined && !result.ok && result.nextAttemptAt === undefined

function settle(
  rows: WorkingSet,
  { outboxId, listeners, delivery }: Dispatched,
  now: number,
  rules: Rules,
): void {
  const outbox = rows.get('outbox', outboxId)
  if (!outbox) return
  const notified = listeners && settleListeners(outbox, listeners, now)
  const row = delivery && rows.get('deliveries', delivery.id)
  const sent = row && settleDelivery(row, delivery, now)
  if (notified) rows.put({ outbox: [notified.outbox] })
  if (sent) rows.put({ deliveries: [sent.delivery] })
  if (row && delivery?.ok) settleGone(rows, row.endpoint, now, rules)
  const payment = rows.payment(outbox.transaction_id)
  if (!payment) return
  const alerts: Alert[] = []
  const { transaction } = payment
  if (notified?.isDead) alerts.push(deadAlert(transaction, outbox, { failed: listeners, now }))
  if (sent?.isDead) {
    alerts.push(deadAlert(transaction, outbox, { delivery: row, failed: delivery, now }))
  }
  if (row && isGone(delivery) && !sent?.isDead) {
    alerts.push(goneAlert(transaction, outbox, row, now))
  }
  store(rows, { ...unchanged(payment), alerts }, rules)
}

/** The endpoint accepts events again. */
function settleGone(rows: WorkingSet, endpoint: string, now: number, rules: Rules): void {
  const open = rows
    .all('alerts')
    .find((alert) => alert.kind === 'endpoint_gone' && alert.subject === endpoint)
  const payment = rows.payment(open?.transaction_id ?? undefined)
  if (!open || !payment) return
  store(rows, unchanged(withAlerts(payment, [acknowledgeAlert(open, 'delivery', now)])), rules)
}

interface Redelivered {
  id: string
  now: number
  asked?: Asked | undefined
}

export function redeliver({ id, now, asked }: Redelivered): Operation<boolean> {
  return {
    keys: { redelivered: [id] },
    decide(rows) {
      const delivery = rows.get('deliveries', id)
      if (!delivery) return false
      rows.put({ deliveries: [decideRedeliver(delivery, now)] })
      const transaction_id = rows.get('outbox', delivery.outbox_id)?.transaction_id ?? null
      recordAct(rows, asked, { at: now, action: 'redeliver', transaction_id, about: id })
      return true
    },
  }
}

interface Hurried extends WaitingFor {
  asked?: Asked | undefined
}

/** Makes what waits for an endpoint due. True: there may be more. */
export function hurryEvents({ asked, ...waiting }: Hurried): Operation<boolean> {
  const { endpoint, now: at } = waiting
  return {
    keys: { waitingFor: [waiting] },
    decide(rows) {
      const waits = rows.all('deliveries').filter((row) => isWaiting(row, waiting))
      rows.put({ deliveries: waits.map((row) => ({ ...row, next_attempt_at: at })) })
      recordAct(rows, asked, { at, action: 'redeliver', about: endpoint })
      return waits.length >= HURRIED_AT_ONCE
    },
  }
}

interface Acknowledged {
  id: string
  by: string
  now: number
  /** The gateway's id of what a person did about it. */
  gatewayReference?: string | undefined
}

/** Late money that was refunded by hand may have been one of two payments of its order. */
export function acknowledge(
  { id, by, now, gatewayReference }: Acknowledged,
  rules: Rules,
): Operation<boolean> {
  return {
    keys: { alertIds: [id] },
    decide(rows) {
      const alert = rows.get('alerts', id)
      if (!alert) return false
      const acknowledged = acknowledgeAlert(alert, by, now, gatewayReference)
      const { kind: detail, transaction_id } = alert
      if (acknowledged !== alert) {
        const act = { action: 'acknowledge', transaction_id, about: id, detail } as const
        recordAct(rows, { id: newId(now), by }, { ...act, at: now })
      }
      const payment = rows.payment(alert.transaction_id ?? undefined)
      if (payment) {
        const decision = unchanged(withAlerts(payment, [acknowledged]))
        storeInOrder(rows, { before: payment, decision, now }, rules)
      } else {
        rows.put({ alerts: [acknowledged] })
      }
      return true
    },
  }
}

const deliveriesOf = (rows: WorkingSet, { id }: OutboxRow): DeliveryRow[] =>
  rows.all('deliveries').filter(({ outbox_id }) => outbox_id === id)

const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1)
