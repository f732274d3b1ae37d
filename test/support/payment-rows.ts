// Rows of the payment tables for tests of decisions: each test gives only the fields that matter to
// it.

import type { NewEvent, Payment } from '../../worker/payments/domain/payment.ts'
import type {
  AlertRow,
  DeliveryRow,
  DisputeRow,
  OutboxRow,
  RefundRow,
  TransactionRow,
  WebhookEventRow,
} from '../../worker/payments/domain/rows.ts'

export const NOW = Date.parse('2026-01-05T10:00:00Z')
export const MINUTE = 60_000

/** A charge of 25,000 IQD with the gateway's id, which is due for a check in an hour. */
export const transactionRow = (own: Partial<TransactionRow> = {}): TransactionRow => ({
  id: '01TX',
  gateway: 'bank',
  reference: 'order-1',
  attempt: 1,
  gateway_transaction_id: 'gateway-1',
  external_reference_id: 'external-1',
  idempotency_key: null,
  request_hash: 'hash-1',
  status: 'Pending',
  amount: 25_000,
  currency: 'IQD',
  refunded_amount: 0,
  refund_revision: 0,
  refunds_read_at: null,
  description: 'Three books',
  metadata: null,
  request: JSON.stringify({ gateway: 'bank', reference: 'order-1' }),
  redirect_url: null,
  charge_answer: null,
  expires_at: null,
  called_by: null,
  called_until: null,
  next_check_at: NOW + 60 * MINUTE,
  correlation_id: 'correlation-1',
  error: null,
  created_at: NOW - MINUTE,
  updated_at: NOW - MINUTE,
  paid_at: null,
  paid_amount: null,
  paid_currency: null,
  is_repeat: 0,
  unreadable_event: null,
  alert: null,
  installation: null,
  last_check_at: null,
  last_check_status: null,
  ...own,
})

/**
 * A payment with this status, of which 25,000 IQD were paid and, if partly, 5,000 refunded.
 */
export const came = (status: TransactionRow['status']): Partial<TransactionRow> => {
  const isPaid = status === 'Paid' || status === 'Refunded' || status === 'PartiallyRefunded'
  const back = { Refunded: 25_000, PartiallyRefunded: 5_000 } as Partial<Record<string, number>>
  return {
    status,
    refunded_amount: back[status] ?? 0,
    ...(isPaid && { paid_at: NOW - MINUTE, paid_amount: 25_000, paid_currency: 'IQD' }),
  }
}

export const paymentOf = (
  own: Partial<TransactionRow> = {},
  more: Partial<Omit<Payment, 'transaction'>> = {},
): Payment => ({
  transaction: transactionRow(own),
  refunds: own.refunded_amount ? [earlierRefund(own.refunded_amount)] : [],
  disputes: [],
  alerts: [],
  ...more,
})

/** What `came` has refunded. */
const earlierRefund = (amount: number): RefundRow =>
  refundRow({ id: '00REFUND', status: 'succeeded', amount, request_hash: null })

/** A webhook event of 25,000 IQD. */
export const webhookEventRow = (own: Partial<WebhookEventRow> = {}): WebhookEventRow => ({
  id: '01EVENT',
  gateway: 'bank',
  event_id: 'event-1',
  gateway_transaction_id: 'gateway-1',
  external_reference_id: null,
  reference: 'order-1',
  transaction_id: null,
  from_status: null,
  to_status: 'Paid',
  amount: 25_000,
  currency: 'IQD',
  on_mismatch: 'log',
  mismatch: 0,
  outcome: 'parked',
  alert: null,
  error: null,
  refunds: null,
  paid_amount: null,
  disputes: null,
  raw: null,
  correlation_id: 'correlation-2',
  occurred_at: NOW - 1_000,
  received_at: NOW,
  ...own,
})

/** A refund of 4,000 IQD that was claimed a minute ago. */
export const refundRow = (own: Partial<RefundRow> = {}): RefundRow => ({
  id: '01REFUND',
  transaction_id: '01TX',
  amount: 4_000,
  reason: 'Returned',
  status: 'claimed',
  gateway_refund_id: null,
  idempotency_key: null,
  request_hash: 'hash-2',
  asked_by: null,
  correlation_id: null,
  error: null,
  created_at: NOW - MINUTE,
  updated_at: NOW - MINUTE,
  ...own,
})

/** A dispute about all of a payment, which its bank has taken. */
export const disputeRow = (own: Partial<DisputeRow> = {}): DisputeRow => ({
  id: '01DISPUTE',
  transaction_id: '01TX',
  dispute: 'dp-1',
  part: 'dp-1',
  amount: 25_000,
  currency: 'IQD',
  out_amount: 25_000,
  is_inquiry: 0,
  outcome: null,
  ended_at: null,
  read_at: NOW - MINUTE,
  created_at: NOW - MINUTE,
  updated_at: NOW - MINUTE,
  ...own,
})

/** The success of a payment, pending for the listeners. */
export const outboxRow = (own: Partial<OutboxRow> = {}): OutboxRow => ({
  id: '01OUTBOX',
  transaction_id: '01TX',
  type: 'PaymentSucceeded',
  payload: '{"transaction":{}}',
  correlation_id: 'correlation-2',
  created_at: NOW,
  leased_until: null,
  attempts: 0,
  next_attempt_at: NOW,
  done_at: null,
  ...own,
})

export const deliveryRow = (own: Partial<DeliveryRow> = {}): DeliveryRow => ({
  id: '01DELIVERY',
  outbox_id: '01OUTBOX',
  endpoint: 'https://shop.example/events',
  status: 'pending',
  attempts: 0,
  leased_until: null,
  next_attempt_at: NOW,
  last_status: null,
  last_error: null,
  created_at: NOW,
  delivered_at: null,
  ...own,
})

/** An open alert for late money. */
export const alertRow = (own: Partial<AlertRow> = {}): AlertRow => ({
  id: '01ALERT',
  kind: 'late_payment',
  subject: '01EVENT',
  gateway: 'bank',
  transaction_id: '01TX',
  detail: '{"amount":25000}',
  created_at: NOW,
  acknowledged_at: null,
  acknowledged_by: null,
  gateway_reference: null,
  ...own,
})

export const typesOf = (events: readonly NewEvent[]): string[] => events.map(({ type }) => type)

/**
 * Cases in a text: what is shown, and in the next line what there is, what comes, and what then is,
 * as `there + comes = then`.
 */
export function casesIn(text: string): [string, string, string, string][] {
  const lines = text.trim().split('\n')
  return lines.flatMap((line, at): [string, string, string, string][] => {
    if (at % 2 === 0) return []
    const parts = /^ *(.*?) ?\+ (.*?) ?= ?(.*)$/.exec(line)
    if (!parts) throw new Error(`no case: ${line}`)
    const [, there = '', comes = '', then = ''] = parts
    return [[lines[at - 1]?.trim() ?? '', there, comes, then]]
  })
}
