// A gateway's answer about a payment: whether it is news, and the event that it is then, which is
// applied as that of a webhook. Pure.

import { isMoreCaptured } from '../domain/capture.ts'
import { isDisputeNews } from '../domain/disputes.ts'
import {
  isForeign,
  isOfAnother,
  isRefund,
  isUnpaid,
  type Payment,
  paidAmount,
} from '../domain/payment.ts'
import { differsFrom } from '../domain/refunds.ts'
import type { TransactionRow, WebhookEventRow } from '../domain/rows.ts'
import type { Outcome } from '../domain/status.ts'
import type { DisputeSet, RefundSet, Report } from '../domain/types.ts'
import type { Act, Key, Rules, WorkingSet } from './act.ts'
import {
  applyOnce,
  eventOf,
  keysOfEvent,
  keysOfIds,
  matchIn,
  type PaymentIds,
  paymentIdsIn,
} from './webhook.ts'

/** What a gateway reports of a payment when it is asked. */
export interface Answer {
  /** ULID of the event, if it becomes one. */
  id: string
  /** Masked. `payableUntil`: as in a KnownStatus. */
  report: Report & { payableUntil?: number }
  /** ms: what happened since then may be missing in the answer. */
  askedAt: number
  onMismatch: 'log' | 'reject'
}

export interface Answered {
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

/** For a request that waits for it: the next check is due as before. */
export function recordAnswer(answered: Answered, rules: Rules): Act<Taken> {
  return {
    keys: keysOf(answered),
    decide: (rows) => takeAnswer(rows, answered, rules),
  }
}

export function keysOf(answered: Answered): Key[] {
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

export function takeAnswer(rows: WorkingSet, answered: Answered, rules: Rules): Taken {
  const { answer, now } = answered
  const { report } = answer
  const mine = rows.get('webhookEvents', answer.id)
  if (mine) return { outcome: mine.outcome, eventId: mine.event_id }
  const found = matchIn(rows, idsIn(answered))
  // This database is a copy: the installation that began the payment applies it.
  if (!found || isForeign(found.row, rows.installation)) return {}
  if (!found.isContradiction && !isNews(found.payment, report)) return {}
  const event = eventIn(answered)
  const { isPageClosed = false } = report
  const stored = applyOnce(rows, found, event, { now, isAnswer: true, isPageClosed }, rules)
  return { outcome: stored?.outcome ?? 'duplicate', eventId: event.event_id }
}

/** Whether the gateway reports what is not stored. */
function isNews({ transaction, refunds, disputes }: Payment, report: Report): boolean {
  const { status: before } = transaction
  const { status } = report
  if (report.disputes && isDisputeNews(disputes, report.disputes)) return true
  if (report.refunds && differsFrom(refunds, report.refunds)) return true
  if (isMoreCaptured(transaction, report.refunds?.captured)) return true
  if (status === 'Pending') return false
  // Its refunds are those that are stored, and they count: not its status, nor its sum.
  if (report.refunds && !isUnpaid(before)) return false
  // The status stays when the amount falls, so only the amount shows a refund made since.
  if (isRefund(status) && sumIn(transaction, report) > transaction.refunded_amount) return true
  // Some gateways report `Paid` also after a refund, and money that came late at each check.
  if (status === 'Paid') return isUnpaid(before) && !isKnownMoney(transaction, report)
  return status !== before && !(status === 'PartiallyRefunded' && before === 'Paid')
}

const isKnownMoney = (transaction: TransactionRow, { amount, currency }: Report): boolean =>
  transaction.paid_at !== null &&
  amount === paidAmount(transaction) &&
  currency === (transaction.paid_currency ?? transaction.currency)

/** What it reports as refunded, in minor units. */
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

/** By what it reports: two checks at once, or one that is repeated, leave one event. */
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
