// The end of a charge's call: the gateway's answer, and what webhooks have changed before it. Pure.

import { endedCheckAt } from './check-times.ts'
import type { PaymentError } from './exceptions.ts'
import { differs } from './match.ts'
import {
  type Decision,
  idMismatch,
  NEVER_CALLED,
  newEvent,
  type Payment,
  unchanged,
  withTransaction,
} from './payment.ts'
import type { TransactionRow } from './rows.ts'
import type { OpenedPayment } from './types.ts'

export type ChargeResult =
  | {
      kind: 'answered'
      /** Kept as it is, for the same request later. */
      answer: OpenedPayment
      /** ms */
      expiresAt?: number
      nextCheckAt: number
    }
  | { kind: 'refused'; error: PaymentError }
  /** `gatewayTransactionId`: the gateway has made it, without a page or a code. */
  | { kind: 'unknown'; gatewayTransactionId?: string; nextCheckAt: number }
  /** Nothing was sent to the gateway: the same request may call it, with any driver. */
  | { kind: 'unsent'; nextCheckAt: number }

export interface ChargeEnd {
  transactionId: string
  /** ULID, for the event that a refusal fires. */
  eventId: string
  now: number
  result: ChargeResult
}

/** The id that the gateway has given to the payment. */
export function gatewayIdIn(result: ChargeResult): string | undefined {
  if (result.kind === 'answered') return result.answer.gatewayTransactionId
  return result.kind === 'unknown' ? result.gatewayTransactionId : undefined
}

/** `other`: another payment of this gateway that has the id of the result already. */
export function finishCharge(
  payment: Payment,
  end: Pick<ChargeEnd, 'eventId' | 'now' | 'result'>,
  other?: TransactionRow,
): Decision {
  const { now, result } = end
  if (result.kind !== 'answered' && result.kind !== 'unknown') return finished(payment, end)
  const gatewayId = gatewayIdIn(result) ?? null
  const isContradiction = other || differs(payment.transaction.gateway_transaction_id, gatewayId)
  if (!isContradiction) return finished(payment, end)
  // The answer is about another payment: its page could be paid for the wrong order.
  const { transaction } = payment
  const { amount, currency, external_reference_id: external } = transaction
  const carried = { gatewayId, external }
  const alert = idMismatch(transaction, carried, other, { amount, currency }, now)
  const { nextCheckAt } = result
  const unidentified = { ...end, result: { kind: 'unknown', nextCheckAt } as const }
  return { ...finished(payment, unidentified), alerts: [alert] }
}

function finished(payment: Payment, end: Pick<ChargeEnd, 'eventId' | 'now' | 'result'>): Decision {
  const { now, result } = end
  const { transaction } = payment
  const isPending = transaction.status === 'Pending'
  const isOver = transaction.charge_answer !== null
  const uncalled = { called_by: null, called_until: null }
  // If a webhook has changed its status before, there is nothing left to check.
  const checked = (nextCheckAt: number) => (isPending ? { next_check_at: nextCheckAt } : {})
  const identified = (id: string | undefined) =>
    id === undefined ? {} : { gateway_transaction_id: id }
  switch (result.kind) {
    case 'answered': {
      if (isOver) return unchanged(payment)
      const { answer, nextCheckAt } = result
      const answered = withTransaction(payment, {
        ...uncalled,
        ...identified(answer.gatewayTransactionId),
        ...checked(nextCheckAt),
        redirect_url: answer.redirectUrl ?? null,
        expires_at: result.expiresAt ?? null,
        charge_answer: JSON.stringify(answer),
        updated_at: now,
      })
      return unchanged(answered)
    }
    case 'refused':
      // Another call got an answer in the meantime: the payment can still be paid.
      if (!isPending || isOver) return unchanged(withTransaction(payment, uncalled))
      return refuse(payment, end, result.error)
    case 'unknown': {
      if (isOver) return unchanged(withTransaction(payment, uncalled))
      const { gatewayTransactionId, nextCheckAt } = result
      const changes = { ...uncalled, ...identified(gatewayTransactionId), ...checked(nextCheckAt) }
      return unchanged(withTransaction(payment, { ...changes, updated_at: now }))
    }
    case 'unsent': {
      if (!isPending || isOver) return unchanged(payment)
      const never = { called_by: null, called_until: NEVER_CALLED }
      return unchanged(withTransaction(payment, { ...never, next_check_at: result.nextCheckAt }))
    }
  }
}

/** It has no end yet, but its page can no longer be paid: it is not offered any more. */
export function withPageClosed(payment: Payment): Payment {
  const { status, charge_answer } = payment.transaction
  if (status !== 'Pending' || charge_answer === null) return payment
  const opened = JSON.parse(charge_answer) as OpenedPayment
  const { redirectUrl: _, expiresAt: _at, qrCode: _qr, ...rest } = opened
  const { readableCode: _code, deepLink: _link, ...answer } = rest
  return withTransaction(payment, {
    charge_answer: JSON.stringify(answer satisfies OpenedPayment),
    redirect_url: null,
    expires_at: null,
  })
}

function refuse(
  payment: Payment,
  { eventId: id, now }: Pick<ChargeEnd, 'eventId' | 'now'>,
  error: PaymentError,
): Decision {
  const failed = withTransaction(payment, {
    status: 'Failed',
    error: JSON.stringify(error),
    next_check_at: endedCheckAt(payment.transaction, now),
    updated_at: now,
    called_by: null,
    called_until: null,
  })
  const event = newEvent('PaymentFailed', failed.transaction, { id, now })
  return { payment: failed, events: [event], alerts: [] }
}
