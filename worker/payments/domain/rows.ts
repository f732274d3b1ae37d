// The rows of the payment tables, as the database holds them: see schema.sql for what each column
// means. Times are ms, amounts minor units, JSON columns text. Types only.
//
// JSON stays text here, so that a row whose JSON is broken fails only what reads that column.

import type {
  Action,
  AlertKind,
  CheckStatus,
  DurableEvent,
  MovementKind,
  Outcome,
  PaymentStatus,
} from './status.ts'

export interface TransactionRow {
  id: string
  gateway: string
  reference: string
  attempt: number
  gateway_transaction_id: string | null
  external_reference_id: string | null
  idempotency_key: string | null
  request_hash: string | null
  status: PaymentStatus
  amount: number
  currency: string
  refunded_amount: number
  refund_revision: number
  refunds_read_at: number | null
  description: string | null
  metadata: string | null
  request: string | null
  redirect_url: string | null
  charge_answer: string | null
  expires_at: number | null
  called_by: string | null
  called_until: number | null
  next_check_at: number | null
  correlation_id: string | null
  error: string | null
  created_at: number
  updated_at: number
  paid_at: number | null
  paid_amount: number | null
  paid_currency: string | null
  is_repeat: 0 | 1
  unreadable_event: string | null
  /** An OpenAlert. */
  alert: string | null
  installation: string | null
  last_check_at: number | null
  last_check_status: CheckStatus | null
}

export interface ChargeKeyRow {
  id: string
  gateway: string
  idempotency_key: string
  transaction_id: string
}

export interface WebhookEventRow {
  id: string
  gateway: string
  event_id: string
  gateway_transaction_id: string | null
  external_reference_id: string | null
  reference: string | null
  transaction_id: string | null
  from_status: PaymentStatus | null
  to_status: PaymentStatus
  amount: number
  currency: string
  on_mismatch: 'log' | 'reject'
  mismatch: 0 | 1
  outcome: Outcome
  alert: 'refund_failed' | 'dispute' | null
  error: string | null
  /** A RefundSet. */
  refunds: string | null
  paid_amount: number | null
  /** A DisputeSet. */
  disputes: string | null
  raw: string | null
  correlation_id: string | null
  occurred_at: number
  received_at: number
}

export interface RefundRow {
  id: string
  transaction_id: string
  amount: number
  reason: string
  status: 'claimed' | 'accepted' | 'succeeded' | 'failed'
  gateway_refund_id: string | null
  idempotency_key: string | null
  request_hash: string | null
  asked_by: string | null
  correlation_id: string | null
  error: string | null
  created_at: number
  updated_at: number
}

export interface DisputeRow {
  id: string
  transaction_id: string
  dispute: string
  part: string | null
  amount: number
  currency: string
  out_amount: number
  is_inquiry: 0 | 1
  outcome: string | null
  ended_at: number | null
  read_at: number
  created_at: number
  updated_at: number
}

export interface OutboxRow {
  id: string
  transaction_id: string
  type: DurableEvent
  payload: string | null
  correlation_id: string | null
  created_at: number
  leased_until: number | null
  attempts: number
  next_attempt_at: number
  done_at: number | null
}

export interface DeliveryRow {
  id: string
  outbox_id: string
  endpoint: string
  status: 'pending' | 'delivered' | 'dead'
  attempts: number
  leased_until: number | null
  next_attempt_at: number
  last_status: number | null
  last_error: string | null
  created_at: number
  delivered_at: number | null
}

export interface AlertRow {
  id: string
  kind: AlertKind
  subject: string
  gateway: string
  transaction_id: string | null
  detail: string | null
  created_at: number
  acknowledged_at: number | null
  acknowledged_by: string | null
  gateway_reference: string | null
}

export interface AuditRow {
  id: string
  at: number
  action: Action
  subject: string
  transaction_id: string | null
  about: string | null
  amount: number | null
  detail: string | null
}

export interface MovementRow {
  id: string
  kind: MovementKind
  transaction_id: string
  gateway: string
  refund_id: string | null
  amount: number
  currency: string
  booked_at: number
  occurred_at: number
  estimated: 0 | 1
}
