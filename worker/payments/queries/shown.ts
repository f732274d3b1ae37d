// Rows as the API has them. Pure. Throws for what no code writes: a time that no date has, a text
// that is not JSON.

import { majorText } from '../domain/money.ts'
import {
  AUDIT,
  type AuditRow,
  DELIVERIES,
  type DeliveryRow,
  json,
  MOVEMENTS,
  type MovementRow,
  OUTBOX,
  type OutboxRow,
  present,
  REFUNDS,
  type RefundRow,
  type TransactionRow,
  WEBHOOK_EVENTS,
  type WebhookEventRow,
} from '../domain/rows.ts'
import { isoTime, isTime } from '../domain/time.ts'
import type {
  AuditRecord,
  CheckTimes,
  DeliveryRecord,
  EventRecord,
  Movement,
  RefundRecord,
  StoredEvent,
} from '../domain/types.ts'

/** A time that no date has is left out: the rest of the payment is shown. */
export function toCheck(row: TransactionRow): CheckTimes {
  const { last_check_at: last, last_check_status: lastStatus, next_check_at: next } = row
  const possible = (ms: number | null) => (ms !== null && isTime(ms) ? isoTime(ms) : null)
  return present({ lastAt: possible(last), lastStatus, nextAt: possible(next) })
}

/** `raw_bytes`: of what the gateway sent, where that was left out. */
export type ReadEventRow = WebhookEventRow & { raw_bytes?: number | null }

export const toEventRecord = (row: ReadEventRow): EventRecord => ({
  ...WEBHOOK_EVENTS.show(row),
  isMismatch: row.mismatch === 1,
  ...present({ rawBytes: row.raw_bytes ?? null }),
})

export const toRefund = (row: RefundRow): RefundRecord => REFUNDS.show(row)

/** `was_given_up`: by the listeners. */
export type StoredRow = OutboxRow & { was_given_up: 0 | 1 }

/** `deliveries`: those of all events of the payment. */
export const toStoredEvent = (row: StoredRow, deliveries: readonly DeliveryRow[]): StoredEvent => ({
  ...OUTBOX.show(row),
  payload: json<StoredEvent['payload']>(row.payload) as StoredEvent['payload'],
  ...present({ listenersDoneAt: row.was_given_up === 1 ? null : timeIn(row.done_at) }),
  deliveries: deliveries.filter((each) => each.outbox_id === row.id).map(toDelivery),
})

const toDelivery = (row: DeliveryRow): DeliveryRecord => ({
  ...DELIVERIES.show(row),
  ...(row.status === 'pending' && { nextAttemptAt: isoTime(row.next_attempt_at) }),
})

/** With columns of its payment. */
export type AuditedRow = AuditRow & {
  [Name in 'gateway' | 'reference' | 'currency']: string | null
}

export const toAuditRecord = (row: AuditedRow): AuditRecord => ({
  ...AUDIT.show(row),
  ...present({
    gateway: row.gateway,
    reference: row.reference,
    currency: row.amount === null ? null : row.currency,
  }),
})

/** With columns of its payment and of its refund. */
export type BookedRow = MovementRow &
  Pick<TransactionRow, 'reference' | 'gateway_transaction_id'> &
  Pick<RefundRow, 'gateway_refund_id'>

export const toMovement = (row: BookedRow): Movement => ({
  ...MOVEMENTS.show(row),
  reference: row.reference,
  ...present({
    gatewayTransactionId: row.gateway_transaction_id,
    refundId: row.gateway_refund_id ?? row.refund_id,
  }),
  amount: majorText(row.amount, row.currency),
  amountMinor: row.amount,
  ...(row.estimated === 1 && { estimated: true as const }),
})

const timeIn = (ms: number | null): string | null => (ms === null ? null : isoTime(ms))
