// A gateway's event: recorded once, and applied to its payment, or parked until that appears. One
// that cannot be used makes its payment due for a check. Pure.

import {
  type Applied,
  applyEvent,
  type Delivered,
  missedPayment,
  paidEventId,
  rejectEvent,
} from '../domain/apply-event.ts'
import { areDisputesChanged } from '../domain/disputes.ts'
import {
  currencyOf,
  type EventIds,
  type PaymentIds,
  paymentIdsIn,
  wellFormed,
} from '../domain/match.ts'
import { newId } from '../domain/new-id.ts'
import { withPageClosed } from '../domain/open-charge.ts'
import {
  type Alert,
  alertAbout,
  type Decision,
  type Payment,
  raiseAlert,
  unchanged,
  withTransaction,
} from '../domain/payment.ts'
import { areChanged, differsFrom } from '../domain/refunds.ts'
import {
  type TransactionRow,
  unreadableReason,
  WEBHOOK_EVENTS,
  type WebhookEventRow,
} from '../domain/rows.ts'
import type { CheckStatus, Outcome } from '../domain/status.ts'
import { isTime } from '../domain/time.ts'
import type { Report, VerifiedWebhook } from '../domain/types.ts'
import {
  type Act,
  byId,
  type Key,
  keysOfIds,
  type Matched,
  type Rules,
  type WorkingSet,
} from './act.ts'
import { store, storeInOrder } from './store.ts'

export interface Arrival {
  /** ULID. */
  id: string
  /** Masked. */
  payload: VerifiedWebhook
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
  const { id, payload, onMismatch, correlationId, receivedAt: now } = arrival
  const event = eventOf(payload, {
    ...paymentIdsIn(payload.gateway, payload),
    id,
    event_id: payload.eventId,
    on_mismatch: onMismatch,
    alert: payload.alert ?? null,
    paid_amount: payload.paidAmount ?? null,
    correlation_id: correlationId ?? null,
    occurred_at: payload.occurredAt,
    received_at: now,
  })
  return {
    keys: [...keysOfEvent(event), ...keysOfIds(event)],
    decide(rows) {
      const { installation = rows.installation, refundId } = payload
      if (installation !== rows.installation) return { outcome: 'ignored' }
      const mine = rows.get('webhookEvents', id)
      if (mine) return recordedAs(mine, true)
      const known = knownIn(rows, event)
      const matched = rows.match(event)
      if (known) {
        if (known === 'forgotten') return { outcome: 'duplicate' }
        if (matched) askAgain(rows, matched, payload, rules, now)
        return recordedAs(known, false)
      }
      if (matched) {
        const { isPageClosed = false } = payload
        const stored = take(rows, matched, event, { now, refundId, isPageClosed }, rules)
        return recordedAs(stored ?? event, stored !== undefined)
      }
      rows.put({ webhookEvents: [event] })
      return recordedAs(event, true)
    },
  }
}

/** What is stored of an event beside what its gateway told. */
type Beside = PaymentIds &
  Pick<
    WebhookEventRow,
    | 'id'
    | 'event_id'
    | 'on_mismatch'
    | 'paid_amount'
    | 'correlation_id'
    | 'occurred_at'
    | 'received_at'
  > &
  Partial<Pick<WebhookEventRow, 'alert'>>

/**
 * The row of what was told, until it is applied. Throws RangeError for a value that an INTEGER
 * column would refuse, or that would make its row unreadable. The caller refuses such events
 * itself; this is the last check.
 */
export function eventOf(report: Report, { event_id, ...beside }: Beside): WebhookEventRow {
  const { amount, currency, error, refunds, disputes, raw } = report
  if (!Number.isSafeInteger(amount)) throw new RangeError(`${amount} is not an amount`)
  if (!isTime(beside.occurred_at)) throw new RangeError(`${beside.occurred_at} is not a time`)
  return WEBHOOK_EVENTS.row({
    ...beside,
    event_id: wellFormed(event_id),
    to_status: report.status,
    amount,
    currency: currencyOf(currency),
    mismatch: 0,
    outcome: 'parked',
    error: error ? JSON.stringify(error) : null,
    refunds: refunds ? JSON.stringify(refunds) : null,
    disputes: disputes ? JSON.stringify(disputes) : null,
    raw: raw === undefined ? null : JSON.stringify(raw),
  })
}

type EventName = Pick<WebhookEventRow, 'id' | 'gateway' | 'event_id'>

/** By all the names that it may be stored under. */
export const keysOfEvent = (event: EventName): Key[] =>
  [event.event_id, paidEventId(event), again(event)].map((name) => ['event', event.gateway, name])

/** Undefined: it was not recorded before. */
const knownIn = (rows: WorkingSet, { gateway, event_id }: WebhookEventRow) =>
  rows.all('webhookEvents').find((row) => row.gateway === gateway && row.event_id === event_id) ??
  (rows.isForgotten(gateway, event_id) ? 'forgotten' : undefined)

/** Its name where its own is taken: unlike that, of this call alone. */
const again = ({ id, event_id }: EventName): string => `${event_id}:${id}`

/** What comes with an event, and is not stored with it. */
interface Delivery extends Delivered {
  isPageClosed?: boolean
}

/**
 * Applies it to its payment, and first the payment that it tells of only together with what became
 * of it. Undefined: it was recorded before, and changes nothing now.
 */
export function take(
  rows: WorkingSet,
  found: Matched,
  event: WebhookEventRow,
  delivery: Delivery,
  rules: Rules,
): WebhookEventRow | undefined {
  const missed = found.isContradiction ? undefined : missedPayment(found.payment, event)
  if (missed) takeOne(rows, found, { ...missed, id: newId(delivery.now) }, delivery, rules)
  return takeOne(rows, rows.match(event) ?? found, event, delivery, rules)
}

function takeOne(
  rows: WorkingSet,
  found: Matched,
  event: WebhookEventRow,
  delivery: Delivery,
  rules: Rules,
): WebhookEventRow | undefined {
  const { now, isAnswer, isPageClosed } = delivery
  const { others, ...decided } = decideOn(found, event, delivery)
  // One that was parked is itself.
  const known = knownIn(rows, event)
  const isRead = known !== undefined && known !== event
  if (isRead && !isMoved(found.payment, decided.payment)) return undefined
  // An answer that was not used when it was read before is another event now.
  const stored = isRead ? { ...decided.event, event_id: again(event) } : decided.event
  const { gateway_transaction_id: id } = decided.payment.transaction
  // Without an id it was given up, and not asked about.
  const isAsked = isAnswer && id !== null
  const seen = isAsked ? withCheck(decided.payment, event.to_status, now) : decided.payment
  const isClosed = isPageClosed && stored.outcome !== 'rejected'
  const decision = { ...decided, payment: isClosed ? withPageClosed(seen) : seen }
  storeInOrder(rows, { before: found.payment, decision, now, event: stored }, rules)
  rows.put({ transactions: others, webhookEvents: [stored] })
  return stored
}

const isMoved = (before: Payment, after: Payment): boolean =>
  before.transaction.status !== after.transaction.status ||
  before.transaction.paid_at !== after.transaction.paid_at ||
  before.transaction.paid_amount !== after.transaction.paid_amount ||
  areChanged(before.refunds, after.refunds) ||
  areDisputesChanged(before.disputes, after.disputes)

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
  const matched = rows.match(parked)
  if (!matched) return
  try {
    rows.attempt(() => take(rows, matched, parked, { now }, rules))
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

/** In the order in which they occurred. */
export const byTime = (a: WebhookEventRow, b: WebhookEventRow): number =>
  a.occurred_at - b.occurred_at || byId(a, b)

const recordedAs = ({ outcome, transaction_id }: WebhookEventRow, isMine: boolean): Recorded => ({
  outcome: isMine ? outcome : 'duplicate',
  ...(transaction_id !== null && { transactionId: transaction_id }),
})

export function withCheckSoon(transaction: TransactionRow, now: number): TransactionRow {
  const { next_check_at: due } = transaction
  const isSooner = due === null || due > now
  return isSooner ? { ...transaction, next_check_at: now } : transaction
}

/** The gateway was asked about it: also a check that changed nothing is seen. */
export const withCheck = (payment: Payment, status: CheckStatus, now: number): Payment =>
  withTransaction(payment, { last_check_at: now, last_check_status: status })

interface SoonChecked {
  gateway: string
  ids: EventIds
  now: number
  /** An event with these ids. One that is final raises an alert, also without a payment. */
  unreadable?: UnreadableEvent | undefined
}

export function checkSoon(
  { gateway, ids: asked, now, unreadable }: SoonChecked,
  rules: Rules,
): Act<undefined> {
  const ids = paymentIdsIn(gateway, asked)
  const { gatewayTransactionId: about } = asked
  const alert = unreadable?.isFinal && unreadableAlert(unreadable, gateway, about, now)
  const alertKeys: Key[] = alert ? [['alert', alert.kind, alert.subject]] : []
  return {
    keys: [...keysOfIds(ids), ...alertKeys],
    decide(rows) {
      const matched = rows.match(ids)
      if (!matched) {
        const known = rows.all('alerts').find(({ subject }) => subject === alert?.subject)
        const raised = alert && raiseAlert(alert, known, () => newId(now))
        if (raised) rows.put({ alerts: [raised] })
        return undefined
      }
      const { payment, others } = matched
      const decision = unreadable
        ? rememberUnreadable(payment, unreadable, now)
        : unchanged(withTransaction(payment, withCheckSoon(payment.transaction, now)))
      store(rows, decision, rules)
      rows.put({ transactions: others.map((other) => withCheckSoon(other, now)) })
      return undefined
    },
  }
}

/** A webhook that is genuine and could not be read. */
export interface UnreadableEvent {
  /** Generated once for each delivery. */
  id: string
  /** The fields, without their values. */
  why: string
  /** It will not be repeated: a person must know at once. */
  isFinal?: true
}

/** For one whose payment is not known. `about`: the gateway's id of what it is about. */
function unreadableAlert(
  { id, why }: UnreadableEvent,
  gateway: string,
  about: string | undefined,
  now: number,
): Alert {
  return {
    kind: 'unreadable',
    subject: about === undefined ? id : `${gateway} ${about}`,
    gateway,
    transactionId: null,
    createdAt: now,
    detail: {
      error: `A webhook cannot be read: ${why}.`,
      ...(about !== undefined && { gatewayTransactionId: about }),
    },
  }
}

/**
 * The gateway is asked instead. It will repeat the event: from the second on a person must know,
 * because all later events of this kind may be lost, too.
 */
function rememberUnreadable(payment: Payment, unreadable: UnreadableEvent, now: number): Decision {
  const { payment: remembered, alerts } = unreadableTwice(payment, unreadable, 'webhooks', now)
  const asked = withCheckSoon(remembered.transaction, now)
  return { payment: withTransaction(remembered, asked), events: [], alerts }
}

/** The first time, the gateway may only be in disorder. */
export function unreadableTwice(
  payment: Payment,
  { id: event, why, isFinal }: UnreadableEvent,
  what: 'webhooks' | 'status',
  now: number,
): Pick<Decision, 'payment' | 'alerts'> {
  const { transaction } = payment
  const first = transaction.unreadable_event ?? event
  const error = `Its ${what} cannot be read: ${why}.`
  const subject = `${transaction.id} event`
  const alert = alertAbout(transaction, 'unreadable', now, { error }, subject)
  return {
    payment: withTransaction(payment, { unreadable_event: first }),
    alerts: first === event && !isFinal ? [] : [alert],
  }
}
