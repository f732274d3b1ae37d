// What an answer about a payment, or none, means for it: news for the ledger, another check, or an
// alert. Pure.

import type { CheckSettled } from '../domain/check.ts'
import type { VerifiedWebhook } from '../domain/payload.ts'
import { judge } from '../domain/status.ts'
import type { Transaction } from '../domain/transaction.ts'
import type { StatusAnswer } from '../gateways/gateway.ts'
import type { Check } from '../ledger/ledger.ts'
import { DAY_MS, HOUR_MS, nextCheckAt } from './schedule.ts'

export type KnownStatus = Extract<StatusAnswer, { known: true }>

/** Whether the ledger should hear of it: also of what no payment in this status can become. */
export function isNews(transaction: Transaction, { status, amount }: KnownStatus): boolean {
  if (status === 'Pending') return false
  switch (judge(transaction.status, status)) {
    case 'applied':
      return status !== 'PartiallyRefunded' || amount > transaction.refundedAmount
    case 'late_payment':
      return true
    case 'illegal':
      // Some gateways call a payment paid whatever was given back of it.
      return status !== 'Paid'
    case 'unchanged':
      return false
  }
}

/**
 * What must have happened before that, and was not heard of either: what is given back was paid.
 * Without it the graph would not let the refund in. All that was given back is what was paid, which
 * may be another amount than was asked for; of a part it is what the gateway tells, else what was
 * asked for.
 */
export function missedBefore(
  { status, amount: asked, currency }: Transaction,
  answer: KnownStatus,
): KnownStatus | undefined {
  const isAll = answer.status === 'Refunded'
  if (status !== 'Pending' || !(isAll || answer.status === 'PartiallyRefunded')) return undefined
  const told = isAll ? answer.amount : answer.paidAmount
  const paid =
    told === undefined ? { amount: asked, currency } : { amount: told, currency: answer.currency }
  return { known: true, status: 'Paid', ...paid, raw: answer.raw }
}

/** As a webhook would have told it. The same answer, given again, is the same event. */
export function payloadOf(
  transaction: Transaction,
  { status, amount, currency, error, raw }: KnownStatus,
  now: number,
): VerifiedWebhook {
  const { id, gateway, gatewayTransactionId = '', reference, externalReferenceId } = transaction
  return {
    gateway,
    gatewayTransactionId,
    reference,
    externalReferenceId,
    status,
    amount,
    currency,
    eventId: `recheck:${id}:${status}:${amount}`,
    occurredAt: now,
    ...(error && { error }),
    ...(raw !== undefined && { raw }),
  }
}

/** A payment that stays as it is. Without an answer its gateway could not be asked. */
export function settledAs(check: Check, now: number, answer?: KnownStatus): CheckSettled {
  const { transaction, refund } = check
  const base = { transactionId: transaction.id, now }
  if (refund) return { ...base, ...refundSettledAs(check, refund, now, answer) }
  if (transaction.status !== 'Pending') {
    // It was asked about because a refund came before its payment, or because an event was too old
    // to be taken; with an answer that is settled.
    return answer ? base : { ...base, nextCheckAt: now + HOUR_MS }
  }
  const createdAt = Date.parse(transaction.createdAt)
  const next = nextCheckAt(createdAt, now, givenUpAt(transaction, createdAt))
  if (next !== undefined) return { ...base, nextCheckAt: next }
  return { ...base, alert: unsettled(transaction, answer) }
}

/** A charge that ends without a word of its gateway, which may have made it all the same. */
export const letGo = ({ transaction }: Check, now: number): CheckSettled => ({
  ...{ transactionId: transaction.id, now, nextCheckAt: now },
  alert: unsettled(transaction),
})

function unsettled(
  { createdAt: since, reference, amount, currency }: Transaction,
  answer?: KnownStatus,
): NonNullable<CheckSettled['alert']> {
  const said = answer?.status ?? 'nothing'
  return { kind: 'unsettled', detail: { reference, amount, currency, since, said } }
}

/** A charge that its gateway never named is let go after a day. */
const givenUpAt = ({ expiresAt, gatewayTransactionId }: Transaction, createdAt: number) => {
  if (gatewayTransactionId === undefined) return createdAt + DAY_MS
  return expiresAt === undefined ? undefined : Date.parse(expiresAt)
}

function refundSettledAs(
  { transaction }: Check,
  refund: NonNullable<Check['refund']>,
  now: number,
  answer: KnownStatus | undefined,
): Omit<CheckSettled, 'transactionId' | 'now'> {
  const { id: refundId, amount, createdAt, isAccepted } = refund
  const { reference, currency } = transaction
  const since = new Date(createdAt).toISOString()
  const said = answer?.status ?? 'nothing'
  const alert: NonNullable<CheckSettled['alert']> = {
    kind: 'refund_unsettled',
    detail: { reference, amount, currency, refundId, since, said },
  }
  // The gateway knows of no refund a day after it was asked for one. An accepted refund, or one on
  // the gateway's list, is not given up so: it would be made twice, and by hand a bank may take
  // days. Nor does a status that nobody here knows say that nothing was given back.
  const isAsBefore = answer?.status === transaction.status && !answer.isRefundRequested
  if (isAsBefore && !isAccepted && now - createdAt >= DAY_MS) {
    const message = 'The gateway never told what became of this refund, and has not made it.'
    return { givenUp: { refundId, error: { code: 'outcome_unknown', message } }, alert }
  }
  const next = nextCheckAt(createdAt, now, createdAt + DAY_MS)
  // A bank that took it, and lists it no longer, has dropped it and tells nobody.
  const isDropped = isAsBefore && answer.isRefundRequested === false && now - createdAt >= HOUR_MS
  // Somebody's money: it is asked about for as long as it is under way, though a person knows.
  return next === undefined || (isAccepted && isDropped)
    ? { nextCheckAt: next ?? now + DAY_MS, alert }
    : { nextCheckAt: next }
}
