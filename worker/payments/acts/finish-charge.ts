// The end of a charge's call: its gateway's answer is stored, whatever becomes of the events that
// were parked for it. Webhooks may have changed the payment before it. Pure.

import { idMismatch } from '../domain/alerts.ts'
import { endedCheckAt } from '../domain/check-times.ts'
import type { PaymentError } from '../domain/exceptions.ts'
import { CALL_ENDED, NEVER_CALLED } from '../domain/open-charge.ts'
import {
  type Decision,
  differs,
  newEvent,
  type Payment,
  unchanged,
  withTransaction,
} from '../domain/payment.ts'
import type { TransactionRow } from '../domain/rows.ts'
import type { OpenedPayment } from '../domain/types.ts'
import { type Act, paymentIn, type Rules } from './act.ts'
import { applyParkedFor } from './parked.ts'
import { store } from './store.ts'

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

export function finishCharge(end: ChargeEnd, rules: Rules): Act<TransactionRow> {
  const { transactionId: id, now } = end
  const gatewayId = gatewayIdIn(end.result) ?? null
  return {
    keys: [['charge', id, gatewayId]],
    decide(rows) {
      const payment = paymentIn(rows, id)
      const { gateway } = payment.transaction
      const isOther = (row: TransactionRow) =>
        row.id !== id && row.gateway === gateway && row.gateway_transaction_id === gatewayId
      const other = gatewayId === null ? undefined : rows.all('transactions').find(isOther)
      const decision = answered(payment, end, other)
      store(rows, decision, rules)
      const { transaction } = decision.payment
      applyParkedFor(rows, transaction, rules, now)
      return rows.get('transactions', id) ?? transaction
    },
  }
}

/** `other`: another payment of this gateway that has the id of the result already. */
function answered(payment: Payment, end: ChargeEnd, other?: TransactionRow): Decision {
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

function finished(payment: Payment, end: ChargeEnd): Decision {
  const { now, result } = end
  const { transaction } = payment
  const isPending = transaction.status === 'Pending'
  const isOver = transaction.charge_answer !== null
  // If a webhook has changed its status before, there is nothing left to check.
  const checked = (nextCheckAt: number) => (isPending ? { next_check_at: nextCheckAt } : {})
  const identified = (id: string | undefined) =>
    id === undefined ? {} : { gateway_transaction_id: id }
  switch (result.kind) {
    case 'answered': {
      if (isOver) return unchanged(payment)
      const { answer, nextCheckAt } = result
      const answered = withTransaction(payment, {
        ...CALL_ENDED,
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
      if (!isPending || isOver) return unchanged(withTransaction(payment, CALL_ENDED))
      return refuse(payment, end, result.error)
    case 'unknown': {
      if (isOver) return unchanged(withTransaction(payment, CALL_ENDED))
      const { gatewayTransactionId: id, nextCheckAt } = result
      const changes = { ...CALL_ENDED, ...identified(id), ...checked(nextCheckAt), updated_at: now }
      return unchanged(withTransaction(payment, changes))
    }
    case 'unsent': {
      if (!isPending || isOver) return unchanged(payment)
      const never = { ...CALL_ENDED, called_until: NEVER_CALLED }
      return unchanged(withTransaction(payment, { ...never, next_check_at: result.nextCheckAt }))
    }
  }
}

function refuse(payment: Payment, { eventId: id, now }: ChargeEnd, error: PaymentError): Decision {
  const failed = withTransaction(payment, {
    status: 'Failed',
    error: JSON.stringify(error),
    next_check_at: endedCheckAt(payment.transaction, now),
    updated_at: now,
    ...CALL_ENDED,
  })
  const event = newEvent('PaymentFailed', failed.transaction, { id, now })
  return { payment: failed, events: [event], alerts: [] }
}
