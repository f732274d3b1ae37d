// The ledger's tables and columns in the database, by the names that the rows have.

import type { Rows, TableName } from '../../acts/working-set.ts'

type Columns = { readonly [Name in TableName]: readonly (keyof Rows[Name][number] & string)[] }

export const TABLE: Readonly<Record<TableName, string>> = {
  transactions: 'payment_transactions',
  chargeKeys: 'payment_charge_keys',
  webhookEvents: 'payment_webhook_events',
  refunds: 'payment_refunds',
  disputes: 'payment_disputes',
  outbox: 'payment_outbox',
  deliveries: 'payment_deliveries',
  alerts: 'payment_alerts',
  audit: 'payment_audit',
  movements: 'payment_movements',
}

export const COLUMNS = {
  // biome-ignore format: several names a line.
  transactions: [
    'id', 'gateway', 'reference', 'attempt', 'gateway_transaction_id',
    'external_reference_id', 'idempotency_key', 'request_hash', 'status', 'amount',
    'currency', 'refunded_amount', 'refund_revision', 'refunds_read_at', 'description',
    'metadata', 'request', 'redirect_url',
    'charge_answer', 'expires_at', 'called_by', 'called_until', 'next_check_at',
    'correlation_id', 'error', 'created_at', 'updated_at', 'paid_at', 'paid_amount',
    'paid_currency', 'is_repeat', 'unreadable_event', 'alert', 'installation',
    'last_check_at', 'last_check_status',
  ],
  chargeKeys: ['id', 'gateway', 'idempotency_key', 'transaction_id'],
  // biome-ignore format: several names a line.
  webhookEvents: [
    'id', 'gateway', 'event_id', 'gateway_transaction_id', 'external_reference_id',
    'reference', 'transaction_id', 'from_status', 'to_status', 'amount', 'currency',
    'on_mismatch', 'mismatch', 'outcome', 'alert', 'error', 'refunds', 'paid_amount', 'disputes',
    'raw', 'correlation_id', 'occurred_at', 'received_at',
  ],
  // biome-ignore format: several names a line.
  refunds: [
    'id', 'transaction_id', 'amount', 'reason', 'status', 'gateway_refund_id',
    'idempotency_key', 'request_hash', 'asked_by', 'correlation_id', 'error', 'created_at',
    'updated_at',
  ],
  // biome-ignore format: several names a line.
  disputes: [
    'id', 'transaction_id', 'dispute', 'part', 'amount', 'currency', 'out_amount',
    'is_inquiry', 'outcome', 'ended_at', 'read_at', 'created_at', 'updated_at',
  ],
  // biome-ignore format: several names a line.
  outbox: [
    'id', 'transaction_id', 'type', 'payload', 'correlation_id', 'created_at',
    'leased_until', 'attempts', 'next_attempt_at', 'done_at',
  ],
  // biome-ignore format: several names a line.
  deliveries: [
    'id', 'outbox_id', 'endpoint', 'status', 'attempts', 'leased_until',
    'next_attempt_at', 'last_status', 'last_error', 'created_at', 'delivered_at',
  ],
  // biome-ignore format: several names a line.
  alerts: [
    'id', 'kind', 'subject', 'gateway', 'transaction_id', 'detail', 'created_at',
    'acknowledged_at', 'acknowledged_by', 'gateway_reference',
  ],
  audit: ['id', 'at', 'action', 'subject', 'transaction_id', 'about', 'amount', 'detail'],
  // biome-ignore format: several names a line.
  movements: [
    'id', 'kind', 'transaction_id', 'gateway', 'refund_id', 'amount', 'currency', 'booked_at',
    'occurred_at', 'estimated',
  ],
} as const satisfies Columns
