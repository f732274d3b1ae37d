// A gateway's event: recorded once, and applied to its payment, or parked until that appears.

import { applyEvent } from '../domain/apply-event.ts'
import type { Names } from '../domain/match.ts'
import type { TransactionRow, WebhookEventRow } from '../domain/rows.ts'
import type { Arrival, Recorded } from './ledger.ts'
import { changesInOrder, type Operation, type Rules } from './operation.ts'

export function recordWebhook(arrival: Arrival, rules: Rules): Operation<Recorded> {
  const event = toRow(arrival)
  const { gateway, event_id } = event
  return {
    keys: { webhookEvents: [{ gateway, event_id }], payments: [namesOf(event)] },
    decide(rows) {
      const known = rows
        .all('webhookEvents')
        .find((row) => row.gateway === gateway && row.event_id === event_id)
      if (known) return { answer: recordedAs(known, known.id === event.id) }
      const payment = rows.match(event)
      if (!payment) return { answer: recordedAs(event, true), changes: { webhookEvents: [event] } }
      const { refundId } = arrival.payload
      const now = arrival.receivedAt
      const applied = applyEvent(payment, event, now, refundId)
      const changed = changesInOrder(rows, { before: payment, decision: applied, now }, rules)
      const changes = { webhookEvents: [applied.event], ...changed }
      return { answer: recordedAs(applied.event, true), changes }
    },
  }
}

/** An event that was parked, by its id and its names. */
export type ParkedEvent = Pick<
  WebhookEventRow,
  'id' | 'gateway' | 'gateway_transaction_id' | 'external_reference_id' | 'reference'
>

export interface ParkedApplied {
  /** Undefined: its payment has not appeared. */
  event?: WebhookEventRow
  transaction?: TransactionRow
}

export function applyParked(
  parked: ParkedEvent,
  rules: Rules,
  now: number,
): Operation<ParkedApplied> {
  return {
    keys: { webhookEventIds: [parked.id], payments: [namesOf(parked)] },
    decide(rows) {
      const event = rows.get('webhookEvents', parked.id)
      const payment = event && rows.match(event)
      if (!event || !payment) return { answer: {} }
      const { transaction } = payment
      // Applied before: by this very call, whose answer was lost, or by another.
      if (event.outcome !== 'parked') return { answer: { event, transaction } }
      const applied = applyEvent(payment, event, now)
      const changed = changesInOrder(rows, { before: payment, decision: applied, now }, rules)
      return {
        answer: { event: applied.event, transaction: applied.payment.transaction },
        changes: { webhookEvents: [applied.event], ...changed },
      }
    },
  }
}

const namesOf = (event: Names): Names => ({
  gateway: event.gateway,
  gateway_transaction_id: event.gateway_transaction_id,
  external_reference_id: event.external_reference_id,
  reference: event.reference,
})

const recordedAs = (
  { outcome, mismatch, transaction_id }: WebhookEventRow,
  isMine: boolean,
): Recorded => ({
  outcome: isMine ? outcome : 'duplicate',
  isMismatch: mismatch === 1,
  ...(transaction_id !== null && { transactionId: transaction_id }),
})

function toRow({ id, payload, onMismatch, correlationId, receivedAt }: Arrival): WebhookEventRow {
  const { gatewayTransactionId, externalReferenceId = '', reference, error, raw } = payload
  return {
    id,
    gateway: wellFormed(payload.gateway),
    event_id: wellFormed(payload.eventId),
    gateway_transaction_id: wellFormed(gatewayTransactionId) || null,
    external_reference_id: wellFormed(externalReferenceId) || null,
    reference: wellFormed(reference) || null,
    transaction_id: null,
    from_status: null,
    to_status: payload.status,
    amount: payload.amount,
    currency: wellFormed(payload.currency),
    on_mismatch: onMismatch,
    mismatch: 0,
    outcome: 'parked',
    alert: payload.alert ?? null,
    error: error ? JSON.stringify(error) : null,
    raw: raw === undefined ? null : JSON.stringify(raw),
    correlation_id: correlationId ?? null,
    occurred_at: Date.parse(payload.occurredAt),
    received_at: receivedAt,
  }
}

/** Half a surrogate pair has no UTF-8: it would be stored as another text, and not be found. */
const wellFormed = (given: string): string => given.toWellFormed()
