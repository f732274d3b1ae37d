// A gateway's event: which payment it is about, that it is recorded once, and that it is applied to
// its payment, or parked until that appears. Pure.

import { idMismatch } from '../domain/alerts.ts'
import { type Applied, applyEvent, type Receipt } from '../domain/apply-event.ts'
import { areDisputesChanged } from '../domain/disputes.ts'
import { newId } from '../domain/new-id.ts'
import { withPageClosed } from '../domain/open-charge.ts'
import {
  differs,
  isRefund,
  isUnpaid,
  newest,
  type Payment,
  unchanged,
  withCheck,
  withCheckBy,
  withPaymentCheckBy,
} from '../domain/payment.ts'
import { areChanged, differsFrom } from '../domain/refunds.ts'
import { type TransactionRow, WEBHOOK_EVENTS, type WebhookEventRow } from '../domain/rows.ts'
import type { Outcome } from '../domain/status.ts'
import { isTime } from '../domain/time.ts'
import type { Report, VerifiedWebhook } from '../domain/types.ts'
import { type Act, type Key, paymentIn, type Rules, type WorkingSet } from './act.ts'
import { store, storeWithBooks } from './store.ts'

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
      const matched = matchIn(rows, event)
      if (known) {
        if (known === 'forgotten') return { outcome: 'duplicate' }
        if (matched) askAgain(rows, matched, payload, rules, now)
        return recordedAs(known, false)
      }
      if (matched) {
        const { isPageClosed = false } = payload
        const stored = applyOnce(rows, matched, event, { now, refundId, isPageClosed }, rules)
        return recordedAs(stored ?? event, stored !== undefined)
      }
      rows.put({ webhookEvents: [event] })
      return recordedAs(event, true)
    },
  }
}

const recordedAs = ({ outcome, transaction_id }: WebhookEventRow, isMine: boolean): Recorded => ({
  outcome: isMine ? outcome : 'duplicate',
  ...(transaction_id !== null && { transactionId: transaction_id }),
})

/**
 * What an event or an answer is about; null for what it does not carry. `transaction_id` is ours:
 * until it is applied, only the answer to a question about a payment has it.
 */
export type PaymentIds = Pick<
  WebhookEventRow,
  'gateway' | 'gateway_transaction_id' | 'external_reference_id' | 'reference'
> & {
  transaction_id?: string | null
  amount: number | null
  currency: string | null
}

/** Which payment an event is about, as its driver reads it. */
export type EventIds = Partial<
  Pick<
    VerifiedWebhook,
    | 'gatewayTransactionId'
    | 'isOtherId'
    | 'reference'
    | 'externalReferenceId'
    | 'amount'
    | 'currency'
  >
>

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

/** Half a surrogate pair has no UTF-8: it would be stored as another text, and not be found. */
const wellFormed = (given: string): string => given.toWellFormed()

/** Gateways write `iqd`, too. */
const currencyOf = (given: string): string => wellFormed(given).toUpperCase()

/** Payments by any of these ids. */
export function keysOfIds(ids: PaymentIds): Key[] {
  const { gateway, gateway_transaction_id: gatewayId, reference } = ids
  const { transaction_id: id, external_reference_id: external } = ids
  const keys: Key[] = []
  if (id != null) keys.push(['payment', id])
  if (gatewayId !== null) keys.push(['gatewayId', gateway, gatewayId])
  if (external !== null) keys.push(['externalId', gateway, external])
  if (reference !== null) keys.push(['unnamed', gateway, reference])
  return keys
}

interface Match {
  row: TransactionRow
  /** The payments that have its other ids. */
  others: readonly TransactionRow[]
  /** Its ids are not those of one payment: it changes nothing. */
  isContradiction: boolean
}

/**
 * By the gateway's id, then by ours. Another system at the same account may number its orders as we
 * do: so by the order only without an id of ours, and only if the money agrees, as the newest row
 * that has no gateway's id yet. Never across gateways. `rows`: all that have one of these ids,
 * and maybe others.
 * @forTests The SQL that finds such payments is compared with it.
 */
export function matchTransaction(
  rows: readonly TransactionRow[],
  ids: PaymentIds,
): Match | undefined {
  const { gateway_transaction_id: gatewayId, external_reference_id: external } = ids
  const ours = rows.filter(({ gateway }) => gateway === ids.gateway)
  const [row, ...others] = new Set([
    ...ours.filter(({ id }) => id === ids.transaction_id),
    ...ours.filter((row) => gatewayId !== null && row.gateway_transaction_id === gatewayId),
    ...ours.filter((row) => external !== null && row.external_reference_id === external),
  ])
  if (row) {
    const isContradiction =
      others.length > 0 ||
      differs(row.gateway_transaction_id, gatewayId) ||
      differs(row.external_reference_id, external)
    return { row, others, isContradiction }
  }
  const ordered = external === null && newest(ours.filter((each) => isOrder(each, ids)))
  return ordered ? { row: ordered, others: [], isContradiction: false } : undefined
}

const isOrder = (row: TransactionRow, { reference, amount, currency }: PaymentIds): boolean =>
  row.gateway_transaction_id === null &&
  row.reference === reference &&
  row.amount === amount &&
  row.currency === currency

interface Matched extends Match {
  /** The payment of its row. */
  payment: Payment
}

export function matchIn(rows: WorkingSet, ids: PaymentIds): Matched | undefined {
  const match = matchTransaction(rows.all('transactions'), ids)
  return match && { ...match, payment: paymentIn(rows, match.row.id) }
}

/** What is stored of an event beside what its gateway reports. */
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
 * The row of a report, until it is applied. Throws RangeError for a value that an INTEGER
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

/**
 * Applies it to its payment. If it reports a refund of what is not known to be paid, that it was
 * paid is applied first. Undefined: it was recorded before, and changes nothing now.
 */
export function applyOnce(
  rows: WorkingSet,
  found: Matched,
  event: WebhookEventRow,
  receipt: Receipt,
  rules: Rules,
): WebhookEventRow | undefined {
  const missed = found.isContradiction ? undefined : missedPayment(found.payment, event)
  if (!missed) return recordApplied(rows, found, event, receipt, rules)
  recordApplied(rows, found, { ...missed, id: newId(receipt.now) }, receipt, rules)
  return recordApplied(rows, matchIn(rows, event) ?? found, event, receipt, rules)
}

/**
 * That it was paid, where the first report of that is one of its refund. It comes first, as an
 * event of its own. Undefined: it is known to be paid, or the amount is not known.
 * @forTests Each status before it.
 */
export function missedPayment(
  { transaction }: Payment,
  event: WebhookEventRow,
): Omit<WebhookEventRow, 'id'> | undefined {
  const { paid_amount: amount, to_status } = event
  const isKnown = !isUnpaid(transaction.status) || transaction.paid_at !== null
  if (isKnown || amount === null || !isRefund(to_status)) return undefined
  const alone = { alert: null, error: null, refunds: null, disputes: null, paid_amount: null }
  return { ...event, ...alone, event_id: paidEventId(event), to_status: 'Paid', amount }
}

const paidEventId = ({ event_id }: Pick<WebhookEventRow, 'event_id'>): string => `${event_id}:paid`

/** Decides what the event changes, and stores that with it. */
function recordApplied(
  rows: WorkingSet,
  found: Matched,
  event: WebhookEventRow,
  receipt: Receipt,
  rules: Rules,
): WebhookEventRow | undefined {
  const { others, ...decided } = decideOn(found, event, receipt)
  // One that was parked is itself.
  const known = knownIn(rows, event)
  const isRead = known !== undefined && known !== event
  if (isRead && !isMoved(found.payment, decided.payment)) return undefined
  // An answer that was not used when it was read before is another event now.
  const stored = isRead ? { ...decided.event, event_id: again(event) } : decided.event
  const decision = { ...decided, payment: withReceipt(decided.payment, stored, receipt) }
  const { now } = receipt
  storeWithBooks(rows, { before: found.payment, decision, now, event: stored }, rules)
  rows.put({ transactions: others, webhookEvents: [stored] })
  return stored
}

/** What the payment has of how its event came: by a check, or that its page is closed. */
function withReceipt(
  payment: Payment,
  { to_status, outcome }: WebhookEventRow,
  { now, isAnswer, isPageClosed }: Receipt,
): Payment {
  // Without an id it was given up, and not asked about.
  const isAsked = isAnswer && payment.transaction.gateway_transaction_id !== null
  const seen = isAsked ? withCheck(payment, to_status, now) : payment
  return isPageClosed && outcome !== 'rejected' ? withPageClosed(seen) : seen
}

const isMoved = (before: Payment, after: Payment): boolean =>
  before.transaction.status !== after.transaction.status ||
  before.transaction.paid_at !== after.transaction.paid_at ||
  before.transaction.paid_amount !== after.transaction.paid_amount ||
  areChanged(before.refunds, after.refunds) ||
  areDisputesChanged(before.disputes, after.disputes)

/**
 * Refunds are read when an event is received, so an old one may come with news: a bank without ids
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
  store(rows, unchanged(withPaymentCheckBy(payment, now)), rules)
}

interface Decided extends Applied {
  /** Other payments that the event's ids are of. */
  others: readonly TransactionRow[]
}

function decideOn(
  { payment, others, isContradiction }: Matched,
  event: WebhookEventRow,
  receipt: Receipt,
): Decided {
  const { now, isAnswer = false } = receipt
  if (!isContradiction) return { ...applyEvent(payment, event, receipt), others: [] }
  const rejected = rejectEvent(payment, event, others[0], now)
  if (isAnswer) return { ...rejected, others: [] }
  const asked = others.map((other) => withCheckBy(other, now))
  return { ...rejected, payment: withPaymentCheckBy(payment, now), others: asked }
}

/**
 * Records `event`, whose ids contradict each other or those of this payment: it may be about
 * another one, so it changes nothing, even if the gateway confirms it. `other`: the
 * payment that has another of its ids.
 * @forTests Its alert.
 */
export function rejectEvent(
  payment: Payment,
  event: WebhookEventRow,
  other: TransactionRow | undefined,
  now: number,
): Applied {
  const { id, status } = payment.transaction
  const { gateway_transaction_id: gatewayId, external_reference_id: external } = event
  const { event_id: eventId, to_status: gatewayStatus, amount, currency } = event
  const rejected: WebhookEventRow = {
    ...event,
    transaction_id: id,
    from_status: status,
    outcome: 'rejected',
  }
  const detail = { eventId, gatewayStatus, amount, currency }
  const carried = { gatewayId, external }
  return {
    payment,
    event: rejected,
    events: [],
    alerts: [idMismatch(payment.transaction, carried, other, detail, now)],
  }
}
