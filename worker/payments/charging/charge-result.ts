// What a gateway's answer to a charge comes to, and what the payment is for whoever asks. Pure.

import {
  GatewayUnavailableException,
  InvalidArgumentException,
  PaymentConflictException,
} from '../domain/exceptions.ts'
import type { ChargeEnd } from '../domain/finish-charge.ts'
import { possibleTime } from '../domain/time.ts'
import type {
  ChargeRequest,
  OpenedPayment,
  PaymentResponse,
  Transaction,
} from '../domain/transaction.ts'
import type { ChargeAnswer } from '../gateways/gateway.ts'
import type { ChargeBegun } from '../ledger/ledger.ts'
import { maskError } from '../masking/mask.ts'
import { checkedInMs, nextCheckAt } from '../reconciliation/schedule.ts'
import { circuitOpen, failedResult } from './operation.ts'

/** A charge that is answered days late has no check left, and yet somebody may pay it now. */
const LATE_CHECK_MS = 5 * 60_000

/** `now` in ms. */
export function chargeResult(
  request: ChargeRequest,
  transaction: Transaction,
  answer: ChargeAnswer,
  now: number,
): ChargeEnd['result'] {
  if (!answer.ok) return { kind: 'refused', error: maskError(answer.error) }
  const { redirectUrl, qrCode, readableCode, deepLink } = answer
  // One that no date can have is left out: the payer must get the page all the same.
  const expiresAt = possibleTime(answer.expiresAt)
  const opened: OpenedPayment = {
    // An answer only opens the payment; that it is paid is told by a webhook or a check.
    status: 'Pending',
    gateway: request.gateway,
    reference: request.reference,
    transactionId: transaction.id,
    gatewayTransactionId: answer.gatewayTransactionId,
    ...(redirectUrl !== undefined && { redirectUrl }),
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
    ...(qrCode !== undefined && { qrCode }),
    ...(readableCode !== undefined && { readableCode }),
    ...(deepLink !== undefined && { deepLink }),
  }
  const next = nextCheckAt(Date.parse(transaction.createdAt), now, expiresAt)
  return { kind: 'answered', answer: opened, nextCheckAt: next ?? now + LATE_CHECK_MS }
}

/** Of what a driver threw. A payment that was made without a page keeps its id at the gateway. */
export function failedCharge(error: unknown, nextCheckAt: number): ChargeEnd['result'] {
  const result = failedResult(error, nextCheckAt)
  if (result.kind === 'refused' || !(error instanceof GatewayUnavailableException)) return result
  const { gatewayTransactionId, isUnsent } = error
  if (isUnsent) return { kind: 'unsent', nextCheckAt }
  return { ...result, ...(gatewayTransactionId !== undefined && { gatewayTransactionId }) }
}

/** Of a payment that was begun before. Its page is left out once it cannot be paid there. */
export function responseNow(
  { id, status, gateway, reference, gatewayTransactionId, error, paid }: Transaction,
  opened: OpenedPayment | undefined,
  now: number,
): PaymentResponse {
  const isOver = opened?.expiresAt !== undefined && Date.parse(opened.expiresAt) <= now
  if (opened && status === 'Pending' && !isOver) return opened
  const name = gatewayTransactionId ?? opened?.gatewayTransactionId
  return {
    status,
    gateway,
    reference,
    transactionId: id,
    ...(name !== undefined && { gatewayTransactionId: name }),
    ...(paid && { paid }),
    ...(error && { error }),
  }
}

/** What is answered where the gateway is not called. Throws as `Charge` does. */
export function answerAtOnce(
  begun: Exclude<ChargeBegun, { state: 'begun' }>,
  { gateway, reference }: ChargeRequest,
  now: number,
): PaymentResponse {
  switch (begun.state) {
    case 'answered': {
      const { error } = begun.transaction
      // A request that cannot be is as wrong now as it was the first time.
      if (error?.code === 'invalid_argument') throw new InvalidArgumentException(error.message)
      return responseNow(begun.transaction, begun.opened, now)
    }
    case 'in_progress':
      throw new PaymentConflictException('in_progress', 'The same charge is under way.')
    case 'unknown':
      throw new GatewayUnavailableException(
        `${gateway} has given no way to pay this charge; what became of it is being found out.`,
        {
          transactionId: begun.transaction.id,
          retryAfterMs: checkedInMs(begun.nextCheckAt, now),
        },
      )
    case 'conflict':
      throw begun.over === 'key'
        ? new PaymentConflictException(
            'idempotency_conflict',
            'This Idempotency-Key belongs to another request.',
          )
        : new PaymentConflictException(
            'reference_conflict',
            `${reference} has a payment that is open or paid, asked for in another way.`,
          )
    case 'circuit_open':
      throw circuitOpen(gateway, begun.retryAfterMs)
  }
}
