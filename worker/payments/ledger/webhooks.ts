// A gateway's event: recorded once, and applied to its payment, or parked until that appears.

import { type Applied, applyEvent, rejectEvent } from '../domain/apply-event.ts'
import { checkSoon } from '../domain/check.ts'
import type { Names } from '../domain/match.ts'
import type { Payment } from '../domain/payment.ts'
import type { TransactionRow, WebhookEventRow } from '../domain/rows.ts'
import type { Arrival, EventNames, Recorded } from './ledger.ts'
import { changesInOrder, type Operation, type Rules } from './operation.ts'
import type { Changes, Matched, ParkedEvent, WorkingSet } from './working-set.ts'

export function recordWebhook(arrival: Arrival, rules: Rules): Operation<Recorded> {
  const event = toRow(arrival)
  const { transactionId, receivedAt: now, payload } = arrival
  const { gateway, event_id } = event
  const names = { ...namesOf(event), ...(transactionId !== undefined && { id: transactionId }) }
  return {
    keys: { webhookEvents: [{ gateway, event_id }], payments: [names] },
    decide(rows) {
      const known = rows
        .all('webhookEvents')
        .find((row) => row.gateway === gateway && row.event_id === event_id)
      if (known) return { answer: recordedAs(known, known.id === event.id) }
      const matched = rows.match(names)
      if (!matched) return { answer: recordedAs(event, true), changes: { webhookEvents: [event] } }
      const { refundId } = payload
      // It has just answered: it is asked again when that is due.
      const isAnswer = transactionId !== undefined
      const decided = decideOn(matched, event, { now, refundId, isAnswer })
      const changes = changesWith(rows, { before: matched.payment, decided, now }, rules)
      return { answer: recordedAs(decided.event, true), changes }
    },
  }
}

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
  const { id, ...names } = parked
  return {
    keys: { webhookEventIds: [id], payments: [names] },
    decide(rows) {
      const event = rows.get('webhookEvents', id)
      const matched = event && rows.match(namesOf(event))
      if (!event || !matched) return { answer: {} }
      // Applied before: by this very call, whose answer was lost, or by another.
      if (event.outcome !== 'parked') return { answer: { event, transaction: matched.row } }
      const applied = decideOn(matched, event, { now })
      return {
        answer: { event: applied.event, transaction: applied.payment.transaction },
        changes: changesWith(rows, { before: matched.payment, decided: applied, now }, rules),
      }
    },
  }
}

interface Decided extends Applied {
  /** Other payments that the event's ids name. */
  others: readonly TransactionRow[]
}

function decideOn(
  { payment, others, isContradiction }: Matched,
  event: WebhookEventRow,
  how: { now: number; refundId?: string | undefined; isAnswer?: boolean },
): Decided {
  const { now, refundId, isAnswer = false } = how
  if (!isContradiction) return { ...applyEvent(payment, event, now, refundId), others: [] }
  const rejected = rejectEvent(payment, event, others[0], now)
  if (isAnswer) return { ...rejected, others: [] }
  const transaction = checkSoon(payment.transaction, now)
  const asked = others.map((other) => checkSoon(other, now))
  return { ...rejected, payment: { ...rejected.payment, transaction }, others: asked }
}

function changesWith(
  rows: WorkingSet,
  { before, decided, now }: { before: Payment; decided: Decided; now: number },
  rules: Rules,
): Changes {
  const changes = changesInOrder(rows, { before, decision: decided, now }, rules)
  const transactions = [...(changes.transactions ?? []), ...decided.others]
  return { ...changes, transactions, webhookEvents: [decided.event] }
}

/** The names of a gateway's event, as they are stored and compared. */
export function namesIn(gateway: string, given: EventNames): Names {
  const { gatewayTransactionId = '', externalReferenceId = '', reference = '', isOtherId } = given
  return {
    gateway: wellFormed(gateway),
    gateway_transaction_id: isOtherId ? null : wellFormed(gatewayTransactionId) || null,
    external_reference_id: wellFormed(externalReferenceId) || null,
    reference: wellFormed(reference) || null,
    amount: given.amount ?? null,
    currency: given.currency === undefined ? null : currencyOf(given.currency),
  }
}

const namesOf = (event: WebhookEventRow): Names => ({
  gateway: event.gateway,
  gateway_transaction_id: event.gateway_transaction_id,
  external_reference_id: event.external_reference_id,
  reference: event.reference,
  amount: event.amount,
  currency: event.currency,
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
  const { amount, currency, error, raw } = payload
  return {
    ...namesIn(payload.gateway, payload),
    id,
    event_id: wellFormed(payload.eventId),
    transaction_id: null,
    from_status: null,
    to_status: payload.status,
    amount,
    currency: currencyOf(currency),
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

/** Gateways write `iqd`, too. */
const currencyOf = (given: string): string => wellFormed(given).toUpperCase()
