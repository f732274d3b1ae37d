// The tables and columns that the ledger loads and saves.

import type { Rows, TableName } from '../working-set.ts'

type Columns = { readonly [Name in TableName]: readonly (keyof Rows[Name][number] & string)[] }

export const TABLE: Readonly<Record<TableName, string>> = {
  transactions: 'payment_transactions',
  webhookEvents: 'payment_webhook_events',
  refunds: 'payment_refunds',
  outbox: 'payment_outbox',
  deliveries: 'payment_deliveries',
  alerts: 'payment_alerts',
}

export const COLUMNS = {
  transactions: [
    ...['id', 'gateway', 'reference', 'attempt', 'gateway_transaction_id'],
    ...['external_reference_id', 'idempotency_key', 'request_hash', 'status', 'amount'],
    ...['currency', 'refunded_amount', 'description', 'metadata', 'request', 'redirect_url'],
    ...['charge_answer', 'expires_at', 'called_by', 'called_until', 'next_check_at'],
    ...['correlation_id', 'error', 'created_at', 'updated_at', 'paid_at', 'paid_amount'],
    'paid_currency',
  ],
  webhookEvents: [
    ...['id', 'gateway', 'event_id', 'gateway_transaction_id', 'external_reference_id'],
    ...['reference', 'transaction_id', 'from_status', 'to_status', 'amount', 'currency'],
    ...['on_mismatch', 'mismatch', 'outcome', 'alert', 'error', 'raw', 'correlation_id'],
    ...['occurred_at', 'received_at'],
  ],
  refunds: [
    ...['id', 'transaction_id', 'amount', 'refunded_before', 'reason', 'status'],
    ...['gateway_refund_id', 'idempotency_key', 'request_hash', 'correlation_id', 'error'],
    ...['created_at', 'updated_at'],
  ],
  outbox: [
    ...['id', 'transaction_id', 'type', 'payload', 'correlation_id', 'created_at'],
    ...['leased_until', 'attempts', 'next_attempt_at', 'done_at'],
  ],
  deliveries: [
    ...['id', 'outbox_id', 'endpoint', 'status', 'attempts', 'leased_until'],
    ...['next_attempt_at', 'last_status', 'last_error', 'created_at', 'delivered_at'],
  ],
  alerts: [
    ...['id', 'kind', 'subject', 'gateway', 'transaction_id', 'detail', 'created_at'],
    ...['acknowledged_at', 'acknowledged_by'],
  ],
} as const satisfies Columns
