// The response to a charge that began before. Pure.

import { checkedInMs } from '../domain/check-schedule.ts'
import {
  GatewayUnavailableException,
  InvalidArgumentException,
  PaymentConflictException,
} from '../domain/exceptions.ts'
import type {
  ChargeRequest,
  OpenedPayment,
  PaymentResponse,
  Transaction,
} from '../domain/transaction.ts'
import type { ChargeBegun } from '../ledger/ledger.ts'
import { circuitOpen } from './operation.ts'

/** Its page has expired, and its gateway has not reported how it ended. */
export const isExpiredPage = (
  { status }: Transaction,
  opened: OpenedPayment | undefined,
  now: number,
): boolean =>
  status === 'Pending' && opened?.expiresAt !== undefined && Date.parse(opened.expiresAt) <= now

/** Of a payment that began before. Its page is left out if it can no longer be paid there. */
export function responseNow(
  transaction: Transaction,
  opened: OpenedPayment | undefined,
  now: number,
): PaymentResponse {
  const { id, status, gateway, reference, gatewayTransactionId, error, paid, alert } = transaction
  const alerted = alert && { alert }
  const isStranded = isExpiredPage(transaction, opened, now)
  if (opened && status === 'Pending' && !isStranded) return { ...opened, ...alerted }
  const name = gatewayTransactionId ?? opened?.gatewayTransactionId
  return {
    status,
    gateway,
    reference,
    transactionId: id,
    ...(name !== undefined && { gatewayTransactionId: name }),
    ...(paid && { paid }),
    ...(error && { error }),
    ...(isStranded && { isStranded }),
    ...alerted,
  }
}

/** The response if the gateway is not called. Throws as `Charge` does. */
export function answerAtOnce(
  begun: Exclude<ChargeBegun, { state: 'begun' }>,
  { gateway, reference }: ChargeRequest,
  now: number,
): PaymentResponse {
  switch (begun.state) {
    case 'answered': {
      const { error } = begun.transaction
      // An invalid request is as invalid now as it was the first time.
      if (error?.code === 'invalid_argument') throw new InvalidArgumentException(error.message)
      return responseNow(begun.transaction, begun.opened, now)
    }
    case 'in_progress':
      throw new PaymentConflictException('in_progress', 'The same charge is under way.', {
        retryAfterMs: begun.until - now,
      })
    case 'unknown':
      throw new GatewayUnavailableException(
        `${gateway} has given no way to pay this charge; what became of it is being found out.`,
        {
          transactionId: begun.transaction.id,
          retryAfterMs: checkedInMs(begun.nextCheckAt, now),
        },
      )
    case 'conflict': {
      const what = begun.fields.length > 0 ? begun.fields.join(', ') : 'request'
      throw begun.over === 'key'
        ? new PaymentConflictException(
            'idempotency_conflict',
            `This Idempotency-Key belongs to a charge with another ${what}.`,
          )
        : new PaymentConflictException(
            'reference_conflict',
            `${reference} has an open or paid payment with another ${what}.`,
          )
    }
    case 'already_paid': {
      const { transactionId } = begun
      throw new PaymentConflictException(
        'already_paid',
        `${reference} is paid already. With "repeat": true it is charged again.`,
        { transactionId },
      )
    }
    case 'circuit_open':
      throw circuitOpen(gateway, begun.retryAfterMs)
  }
}
