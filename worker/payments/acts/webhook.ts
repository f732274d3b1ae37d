// A gateway's event: recorded once, and applied to its payment, or parked until that appears. Pure.

import {
  type Applied,
  applyEvent,
  missedPayment,
  paidEventId,
  rejectEvent,
} from '../domain/apply-event.ts'
import { areDisputesChanged } from '../domain/disputes.ts'
import type { Delivered } from '../domain/event-alerts.ts'
import { currencyOf, type PaymentIds, paymentIdsIn, wellFormed } from '../domain/match.ts'
import { newId } from '../domain/new-id.ts'
import { withPageClosed } from '../domain/open-charge.ts'
import { alertAbout, type Payment, unchanged, withTransaction } from '../domain/payment.ts'
import { areChanged, differsFrom } from '../domain/refunds.ts'
import { type TransactionRow, WEBHOOK_EVENTS, type WebhookEventRow } from '../domain/rows.ts'
import { unreadableReason } from '../domain/shown.ts'
import type { Outcome } from '../domain/status.ts'
import { isTime } from '../domain/time.ts'
import type { VerifiedWebhook } from '../domain/types.ts'
import { type Act, byId, keysOfIds, type Rules, store, storeInOrder } from './act.ts'
import { withCheck, withCheckSoon } from './check.ts'
import type { Matched, WorkingSet } from './working-set.ts'

export interface Arrival {
  /** ULID. */
  id: string
  /** Masked. */
  payload: VerifiedWebhook
  /** Ours: the gateway was asked about this payment. A webhook has only the ids of its payload. */
  transactionId?: string
  onMismatch: 'log' | 'reject'
  correlationId?: string
  receivedAt: number
}

export interface Recorded {
  /**
   * `duplicate`: this event was recorded before, and nothing happened now. `ignored`: it is about a
   * payment of another installation.
   */
  outcome: Outcome | 'duplicate' | 'ignored'
  /** Undefined while parked. */
  transactionId?: string
}

export function recordWebhook(arrival: Arrival, rules: Rules): Act<Recorded> {
  checkArrival(arrival)
  const event = toRow(arrival)
  const { transactionId, receivedAt: now, payload } = arrival
  const { gateway, event_id } = event
  const ids = { ...idsOf(event), ...(transactionId !== undefined && { id: transactionId }) }
  // It has just answered: it is asked again when that is due.
  const isAnswer = transactionId !== undefined
  const names = [event_id, paidEventId(event), again(event)]
  return {
    keys: [...names.map((name) => ['event', gateway, name] as const), ...keysOfIds(ids)],
    decide(rows) {
      const { installation = rows.installation } = payload
      if (installation !== rows.installation) return { outcome: 'ignored' }
      const mine = rows.get('webhookEvents', event.id)
      if (mine) return recordedAs(mine, true)
      const known = knownIn(rows, event)
      const matched = rows.match(ids)
      if (known && !isAnswer) {
        if (matched && known !== 'forgotten') askAgain(rows, matched, payload, rules, now)
        return known === 'forgotten' ? { outcome: 'duplicate' } : recordedAs(known, false)
      }
      if (!matched) {
        if (known) return { outcome: 'duplicate' }
        rows.put({ webhookEvents: [event] })
        return recordedAs(event, true)
      }
      const { refundId } = payload
      const take = (found: Matched, each: WebhookEventRow) => {
        const decided = decideOn(found, each, { now, refundId, isAnswer })
        const isRead = knownIn(rows, each) !== undefined
        if (isRead && !isNews(found.payment, decided.payment)) return undefined
        // An answer that was not used when it was read before is another event now.
        const stored = isRead ? { ...decided.event, event_id: again(each) } : decided.event
        const payment = isAnswer ? answered(decided.payment, payload, now) : decided.payment
        const isClosed = payload.isPageClosed && stored.outcome !== 'rejected'
        const closed = {
          ...decided,
          event: stored,
          payment: isClosed ? withPageClosed(payment) : payment,
        }
        storeEvent(rows, { before: found.payment, decided: closed, now }, rules)
        return stored
      }
      const paid = payFirst(matched, event, now)
      if (paid) take(matched, paid)
      const stored = take(rows.match(ids) ?? matched, event)
      return recordedAs(stored ?? event, stored !== undefined)
    },
  }
}

/**
 * Throws RangeError for a value that an INTEGER column would refuse, or that would make its row
 * unreadable. The caller refuses such events itself; this is the last check.
 */
function checkArrival({ payload: { amount, occurredAt } }: Arrival): void {
  if (!Number.isSafeInteger(amount)) throw new RangeError(`${amount} is not an amount`)
  if (!isTime(occurredAt)) throw new RangeError(`${occurredAt} is not a time`)
}

/** Undefined: it was not recorded before. */
const knownIn = (rows: WorkingSet, { gateway, event_id }: WebhookEventRow) =>
  rows.all('webhookEvents').find((row) => row.gateway === gateway && row.event_id === event_id) ??
  (rows.isForgotten(gateway, event_id) ? 'forgotten' : undefined)

/** Its name where its own is taken: unlike that, of this call alone. */
const again = ({ id, event_id }: WebhookEventRow): string => `${event_id}:${id}`

const isNews = (before: Payment, after: Payment): boolean =>
  before.transaction.status !== after.transaction.status ||
  before.transaction.paid_at !== after.transaction.paid_at ||
  before.transaction.paid_amount !== after.transaction.paid_amount ||
  areChanged(before.refunds, after.refunds) ||
  areDisputesChanged(before.disputes, after.disputes)

function payFirst(
  { payment, isContradiction }: Matched,
  event: WebhookEventRow,
  now: number,
): WebhookEventRow | undefined {
  const missed = isContradiction ? undefined : missedPayment(payment, event)
  return missed && { ...missed, id: newId(now) }
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
  const asked = withTransaction(payment, withCheckSoon(payment.transaction, now))
  store(rows, unchanged(asked), rules)
}

/** The ids of parked events whose payment has appeared, in the order in which they occurred. */
export const findParked = (limit: number): Act<string[]> => ({
  keys: [['dueParked', { limit }]],
  decide: (rows) =>
    rows
      .all('webhookEvents')
      .toSorted(byTime)
      .slice(0, limit)
      .map(({ id }) => id),
})

export const applyParked = (id: string, rules: Rules, now: number): Act<void> => ({
  keys: [['parked', id]],
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
      const paid = payFirst(matched, parked, now)
      for (const event of paid ? [paid, parked] : [parked]) {
        const found = rows.match(idsOf(parked)) ?? matched
        const decided = decideOn(found, event, { now })
        storeEvent(rows, { before: found.payment, decided, now }, rules)
      }
    })
  } catch (error) {
    const detail = { eventId: parked.event_id, error: unreadableReason(error) }
    const alert = alertAbout(matched.row, 'unreadable', now, detail, parked.id)
    store(rows, { ...unchanged(matched.payment), alerts: [alert] }, rules)
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
  const transaction = withCheckSoon(payment.transaction, now)
  const asked = others.map((other) => withCheckSoon(other, now))
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
  a.occurred_at - b.occurred_at || byId(a, b)

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
  const { amount, currency, error, refunds, paidAmount, disputes, raw } = payload
  return WEBHOOK_EVENTS.row({
    ...paymentIdsIn(payload.gateway, payload),
    id,
    event_id: wellFormed(payload.eventId),
    to_status: payload.status,
    amount,
    currency: currencyOf(currency),
    on_mismatch: onMismatch,
    mismatch: 0,
    outcome: 'parked',
    alert: payload.alert ?? null,
    error: error ? JSON.stringify(error) : null,
    refunds: refunds ? JSON.stringify(refunds) : null,
    paid_amount: paidAmount ?? null,
    disputes: disputes ? JSON.stringify(disputes) : null,
    raw: raw === undefined ? null : JSON.stringify(raw),
    correlation_id: correlationId ?? null,
    occurred_at: payload.occurredAt,
    received_at: receivedAt,
  })
}
