// What a gateway's answer to a charge comes to: for the ledger, and for whoever asked. Pure.

import { nextCheckAt } from '../check-times.ts'
import type { ChargeAnswer } from '../gateways/gateway.ts'
import type { ChargeEnd } from '../ledger/ledger.ts'
import type { ChargeRequest, PaymentResponse, Transaction } from '../transaction.ts'

/** A charge that is answered days late has no check left, and yet somebody may pay it now. */
const LATE_CHECK_MS = 5 * 60_000

/** `now` in ms. */
export function chargeResult(
  request: ChargeRequest,
  transaction: Transaction,
  answer: ChargeAnswer,
  now: number,
): ChargeEnd['result'] {
  if (!answer.ok) return { kind: 'refused', error: answer.error }
  const { redirectUrl, qrCode, readableCode, deepLink, expiresAt } = answer
  const response: PaymentResponse = {
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
  return { kind: 'answered', answer: response, nextCheckAt: next ?? now + LATE_CHECK_MS }
}
