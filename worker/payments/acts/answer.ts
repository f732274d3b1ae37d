// What follows from a gateway's answer about a payment, or from none: an event like that of a
// webhook, another check, or an alert. Pure.

import { alertAbout } from '../domain/alerts.ts'
import { isMoreCaptured } from '../domain/capture.ts'
import { nextCheckAt, withCheckBy } from '../domain/check-times.ts'
import { isDisputeNews } from '../domain/disputes.ts'
import type { PaymentError } from '../domain/exceptions.ts'
import { isUnsent, withPageClosed } from '../domain/open-charge.ts'
import {
  type Alert,
  type Decision,
  isForeign,
  isOfAnother,
  isOpen,
  isRefund,
  isUnpaid,
  type Payment,
  paidAmount,
  refundUnderWay,
  unchanged,
  withRefund,
  withTransaction,
} from '../domain/payment.ts'
import { areReadLater, differsFrom, refundDetail } from '../domain/refunds.ts'
import type { RefundRow, TransactionRow, WebhookEventRow } from '../domain/rows.ts'
import type { Outcome } from '../domain/status.ts'
import { DAY_MS, HOUR_MS, isoTime } from '../domain/time.ts'
import type { DisputeSet, RefundSet, Report } from '../domain/types.ts'
import { type Act, type Key, paymentIn, type Rules, type WorkingSet } from './act.ts'
import { type UnreadableEvent, unreadableTwice } from './check-soon.ts'
import { store } from './store.ts'
import {
  applyOnce,
  eventOf,
  keysOfEvent,
  keysOfIds,
  matchIn,
  type PaymentIds,
  paymentIdsIn,
  withCheck,
} from './webhook.ts'

/** What a gateway tells of a payment about which it was asked. */
export interface Answer {
  /** ULID of the event, if it becomes one. */
  id: string
  /** Masked. `payableUntil`: as in a KnownStatus. */
  report: Report & { payableUntil?: number }
  /** ms: what happened since then may be missing in the answer. */
  askedAt: number
  onMismatch: 'log' | 'reject'
}

interface Answered {
  /** The payment when it was asked about: the same answer about the same is one event. */
  asked: TransactionRow
  answer: Answer
  now: number
}

export interface Taken {
  /** Missing: the answer has nothing new. */
  outcome?: Outcome | 'duplicate'
  /** Of the event. */
  eventId?: string
}

/** For somebody who waits for it: the next check is due as before. */
export function recordAnswer(answered: Answered, rules: Rules): Act<Taken> {
  return {
    keys: keysOf(answered),
    decide: (rows) => takeAnswer(rows, answered, rules),
  }
}

export interface CheckSettled {
  /** As its check was claimed. */
  asked: TransactionRow
  now: number
  answer?: Answer
  /** Its gateway was asked, and gave none. */
  noAnswer?: 'unknown' | 'unreachable'
  /**
   * It could not be asked: a payment that still has the status that it had is checked again, even
   * if nothing is open any more.
   */
  isUnanswered?: true
  /** The gateway's answer could not be read. */
  unreadable?: UnreadableEvent
}

export interface Settled extends Taken {
  /** That a person should look at it. */
  alert?: 'unsettled' | 'refund_unsettled'
  /** Missing: it is not checked any more. */
  nextCheckAt?: number
}

export function settleCheck(settled: CheckSettled, rules: Rules): Act<Settled> {
  const { asked, answer, now } = settled
  const answered = answer && { asked, answer, now }
  return {
    keys: answered ? keysOf(answered) : [['payment', asked.id]],
    decide(rows) {
      const before = paymentIn(rows, asked.id)
      if (answered && hasIdSince(asked, before)) return checkedSoon(rows, before, now)
      const isLost = answered !== undefined && isGivenUp(before)
      if (isLost) store(rows, { ...unchanged(before), alerts: [unsettled(before, now)] }, rules)
      const taken = answered ? takeAnswer(rows, answered, rules) : {}
      // What has changed by it decides when it is checked again.
      if (taken.outcome === 'applied') return { ...taken, ...(isLost && { alert: 'unsettled' }) }
      const { decision, ...next } = checked(paymentIn(rows, asked.id), settled)
      store(rows, decision, rules)
      return { ...taken, ...next }
    },
  }
}

/** It was sent, and its gateway has given it no id to be asked by: that it ends is our own word. */
const isGivenUp = ({ transaction }: Payment): boolean =>
  transaction.status === 'Pending' &&
  transaction.gateway_transaction_id === null &&
  !isUnsent(transaction)

/** It was to be given up, and now its gateway can be asked. */
const hasIdSince = (asked: TransactionRow, { transaction }: Payment): boolean =>
  asked.gateway_transaction_id === null && transaction.gateway_transaction_id !== null

function checkedSoon(rows: WorkingSet, { transaction }: Payment, now: number): Settled {
  rows.put({ transactions: [withCheckBy(transaction, now)] })
  return { nextCheckAt: now }
}

function keysOf(answered: Answered): Key[] {
  const { asked, answer } = answered
  const name = { gateway: asked.gateway, event_id: nameOf(answered), id: answer.id }
  return [...keysOfEvent(name), ...keysOfIds(idsIn(answered))]
}

/** What the answer does not carry is that of the payment. */
function idsIn({ asked, answer: { report } }: Answered): PaymentIds {
  const { gatewayTransactionId: id, externalReferenceId: external } = report
  const named = {
    gatewayTransactionId: id ?? asked.gateway_transaction_id ?? '',
    externalReferenceId: external ?? asked.external_reference_id ?? '',
    reference: asked.reference,
  }
  return { ...paymentIdsIn(asked.gateway, named), transaction_id: asked.id }
}

function takeAnswer(rows: WorkingSet, answered: Answered, rules: Rules): Taken {
  const { answer, now } = answered
  const { report } = answer
  const mine = rows.get('webhookEvents', answer.id)
  if (mine) return { outcome: mine.outcome, eventId: mine.event_id }
  const found = matchIn(rows, idsIn(answered))
  // In a copy, its own installation applies it, and tells of it.
  if (!found || isForeign(found.row, rows.installation)) return {}
  if (!found.isContradiction && !isNews(found.payment, report)) return {}
  const event = eventIn(answered)
  const { isPageClosed = false } = report
  const stored = applyOnce(rows, found, event, { now, isAnswer: true, isPageClosed }, rules)
  return { outcome: stored?.outcome ?? 'duplicate', eventId: event.event_id }
}

/** Whether the gateway tells what is not stored. */
function isNews({ transaction, refunds, disputes }: Payment, report: Report): boolean {
  const { status: before } = transaction
  const { status } = report
  if (report.disputes && isDisputeNews(disputes, report.disputes)) return true
  if (report.refunds && differsFrom(refunds, report.refunds)) return true
  if (isMoreCaptured(transaction, report.refunds?.captured)) return true
  if (status === 'Pending') return false
  // Its rows are those that are stored, which have more to say than a status and a sum.
  if (report.refunds && !isUnpaid(before)) return false
  // The status stays when the amount falls, so only the amount tells of a refund made since.
  if (isRefund(status) && sumIn(transaction, report) > transaction.refunded_amount) return true
  // Some gateways report `Paid` also after a refund, and money that came late at each check.
  if (status === 'Paid') return isUnpaid(before) && !isKnownMoney(transaction, report)
  return status !== before && !(status === 'PartiallyRefunded' && before === 'Paid')
}

const isKnownMoney = (transaction: TransactionRow, { amount, currency }: Report): boolean =>
  transaction.paid_at !== null &&
  amount === paidAmount(transaction) &&
  currency === (transaction.paid_currency ?? transaction.currency)

/** What it says was refunded, in minor units. */
const sumIn = (transaction: TransactionRow, { status, amount }: Report): number =>
  status === 'Refunded' ? paidAmount(transaction) : Math.min(amount, paidAmount(transaction))

function eventIn(answered: Answered): WebhookEventRow {
  const { asked, answer, now } = answered
  const { id, report, askedAt, onMismatch } = answer
  return eventOf(report, {
    ...idsIn(answered),
    id,
    event_id: nameOf(answered),
    on_mismatch: onMismatch,
    paid_amount: paidBefore(asked, report) ?? null,
    correlation_id: asked.correlation_id,
    occurred_at: askedAt,
    received_at: now,
  })
}

/** By what it tells: two checks at once, or one that is repeated, leave one event. */
function nameOf(answered: Answered): string {
  const { asked, answer } = answered
  const { status, amount, refunds, disputes } = answer.report
  const parts: unknown[] = ['recheck', asked.id, status, amount]
  if (isOfAnother(asked, answer.report)) {
    // The right answer may come later: it must not be a duplicate of the one about another payment.
    const ids = idsIn(answered)
    parts.push(ids.gateway_transaction_id ?? '', ids.external_reference_id ?? '')
  }
  // Other refunds or chargebacks, or one with another state, are other news.
  parts.push(...statesOf(refunds), ...stepsOf(disputes))
  // So are the same refunds after others were read, and the same sum after one has failed.
  const since = [asked.refund_revision, refunds && (asked.refunds_read_at ?? 0)]
  return [...parts, ...since.filter(Boolean)].join(':')
}

const statesOf = (set: RefundSet | undefined): string[] => [
  ...(set?.captured === undefined ? [] : [`captured=${set.captured}`]),
  ...(set?.refunds.map(({ id = '', amount, status }) => `${id}=${status}${amount}`) ?? []),
]

const stepsOf = (set: DisputeSet | undefined): string[] =>
  set?.parts.map(({ id, amount, state }) => `${id}=${state}${amount}`) ?? []

/**
 * What was paid before it was refunded, which may differ from what was charged: after a full refund
 * it is what was refunded; after a partial one what the gateway reports, else what was charged.
 */
function paidBefore(
  { amount: charged }: TransactionRow,
  { status, amount, paidAmount }: Report,
): number | undefined {
  if (status === 'Refunded') return amount
  return status === 'PartiallyRefunded' ? (paidAmount ?? charged) : undefined
}

/** A payment that does not change by its check. */
function checked(
  payment: Payment,
  { asked, now, isUnanswered, unreadable, ...settled }: CheckSettled,
): { decision: Decision } & Omit<Settled, 'outcome'> {
  const answer = settled.answer?.report
  const report = answer && !isOfAnother(payment.transaction, answer) ? answer : undefined
  const checkedAs = report?.status ?? settled.noAnswer
  const seen = checkedAs ? withCheck(payment, checkedAs, now) : payment
  const open = report?.isPageClosed ? withPageClosed(seen) : seen
  const { status, next_check_at: due } = payment.transaction
  const isMadeDue = due !== asked.next_check_at
  // A refund that has begun since is not missing in an answer from before it.
  const current = isMadeDue && refundUnderWay(payment) ? undefined : report
  const { at, alert, failed } = nextOf(payment, now, current)
  const rest = failed ? withRefund(open, failed) : open
  const isAsked = isOpen(rest) || (isUnanswered && status === asked.status)
  const next = isAsked ? (at ?? null) : null
  // What has made it due since the claim waits for its own check.
  const next_check_at = isMadeDue ? sooner(due, next) : next
  const timed = withTransaction(rest, { next_check_at })
  const read = unreadable && unreadableTwice(timed, unreadable, 'status', now)
  const alerts = [...(alert ? [alert] : []), ...(read?.alerts ?? [])]
  return {
    decision: { payment: read?.payment ?? timed, events: [], alerts },
    ...(alert && { alert: alert.kind as 'unsettled' | 'refund_unsettled' }),
    ...(next_check_at !== null && { nextCheckAt: next_check_at }),
  }
}

const sooner = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b)

interface Next {
  /** When it is checked again, if something of it is open. */
  at?: number | undefined
  alert?: Alert
  /** A refund that is given up, so that it can be asked for again. */
  failed?: RefundRow
}

/** No report: its gateway could not be asked. */
function nextOf(payment: Payment, now: number, report: Answer['report'] | undefined): Next {
  const refund = refundUnderWay(payment)
  if (refund) return nextOfRefund(payment, refund, now, report)
  const { status, created_at } = payment.transaction
  // It was checked because a refund arrived before its payment, or because an event was stale.
  // With an answer, that is settled.
  if (status !== 'Pending') return report ? {} : { at: now + HOUR_MS }
  const at = nextCheckAt(created_at, now, report?.payableUntil ?? endOf(payment))
  return at === undefined ? { alert: unsettled(payment, now, report) } : { at }
}

/** The time after which it cannot be paid; without a gateway's id, a day after its creation. */
const endOf = ({ transaction }: Payment): number | undefined => {
  const { expires_at, gateway_transaction_id: id, created_at } = transaction
  return id === null ? created_at + DAY_MS : (expires_at ?? undefined)
}

function unsettled({ transaction }: Payment, now: number, report?: Report): Alert {
  const { created_at, amount, currency } = transaction
  const since = isoTime(created_at)
  const detail = { amount, currency, since, gatewayStatus: report?.status ?? 'none' } as const
  return alertAbout(transaction, 'unsettled', now, detail)
}

/** The gateway has this refund neither in its list nor in its sum. */
function isMissing(
  payment: Payment,
  { id, gateway_refund_id: gatewayId }: RefundRow,
  { status, amount, refunds: set }: Report,
  now: number,
): boolean {
  const { refunded_amount } = payment.transaction
  if (set) {
    // The later list may have it.
    if (areReadLater(payment, set.readAt, now)) return false
    return !set.refunds.some(
      (refund) => refund.id === undefined || refund.id === gatewayId || refund.refundId === id,
    )
  }
  return status === 'Paid' || (status === 'PartiallyRefunded' && amount <= refunded_amount)
}

const OUTCOME_UNKNOWN: PaymentError = {
  code: 'outcome_unknown',
  message: 'The gateway did not report the outcome of this refund, and has not made it.',
}
const DROPPED: PaymentError = {
  code: 'refund_cancelled',
  message: 'The gateway accepted this refund, no longer lists it, and has not made it.',
}

function nextOfRefund(
  payment: Payment,
  refund: RefundRow,
  now: number,
  report: Report | undefined,
): Next {
  const { transaction } = payment
  const { created_at: createdAt } = refund
  const isAccepted = refund.status === 'accepted'
  const since = isoTime(createdAt)
  const detail = { since, gatewayStatus: report?.status ?? 'none' } as const
  const about = { ...refundDetail(transaction, refund), ...detail }
  const alert = alertAbout(transaction, 'refund_unsettled', now, about)
  // A day after the request, the gateway reports no refund: it is given up. Not so one that the
  // gateway lists as requested, or that it accepted and lists none: a bank may take days, and a
  // second refund would pay twice. Nor does an unknown status mean that nothing was refunded.
  const isUnmade = report !== undefined && isMissing(payment, refund, report, now)
  // A bank that accepted it and no longer lists it has dropped it without a report. Kept, it would
  // lock every further refund for good.
  const isUnlisted = isUnmade && report.refunds !== undefined
  if (isUnmade && (!isAccepted || isUnlisted) && now - createdAt >= DAY_MS) {
    const error = JSON.stringify(isAccepted ? DROPPED : OUTCOME_UNKNOWN)
    return { failed: { ...refund, status: 'failed', error, updated_at: now }, alert }
  }
  const next = nextCheckAt(createdAt, now, createdAt + DAY_MS)
  const isDropped = isUnlisted && now - createdAt >= HOUR_MS
  // It is the payer's money: checks go on while the refund is pending, even after the alert.
  return next === undefined || (isAccepted && isDropped)
    ? { at: next ?? now + DAY_MS, alert }
    : { at: next }
}
