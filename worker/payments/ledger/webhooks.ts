// A gateway's event: recorded once, and applied to its payment, or parked until that appears.

import { type Applied, applyEvent, type Delivered, rejectEvent } from '../domain/apply-event.ts'
import { checkSoon, withCheck } from '../domain/check.ts'
import { withPageClosed } from '../domain/finish-charge.ts'
import type { PaymentIds } from '../domain/match.ts'
import { type Payment, unchanged, withTransaction } from '../domain/payment.ts'
import { differsFrom } from '../domain/refund-rows.ts'
import type { TransactionRow, WebhookEventRow } from '../domain/rows.ts'
import { unreadableReason } from '../domain/shown.ts'
import type { VerifiedWebhook } from '../domain/types.ts'
import { type Arrival, checkArrival, type EventIds, type Recorded } from './ledger.ts'
import { type Operation, type Rules, store, storeInOrder } from './operation.ts'
import type { Matched, WorkingSet } from './working-set.ts'

export function recordWebhook(arrival: Arrival, rules: Rules): Operation<Recorded> {
  checkArrival(arrival)
  const event = toRow(arrival)
  const { transactionId, receivedAt: now, payload } = arrival
  const { gateway, event_id } = event
  const ids = { ...idsOf(event), ...(transactionId !== undefined && { id: transactionId }) }
  return {
    keys: { webhookEvents: [{ gateway, event_id }], payments: [ids] },
    decide(rows) {
      const { installation = rows.installation } = payload
      if (installation !== rows.installation) return { outcome: 'ignored' }
      if (rows.isForgotten(gateway, event_id)) return { outcome: 'duplicate' }
      const known = rows
        .all('webhookEvents')
        .find((row) => row.gateway === gateway && row.event_id === event_id)
      const matched = rows.match(ids)
      if (known) {
        if (matched && transactionId === undefined) askAgain(rows, matched, payload, rules, now)
        return recordedAs(known, known.id === event.id)
      }
      if (!matched) {
        rows.put({ webhookEvents: [event] })
        return recordedAs(event, true)
      }
      const { refundId } = payload
      // It has just answered: it is asked again when that is due.
      const isAnswer = transactionId !== undefined
      const decided = decideOn(matched, event, { now, refundId, isAnswer })
      const seen = isAnswer
        ? { ...decided, payment: answered(decided.payment, payload, now) }
        : decided
      const isClosed = payload.isPageClosed && decided.event.outcome !== 'rejected'
      const closed = isClosed ? { ...seen, payment: withPageClosed(seen.payment) } : seen
      storeEvent(rows, { before: matched.payment, decided: closed, now }, rules)
      return recordedAs(decided.event, true)
    },
  }
}

/** Without the gateway's id it was given up, and not asked about. */
const answered = (payment: Payment, { status }: VerifiedWebhook, now: number): Payment =>
  payment.transaction.gateway_transaction_id === null ? payment : withCheck(payment, status, now)

/**
 * Refunds are read when an event is delivered, so an old one may come with news: a bank without ids
 * names a second refund as it named the first.
 */
function askAgain(
  rows: WorkingSet,
  { payment, isContradiction }: Matched,
  { refunds }: VerifiedWebhook,
  rules: Rules,
  now: number,
): void {
  if (isContradiction || !refunds || !differsFrom(payment.refunds, refunds)) return
  const asked = withTransaction(payment, checkSoon(payment.transaction, now))
  store(rows, unchanged(asked), rules)
}

/** The ids of parked events whose payment has appeared, in the order in which they occurred. */
export const findParked = (limit: number): Operation<string[]> => ({
  keys: { dueParked: { limit } },
  decide: (rows) =>
    rows
      .all('webhookEvents')
      .toSorted(byTime)
      .slice(0, limit)
      .map(({ id }) => id),
})

export const applyParked = (id: string, rules: Rules, now: number): Operation<void> => ({
  keys: { parked: [id] },
  decide(rows) {
    const event = rows.get('webhookEvents', id)
    // Applied before: by this very call, whose answer was lost, or by another.
    if (event?.outcome === 'parked') applyParkedTo(rows, event, rules, now)
  },
})

/** One that throws stays parked, with an alert: others must not wait for it. */
export function applyParkedTo(
  rows: WorkingSet,
  parked: WebhookEventRow,
  rules: Rules,
  now: number,
): void {
  const matched = rows.match(idsOf(parked))
  if (!matched) return
  try {
    rows.attempt(() => {
      const decided = decideOn(matched, parked, { now })
      storeEvent(rows, { before: matched.payment, decided, now }, rules)
    })
  } catch (error) {
    const { id, gateway, reference } = matched.row
    const detail = { reference, eventId: parked.event_id, error: unreadableReason(error) }
    const about = { subject: parked.id, gateway, transactionId: id, createdAt: now }
    const alerts = [{ kind: 'unreadable', ...about, detail } as const]
    store(rows, { ...unchanged(matched.payment), alerts }, rules)
  }
}

interface Decided extends Applied {
  /** Other payments that the event's ids are of. */
  others: readonly TransactionRow[]
}

function decideOn(
  { payment, others, isContradiction }: Matched,
  event: WebhookEventRow,
  how: Delivered,
): Decided {
  const { now, isAnswer = false } = how
  if (!isContradiction) return { ...applyEvent(payment, event, how), others: [] }
  const rejected = rejectEvent(payment, event, others[0], now)
  if (isAnswer) return { ...rejected, others: [] }
  const transaction = checkSoon(payment.transaction, now)
  const asked = others.map((other) => checkSoon(other, now))
  return { ...rejected, payment: { ...rejected.payment, transaction }, others: asked }
}

function storeEvent(
  rows: WorkingSet,
  { before, decided, now }: { before: Payment; decided: Decided; now: number },
  rules: Rules,
): void {
  storeInOrder(rows, { before, decision: decided, now, event: decided.event }, rules)
  rows.put({ transactions: decided.others, webhookEvents: [decided.event] })
}

/** In the order in which they occurred. */
export const byTime = (a: WebhookEventRow, b: WebhookEventRow): number =>
  a.occurred_at - b.occurred_at || (a.id < b.id ? -1 : 1)

/** The ids of a gateway's event, as they are stored and compared. */
export function paymentIdsIn(gateway: string, given: EventIds): PaymentIds {
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

const idsOf = (event: WebhookEventRow): PaymentIds => ({
  gateway: event.gateway,
  gateway_transaction_id: event.gateway_transaction_id,
  external_reference_id: event.external_reference_id,
  reference: event.reference,
  amount: event.amount,
  currency: event.currency,
})

const recordedAs = ({ outcome, transaction_id }: WebhookEventRow, isMine: boolean): Recorded => ({
  outcome: isMine ? outcome : 'duplicate',
  ...(transaction_id !== null && { transactionId: transaction_id }),
})

function toRow({ id, payload, onMismatch, correlationId, receivedAt }: Arrival): WebhookEventRow {
  const { amount, currency, error, refunds, raw } = payload
  return {
    ...paymentIdsIn(payload.gateway, payload),
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
    refunds: refunds ? JSON.stringify(refunds) : null,
    raw: raw === undefined ? null : JSON.stringify(raw),
    correlation_id: correlationId ?? null,
    occurred_at: payload.occurredAt,
    received_at: receivedAt,
  }
}

/** Half a surrogate pair has no UTF-8: it would be stored as another text, and not be found. */
const wellFormed = (given: string): string => given.toWellFormed()

/** Gateways write `iqd`, too. */
const currencyOf = (given: string): string => wellFormed(given).toUpperCase()
