// The call of a gateway for a charge, and what its answer, or what its driver threw, comes to: for
// the charge itself, and for the check that sends it again.

import type { Clock } from '../../shared/clock.ts'
import { isSafeForSecrets } from '../../shared/loopback.ts'
import type { ChargeResult } from '../acts/finish-charge.ts'
import { nextCheckAt } from '../domain/check-times.ts'
import { GatewayUnavailableException } from '../domain/exceptions.ts'
import type { Earlier } from '../domain/open-charge.ts'
import type { TransactionRow } from '../domain/rows.ts'
import { isoTime, possibleTime } from '../domain/time.ts'
import type { ChargeRequest, OpenedPayment } from '../domain/types.ts'
import type { OpenCall } from '../gateways/client.ts'
import type { ChargeAnswer, Gateway, GatewayCharge } from '../gateways/gateway.ts'
import { type Called, failedResult, refused } from './operation.ts'

interface ChargeCall {
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
  { transaction, request, earlier, callbackUrl, checkAt }: ChargeCall,
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
  if (redirectUrl !== undefined && !isSafePage(redirectUrl)) {
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
function isSafePage(text: string): boolean {
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
