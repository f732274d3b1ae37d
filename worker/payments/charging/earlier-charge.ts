// The response to a charge that began before.

import type { FoundCharge } from '../acts/begin-charge.ts'
import { checkedInMs } from '../domain/check-times.ts'
import {
  GatewayUnavailableException,
  InvalidArgumentException,
  PaymentConflictException,
  type PaymentError,
} from '../domain/exceptions.ts'
import { earlierCall, isExpiredPage } from '../domain/open-charge.ts'
import type { TransactionRow } from '../domain/rows.ts'
import { json, toTransaction } from '../domain/shown.ts'
import type { ChargeRequest, OpenedPayment, PaymentResponse } from '../domain/types.ts'
import { UNSENT_RETRY_MS } from './call.ts'

/** The answer about an earlier payment. Its page is left out if it can no longer be paid there. */
export function responseNow(row: TransactionRow, now: number): PaymentResponse {
  const { id, status, gateway, reference, ...shown } = toTransaction(row)
  const opened = json<OpenedPayment>(row.charge_answer)
  const alerted = shown.alert && { alert: shown.alert }
  const isExpired = isExpiredPage(row, now)
  if (opened && status === 'Pending' && !isExpired) return { ...opened, ...alerted }
  const gatewayId = shown.gatewayTransactionId ?? opened?.gatewayTransactionId
  return {
    status,
    gateway,
    reference,
    transactionId: id,
    ...(gatewayId !== undefined && { gatewayTransactionId: gatewayId }),
    ...(shown.paid && { paid: shown.paid }),
    ...(shown.error && { error: shown.error }),
    ...(isExpired && { isStranded: true }),
    ...alerted,
  }
}

/** The response if the gateway is not called. Throws as `Charge` does. */
export function answerAtOnce(
  begun: FoundCharge,
  { gateway, reference }: ChargeRequest,
  now: number,
): PaymentResponse {
  switch (begun.state) {
    case 'answered': {
      const error = json<PaymentError>(begun.transaction.error)
      // An invalid request is as invalid now as it was the first time.
      if (error?.code === 'invalid_argument') throw new InvalidArgumentException(error.message)
      return responseNow(begun.transaction, now)
    }
    case 'in_progress':
      throw new PaymentConflictException('in_progress', 'The same charge is under way.', {
        retryAfterMs: begun.until - now,
      })
    case 'unknown': {
      const { id: transactionId, next_check_at } = begun.transaction
      throw new GatewayUnavailableException(
        `${gateway} has given no way to pay this charge; what became of it is being found out.`,
        {
          transactionId,
          retryAfterMs:
            earlierCall(begun.transaction) === 'none'
              ? UNSENT_RETRY_MS
              : checkedInMs(next_check_at ?? undefined, now),
        },
      )
    }
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
  }
}
