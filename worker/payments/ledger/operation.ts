// One call of the ledger, as the writer takes it: which rows it has to see, and what it decides on
// them. Many are loaded, decided one after the other, and saved as one transaction.

import { monotonicFactory } from 'ulid'
import {
  type AlertDetail,
  type RaisedAlert,
  raiseAlert,
  type SettledAlert,
} from '../domain/alerts.ts'
import { decideInOrder, isOfOrder, type References } from '../domain/double-payment.ts'
import type { Subscribers } from '../domain/events.ts'
import type { Names } from '../domain/match.ts'
import { alertRows, type EventRows, outboxRows } from '../domain/outbox.ts'
import { type Decision, type Payment, withAlerts } from '../domain/payment.ts'
import type { AlertRow } from '../domain/rows.ts'
import { isoTime, present, readable, toTransaction } from './read-rows.ts'
import type { Changes, WorkingSet } from './working-set.ts'

/** What is to be loaded. Every list may be missing. */
export interface Keys {
  /**
   * Payments by any of these ids, with their refunds and earlier events. By its order, only a
   * payment without a gateway's id is loaded.
   */
  payments?: readonly Partial<Names & { id: string; idempotency_key: string }>[]
  /** Every attempt to pay these orders. */
  orders?: readonly { gateway: string; reference: string }[]
  /** The further idempotency keys of these payments. */
  chargeKeysOf?: readonly string[]
  /** A charge that ended: its payment, the other one with this id, and what is parked for it. */
  charges?: readonly { id: string; gateway_transaction_id: string | null }[]
  /** A refund's payment. */
  refunds?: readonly string[]
  webhookEvents?: readonly { gateway: string; event_id: string }[]
  webhookEventIds?: readonly string[]
  /** Outbox rows with their deliveries. */
  outbox?: readonly string[]
  /** The payments of these outbox rows. */
  paymentsOfOutbox?: readonly string[]
  deliveries?: readonly string[]
  alerts?: readonly { kind: string; subject: string }[]
  /** With their payments. */
  alertIds?: readonly string[]
  /** What is due, up to a limit. */
  dueChecks?: Due
  dueEvents?: Due
}

export interface Due {
  now: number
  limit: number
}

export interface Operation<Answer> {
  keys: Keys
  /** Pure. Called again if the rows have changed before they were saved. May throw. */
  decide(rows: WorkingSet): { answer: Answer; changes?: Changes }
}

/** For alerts and their events. Lists are ordered by id, so ids of one millisecond rise, too. */
const newId = monotonicFactory()

type Changed = Required<
  Pick<Changes, 'transactions' | 'refunds' | 'outbox' | 'deliveries' | 'alerts'>
>

/** The same of decisions about several payments. */
export function changesOfAll(
  rows: WorkingSet,
  decisions: readonly Decision[],
  subscribers: Subscribers,
): Changed {
  const all = decisions.map((decision) => changesOf(rows, decision, subscribers))
  return {
    transactions: all.flatMap(({ transactions }) => transactions),
    refunds: all.flatMap(({ refunds }) => refunds),
    outbox: all.flatMap(({ outbox }) => outbox),
    deliveries: all.flatMap(({ deliveries }) => deliveries),
    alerts: all.flatMap(({ alerts }) => alerts),
  }
}

/** How decisions are stored, as configured. */
export interface Rules {
  subscribers: Subscribers
  references: References
}

/** The same of a decision that may have paid or refunded an order which was paid twice. */
export function changesInOrder(
  rows: WorkingSet,
  { before, decision, now }: { before: Payment; decision: Decision; now: number },
  { subscribers, references }: Rules,
): Changed {
  const others = rows
    .all('transactions')
    .filter((row) => isOfOrder(before.transaction, row, references))
    .flatMap(({ id }) => rows.payment(id) ?? [])
  return changesOfAll(rows, decideInOrder(before, decision, others, now), subscribers)
}

/** The rows that a decision has changed or made. */
export function changesOf(
  rows: WorkingSet,
  { payment: decided, events, alerts }: Decision,
  subscribers: Subscribers,
): Changed {
  const known = rows.all('alerts')
  const raised = alerts.flatMap((alert) => {
    const same = known.find(({ kind, subject }) => kind === alert.kind && subject === alert.subject)
    return raiseAlert(alert, same, newId) ?? []
  })
  const payment = withAlerts(decided, raised)
  const { transaction } = payment
  const changed = payment.alerts.filter((row) => row !== rows.get('alerts', row.id))
  const stored = [
    // The events of this decision name the alert, too.
    ...events.map((event) => outboxRows({ ...event, transaction }, subscribers)),
    ...changed.flatMap((row) => eventOf(row, payment, subscribers)),
  ]
  return {
    ...changedRows(payment),
    outbox: stored.map(({ outbox }) => outbox),
    deliveries: stored.flatMap(({ delivery }) => delivery ?? []),
    alerts: changed,
  }
}

/** A payment or an alert that cannot be read has no payload: then there is no event. */
function eventOf(row: AlertRow, { transaction }: Payment, subscribers: Subscribers): EventRows[] {
  const read = readable(row.id, () => ({
    transaction: toTransaction({ ...transaction }),
    alert: alertOf(row),
  }))
  if ('invalid' in read) return []
  const createdAt = row.acknowledged_at ?? row.created_at
  const caused = alertRows(read.alert, { id: newId(), transaction, createdAt }, subscribers)
  return caused ? [caused] : []
}

function alertOf(row: AlertRow): RaisedAlert | SettledAlert {
  const { id, kind, gateway, transaction_id, detail, acknowledged_by, gateway_reference } = row
  const raised: RaisedAlert = {
    ...{ id, kind, gateway, transactionId: transaction_id ?? '' },
    detail: JSON.parse(detail ?? '{}') as AlertDetail,
    createdAt: isoTime({ ...row }, 'created_at'),
  }
  if (row.acknowledged_at === null) return raised
  return {
    ...raised,
    acknowledgedAt: isoTime({ ...row }, 'acknowledged_at'),
    acknowledgedBy: acknowledged_by ?? '',
    ...present({ gatewayReference: gateway_reference }),
  }
}

/** The working set knows which of them have changed. */
const changedRows = ({ transaction, refunds }: Payment) => ({
  transactions: [transaction],
  refunds: [...refunds],
})
