// What lies between the ledger's rows and a driver: what the driver gets of a payment, and what its
// answer to a charge or a refund comes to, or what it threw.

import type { Clock } from '../../shared/clock.ts'
import { isSafeForSecrets } from '../../shared/loopback.ts'
import type { ChargeResult } from '../acts/finish-charge.ts'
import type { RefundOutcome } from '../acts/refund.ts'
import { nextCheckAt } from '../domain/check-times.ts'
import {
  GatewayRefusedException,
  GatewayUnavailableException,
  InvalidArgumentException,
  type PaymentError,
} from '../domain/exceptions.ts'
import type { Earlier } from '../domain/open-charge.ts'
import type { TransactionRow } from '../domain/rows.ts'
import { isoTime, possibleTime } from '../domain/time.ts'
import type { ChargeRequest, OpenedPayment } from '../domain/types.ts'
import { maskError } from '../mask.ts'
import type { OpenCall } from './client.ts'
import type {
  ChargeAnswer,
  Gateway,
  GatewayCharge,
  GatewayRefund,
  RefundAnswer,
  Refused,
  StoredPayment,
  SupportsRefund,
} from './gateway.ts'

/** Throws InvalidArgumentException for a payment without a gateway id: it cannot be asked about. */
export function storedPayment(row: TransactionRow): StoredPayment {
  const { gateway_transaction_id: gatewayTransactionId, reference, amount, currency } = row
  if (gatewayTransactionId === null) {
    throw new InvalidArgumentException('This payment has no gateway id yet.')
  }
  const externalReferenceId = row.external_reference_id ?? ''
  return { gatewayTransactionId, externalReferenceId, reference, amount, currency }
}

/** What came of asking a gateway. `failure`: what its driver threw, if it did. */
export interface Called<Result> {
  result: Result
  failure?: unknown
}

interface ChargeAsked {
  transaction: TransactionRow
  request: ChargeRequest
  earlier: Earlier
  callbackUrl: string | undefined
  /** When it is checked, if the outcome is unknown. */
  checkAt(now: number): number
}

/** Calls the gateway for a charge that the ledger has begun. Never rejects. */
export async function askCharge(
  gateway: Gateway,
  call: OpenCall,
  { transaction, request, earlier, callbackUrl, checkAt }: ChargeAsked,
  clock: Pick<Clock, 'now'>,
): Promise<Called<ChargeResult>> {
  const mayBeMade = () => earlier === 'unknown' || call.unanswered() > 0
  try {
    const more = { earlier, callbackUrl, now: clock.now() }
    const answer = await gateway.charge(gatewayCharge(request, transaction, more), call)
    return { result: chargeResult(request, transaction, answer, clock.now(), mayBeMade()) }
  } catch (error) {
    return { result: failedCharge(error, checkAt(clock.now()), mayBeMade()), failure: error }
  }
}

/** @forTests What is sent for a charge that an older version has begun. */
export const gatewayCharge = (
  request: ChargeRequest,
  { external_reference_id, installation }: TransactionRow,
  more: Pick<GatewayCharge, 'earlier' | 'callbackUrl' | 'now'>,
): GatewayCharge => ({
  ...request,
  externalReferenceId: external_reference_id ?? '',
  ...(installation !== null && { installation }),
  ...more,
})

/** Calls the gateway for a refund that the ledger has claimed: nobody else sends its id. */
export async function askRefund(
  gateway: SupportsRefund,
  call: OpenCall,
  transaction: TransactionRow,
  asked: Pick<GatewayRefund, 'refundId' | 'refundAmount' | 'reason'>,
  clock: Pick<Clock, 'now'>,
): Promise<Called<RefundOutcome>> {
  const mayBeMade = () => call.unanswered() > 0
  try {
    const refund = { ...storedPayment(transaction), ...asked, earlier: 'none' } as const
    const answer = await gateway.refund(refund, call)
    return { result: refundResult(answer, clock.now(), mayBeMade()) }
  } catch (error) {
    return { result: failedRefund(error, clock.now(), mayBeMade()), failure: error }
  }
}

/** A refund that is under way, or whose outcome is unknown, is checked first after this. */
const REFUND_CHECK_MS = 5 * 60_000
/** A charge that is answered days late has no check left, but may still be paid. */
const LATE_CHECK_MS = 5 * 60_000

/**
 * `now` in ms; `mayBeMade`: an earlier request for it was sent and had no definite answer. Throws
 * GatewayUnavailableException for a `redirectUrl` that is no page, and for a refusal that does not
 * settle what the earlier request did.
 * @forTests What each field of an answer comes to.
 */
export function chargeResult(
  request: ChargeRequest,
  transaction: TransactionRow,
  answer: ChargeAnswer,
  now: number,
  mayBeMade: boolean,
): ChargeResult {
  if (!answer.ok) return refused(answer, mayBeMade)
  const { redirectUrl, qrCode, readableCode, deepLink } = answer
  if (redirectUrl !== undefined && !isPage(redirectUrl)) {
    const { gatewayTransactionId } = answer
    const message = `${request.gateway} gave a redirectUrl that is no https page`
    throw new GatewayUnavailableException(message, { gatewayTransactionId })
  }
  // One that no date can have is left out: the payer must get the page all the same.
  const expiresAt = possibleTime(answer.expiresAt)
  const opened: OpenedPayment = {
    // An answer only opens the payment. A webhook or a check reports that it is paid.
    status: 'Pending',
    gateway: request.gateway,
    reference: request.reference,
    transactionId: transaction.id,
    gatewayTransactionId: answer.gatewayTransactionId,
    ...(redirectUrl !== undefined && { redirectUrl }),
    ...(expiresAt !== undefined && { expiresAt: isoTime(expiresAt) }),
    ...(qrCode !== undefined && { qrCode }),
    ...(readableCode !== undefined && { readableCode }),
    ...(deepLink !== undefined && { deepLink }),
  }
  const next = nextCheckAt(transaction.created_at, now, expiresAt) ?? now + LATE_CHECK_MS
  const expires = expiresAt !== undefined && { expiresAt }
  return { kind: 'answered', answer: opened, ...expires, nextCheckAt: next }
}

/** On loopback, a simulator's page has no TLS. */
function isPage(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && isSafeForSecrets(url)
}

/** What a driver threw, as data. A payment that was made without a page keeps its gateway id. */
function failedCharge(error: unknown, nextCheckAt: number, mayBeMade: boolean): ChargeResult {
  const result = failedResult(error, nextCheckAt, mayBeMade)
  const isMade = result.kind === 'unknown' && error instanceof GatewayUnavailableException
  const { gatewayTransactionId } = isMade ? error : {}
  return { ...result, ...(gatewayTransactionId !== undefined && { gatewayTransactionId }) }
}

/** As `chargeResult`. */
function refundResult(answer: RefundAnswer, now: number, mayBeMade: boolean): RefundOutcome {
  if (!answer.ok) return refused(answer, mayBeMade)
  const { gatewayRefundId, isDone } = answer
  const id = gatewayRefundId !== undefined && { gatewayRefundId }
  if (isDone) return { kind: 'done', ...id }
  return { kind: 'accepted', ...id, nextCheckAt: now + REFUND_CHECK_MS }
}

/** What a driver threw, as data. What was not sent is not waited for: it has ended. */
function failedRefund(error: unknown, now: number, mayBeMade: boolean): RefundOutcome {
  const result = failedResult(error, now + REFUND_CHECK_MS, mayBeMade)
  return result.kind === 'unsent' ? { kind: 'unsent' } : result
}

function refused(
  { error, coversEarlier }: Refused,
  mayBeMade: boolean,
): { kind: 'refused'; error: PaymentError } {
  if (!mayBeMade || coversEarlier) return { kind: 'refused', error: maskError(error) }
  // It may be refused because the earlier request was carried out: as refused, the order would be
  // charged again, and the payer could pay twice.
  const why = maskError(error).rawCode ?? error.code
  throw new GatewayUnavailableException(
    `The gateway refused it (${why}) after a request that it had not answered.`,
  )
}

/** Only a no, or what was never sent, settles it. */
function failedResult(
  error: unknown,
  nextCheckAt: number,
  mayBeMade: boolean,
): { kind: 'refused'; error: PaymentError } | { kind: 'unknown' | 'unsent'; nextCheckAt: number } {
  if (mayBeMade) return { kind: 'unknown', nextCheckAt }
  if (error instanceof GatewayRefusedException) {
    return { kind: 'refused', error: maskError(error.error) }
  }
  if (error instanceof InvalidArgumentException) {
    return { kind: 'refused', error: { code: error.code, message: error.message } }
  }
  const isUnsent = error instanceof GatewayUnavailableException && error.isUnsent
  return { kind: isUnsent ? 'unsent' : 'unknown', nextCheckAt }
}
