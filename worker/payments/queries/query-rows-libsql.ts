// Turns rows into the records of the API.

import type { PaymentError } from '../domain/exceptions.ts'
import type { AlertDetail } from '../domain/raised-alert.ts'
import type { AlertKind, DurableEvent, Outcome, PaymentStatus } from '../domain/status.ts'
import type { Row } from '../ledger/libsql/statement-libsql.ts'
import {
  isoTime,
  present,
  presentJson,
  presentTime,
  text,
  toPayload,
  wholeOf,
} from '../ledger/read-rows.ts'
import type {
  AlertRecord,
  DeliveryRecord,
  EventRecord,
  RefundRecord,
  StoredEvent,
  WebhookRate,
} from './queries.ts'

interface Failed {
  error: PaymentError
}

export const toEventRecord = (row: Row): EventRecord => ({
  id: text(row.id),
  gateway: text(row.gateway),
  eventId: text(row.event_id),
  toStatus: text(row.to_status) as PaymentStatus,
  amount: wholeOf(row, 'amount'),
  currency: text(row.currency),
  isMismatch: row.mismatch === 1,
  outcome: text(row.outcome) as Outcome,
  occurredAt: isoTime(row, 'occurred_at'),
  receivedAt: isoTime(row, 'received_at'),
  ...(row.from_status !== null && { fromStatus: text(row.from_status) as PaymentStatus }),
  ...present({
    gatewayTransactionId: row.gateway_transaction_id,
    externalReferenceId: row.external_reference_id,
    reference: row.reference,
    transactionId: row.transaction_id,
    correlationId: row.correlation_id,
  }),
  ...presentJson<Failed>('error', row.error),
  ...(row.raw !== null && { raw: jsonOrText(text(row.raw)) }),
})

/** Earlier versions stored bodies unchanged, and some of them are forms. */
function jsonOrText(stored: string): unknown {
  try {
    return JSON.parse(stored)
  } catch {
    return stored
  }
}

/** The rows are ordered by minute. */
export function toRates(rows: readonly Row[]): WebhookRate[] {
  const rates: WebhookRate[] = []
  for (const row of rows) {
    const { outcome, events } = row
    const at = isoTime(row, 'minute')
    let rate = rates.at(-1)
    if (rate?.at !== at) {
      rate = { at, outcomes: {} }
      rates.push(rate)
    }
    rate.outcomes[text(outcome) as Outcome] = Number(events)
  }
  return rates
}

export const toRefund = (row: Row): RefundRecord => ({
  id: text(row.id),
  amount: wholeOf(row, 'amount'),
  reason: text(row.reason),
  status: text(row.status) as RefundRecord['status'],
  createdAt: isoTime(row, 'created_at'),
  updatedAt: isoTime(row, 'updated_at'),
  ...present({ gatewayRefundId: row.gateway_refund_id, correlationId: row.correlation_id }),
  ...presentJson<Failed>('error', row.error),
})

/** `deliveries`: those of all events of the payment. */
export const toStoredEvent = (row: Row, deliveries: readonly Row[]): StoredEvent => ({
  id: text(row.id),
  type: text(row.type) as DurableEvent,
  payload: toPayload(text(row.payload)),
  createdAt: isoTime(row, 'created_at'),
  ...(row.was_given_up === 0 && presentTime('toldAt', row, 'done_at')),
  deliveries: deliveries.filter((each) => each.outbox_id === row.id).map(toDelivery),
})

const toDelivery = (row: Row): DeliveryRecord => ({
  id: text(row.id),
  endpoint: text(row.endpoint),
  status: text(row.status) as DeliveryRecord['status'],
  attempts: Number(row.attempts),
  ...(row.last_status !== null && { lastStatus: Number(row.last_status) }),
  ...present({ lastError: row.last_error }),
  ...(row.status === 'pending' && presentTime('nextAttemptAt', row, 'next_attempt_at')),
  ...presentTime('deliveredAt', row, 'delivered_at'),
})

export const toAlert = (row: Row): AlertRecord => ({
  id: text(row.id),
  kind: text(row.kind) as AlertKind,
  gateway: text(row.gateway),
  detail: row.detail === null ? {} : (JSON.parse(text(row.detail)) as AlertDetail),
  createdAt: isoTime(row, 'created_at'),
  ...present({
    transactionId: row.transaction_id,
    acknowledgedBy: row.acknowledged_by,
    gatewayReference: row.gateway_reference,
  }),
  ...presentTime('acknowledgedAt', row, 'acknowledged_at'),
})
