// One call of the ledger, as the writer takes it: which rows it has to see, and what it decides on
// them. Many are loaded, decided one after the other, and saved as one transaction.

import { monotonicFactory } from 'ulid'
import { raiseAlert } from '../domain/alerts.ts'
import type { Subscribers } from '../domain/events.ts'
import type { Names } from '../domain/match.ts'
import { outboxRows } from '../domain/outbox.ts'
import type { Decision, Payment } from '../domain/payment.ts'
import type { Changes, WorkingSet } from './working-set.ts'

/** What is to be loaded. Every list may be missing. */
export interface Keys {
  /**
   * Payments by any of these names, with their refunds and what they were told before. By its
   * order one is loaded that has no gateway's name.
   */
  payments?: readonly Partial<Names & { id: string; idempotency_key: string }>[]
  /** Every attempt to pay these orders. */
  orders?: readonly { gateway: string; reference: string }[]
  /** A charge that ended: its payment, which other one has this name, and what is parked for it. */
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
  alertIds?: readonly string[]
  /** What is due, so many at most. */
  dueChecks?: Due
  dueEvents?: Due
}

export interface Due {
  now: number
  limit: number
}

export interface Operation<Answer> {
  keys: Keys
  /** Pure, and asked again when the rows have changed before they were saved. May throw. */
  decide(rows: WorkingSet): { answer: Answer; changes?: Changes }
}

/** Lists are ordered by id: those of one millisecond rise as well. */
const alertId = monotonicFactory()

/** The rows that a decision changed, made or caused. */
export function changesOf(
  rows: WorkingSet,
  { payment, events, alerts }: Decision,
  subscribers: Subscribers,
): Required<Pick<Changes, 'transactions' | 'refunds' | 'outbox' | 'deliveries' | 'alerts'>> {
  const stored = events.map((event) => outboxRows(event, subscribers))
  const known = rows.all('alerts')
  const raised = alerts.flatMap((alert) => {
    const same = known.find(({ kind, subject }) => kind === alert.kind && subject === alert.subject)
    return raiseAlert(alert, same, alertId) ?? []
  })
  return {
    ...changedRows(payment),
    outbox: stored.map(({ outbox }) => outbox),
    deliveries: stored.flatMap(({ delivery }) => delivery ?? []),
    alerts: raised,
  }
}

/** The working set knows which of them are as they were. */
const changedRows = ({ transaction, refunds }: Payment) => ({
  transactions: [transaction],
  refunds: [...refunds],
})
