// What a gateway's answer to a charge comes to, and what the payment is for whoever asks. Pure.

import { GatewayUnavailableException } from '../domain/exceptions.ts'
import type { ChargeEnd } from '../domain/finish-charge.ts'
import { possibleTime } from '../domain/time.ts'
import type {
  ChargeRequest,
  OpenedPayment,
  PaymentResponse,
  Transaction,
} from '../domain/transaction.ts'
import type { ChargeAnswer } from '../gateways/gateway.ts'
import { maskError } from '../masking/mask.ts'
import { nextCheckAt } from '../reconciliation/schedule.ts'
import { failedResult } from './operation.ts'

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
