// Reconciles one payment whose result is overdue: asks its gateway, and the ledger applies the
// answer by the same rules as a webhook. Settlements are compared by `/reconcile`, in `api/`.

import { reasonOf } from '../../shared/log.ts'
import type { Check, CheckSettled } from '../acts/check.ts'
import { type ChargeResult, gatewayIdIn } from '../acts/finish-charge.ts'
import { askCharge } from '../charging/ask-charge.ts'
import {
  answerIn,
  type Called,
  idsOf,
  inProgress,
  levelOf,
  logOutcome,
  type OperationDeps,
} from '../charging/operation.ts'
import { CHECK_CLAIM_MS } from '../domain/check-times.ts'
import { GatewayUnavailableException, InvalidArgumentException } from '../domain/exceptions.ts'
import { newId } from '../domain/new-id.ts'
import { earlierCall, isAskable, isRepeatable } from '../domain/open-charge.ts'
import { DAY_MS } from '../domain/time.ts'
import type { ChargeRequest } from '../domain/types.ts'
import type { GatewayClient } from '../gateways/client.ts'
import {
  type AnyGateway,
  gatewayOf,
  type StatusAnswer,
  storedPayment,
  supportsStatusCheck,
} from '../gateways/gateway.ts'
import type { Ledger } from '../ledger/ledger.ts'

export interface ReconcileDeps
  extends Pick<
    OperationDeps,
    'gateways' | 'mask' | 'onMismatch' | 'callbackUrl' | 'clock' | 'log'
  > {
  ledger: Pick<Ledger, 'settleCheck' | 'finishCharge'>
  client: Pick<GatewayClient, 'run'>
}

export interface Reconciled {
  /**
   * `moved`: the payment changed. `answered`, `refused`: a charge was repeated. `waits`: no change.
   * `unreachable`: the gateway did not answer.
   */
  result: 'moved' | 'answered' | 'refused' | 'waits' | 'unreachable'
  /** An alert was raised. */
  isAlerted: boolean
}

/** Rejects with the ledger's errors only; a gateway's failure is a result. */
export async function reconcile(deps: ReconcileDeps, check: Check): Promise<Reconciled> {
  const { gateways, clock, log } = deps
  const { transaction } = check
  const gateway = gateways.get(transaction.gateway)
  if (!gateway) {
    log('warn', 'payments.check.unknown_gateway', idsOf(transaction))
    return await settle(deps, check, { isUnanswered: true })
  }
  if (transaction.gateway_transaction_id !== null) return await askStatus(deps, gateway, check)
  // Paid by a webhook that had only its reference: without the gateway's id it cannot be asked.
  if (transaction.status !== 'Pending') return await settle(deps, check)
  if (clock.now() - transaction.created_at >= DAY_MS) return await expire(deps, check)
  // While payments are paused, one that was never sent is not begun.
  const mayBegin = !check.isPaused || earlierCall(transaction) === 'unknown'
  const mayRepeat = mayBegin && isRepeatable(transaction, gateway, clock.now())
  return mayRepeat ? await chargeAgain(deps, gateway, check) : await settle(deps, check)
}

async function askStatus(
  deps: ReconcileDeps,
  gateway: AnyGateway,
  check: Check,
): Promise<Reconciled> {
  // Such a payment changes only by its webhook or by a person.
  if (!supportsStatusCheck(gateway)) return await settle(deps, check)
  const { transaction } = check
  const payment = storedPayment(transaction)
  const askedAt = deps.clock.now()
  let answer: StatusAnswer
  try {
    answer = await deps.client.run(gateway, 'status', (call) => gateway.checkStatus(payment, call))
  } catch (error) {
    return await unreachable(deps, check, error)
  }
  if (!answer.known) {
    deps.log('warn', 'payments.check.unknown_to_gateway', idsOf(transaction))
    return await settle(deps, check, { noAnswer: 'unknown' })
  }
  return await settle(deps, check, { answer: answerIn(deps, transaction, answer, askedAt) })
}

/**
 * Repeats a charge whose answer was lost. It is safe: the gateway makes only one payment for an
 * external reference.
 */
async function chargeAgain(
  deps: ReconcileDeps,
  gateway: AnyGateway,
  check: Check,
): Promise<Reconciled> {
  const { ledger, client, clock, log } = deps
  const { transaction } = check
  const { id: transactionId } = transaction
  const due = transaction.next_check_at ?? clock.now() + CHECK_CLAIM_MS
  const asked = {
    transaction,
    request: JSON.parse(transaction.request ?? '{}') as ChargeRequest,
    earlier: earlierCall(transaction),
    callbackUrl: deps.callbackUrl(gateway.key, undefined),
    checkAt: () => due,
  }
  const finish = (result: ChargeResult, now = clock.now()) =>
    ledger.finishCharge({ transactionId, eventId: newId(now), now, result })
  let called: Called<ChargeResult>
  try {
    called = await client.run(gateway, 'charge', async (call) => {
      // Stored before it is sent: after a crash it must not look as if it had never been sent.
      if (asked.earlier === 'none') await finish({ kind: 'unknown', nextCheckAt: due })
      return await askCharge(gateway, call, asked, clock)
    })
  } catch (error) {
    if (!(error instanceof GatewayUnavailableException)) throw error
    // It is not called for now: nothing was sent.
    return await unreachable(deps, check, error)
  }
  const { result, failure } = called
  if (result.kind === 'unsent' || isAnswer(result)) await finish(result)
  if (!isAnswer(result)) return await unreachable(deps, check, failure)
  log('info', 'payments.check.charged_again', { ...idsOf(transaction), result: result.kind })
  return { result: result.kind === 'refused' ? 'refused' : 'answered', isAlerted: false }
}

/** The payer never got a page or a code, so the payment can no longer be paid. */
async function expire(deps: ReconcileDeps, check: Check): Promise<Reconciled> {
  const { amount, currency } = check.transaction
  const expired = { known: true, status: 'Expired', amount, currency } as const
  return await settle(deps, check, { answer: answerIn(deps, check.transaction, expired) })
}

async function unreachable(deps: ReconcileDeps, check: Check, error: unknown): Promise<Reconciled> {
  const fields = { ...idsOf(check.transaction), error: reasonOf(error) }
  deps.log(levelOf(error), 'payments.check.no_answer', fields)
  const why = error instanceof GatewayUnavailableException ? error.unreadable : undefined
  const unreadable = why === undefined ? {} : { unreadable: { id: newId(deps.clock.now()), why } }
  return await settle(deps, check, { isUnanswered: true, noAnswer: 'unreachable', ...unreadable })
}

async function settle(
  { ledger, clock, log }: ReconcileDeps,
  { transaction }: Check,
  settling: Omit<CheckSettled, 'asked' | 'now'> = {},
): Promise<Reconciled> {
  const { answer, isUnanswered } = settling
  const settled = { asked: transaction, now: clock.now(), ...settling }
  const { alert, nextCheckAt, ...recorded } = await ledger.settleCheck(settled)
  const { outcome } = recorded
  const status = answer?.report.status
  const fields = { ...idsOf(transaction), status, nextCheckAt }
  if (outcome) logOutcome(log, outcome, { ...fields, ...recorded })
  if (alert) log('error', `payments.check.${alert}`, fields)
  else if (outcome !== 'applied') log('debug', 'payments.check.waits', fields)
  const result = isUnanswered ? 'unreachable' : outcome === 'applied' ? 'moved' : 'waits'
  return { result, isAlerted: alert !== undefined }
}

/**
 * By our id. Applies the gateway's answer like a webhook; does nothing for an unknown id. `by`:
 * the subject that asks for it. Throws GatewayUnavailableException when the gateway does not
 * answer, PaymentConflictException while the payment is being charged, InvalidArgumentException
 * when its gateway cannot be asked.
 */
export async function checkNow(
  deps: OperationDeps,
  transactionId: string,
  by?: string,
): Promise<void> {
  const { ledger, gateways, clock } = deps
  const now = clock.now()
  const claimed = await ledger.claimCheck({
    transactionId,
    now,
    until: now + CHECK_CLAIM_MS,
    ...(by !== undefined && { asked: { id: newId(now), by } }),
  })
  if (claimed.state === 'unknown_transaction') return
  if (claimed.state === 'in_progress') {
    throw inProgress('This payment is being charged.', claimed.until - now)
  }
  if (claimed.state === 'foreign') {
    const why = 'Another installation made this payment, and checks it: this database is a copy.'
    throw new InvalidArgumentException(why)
  }
  const { check } = claimed
  const { gateway: key } = check.transaction
  const gateway = gatewayOf(gateways, key)
  if (!supportsStatusCheck(gateway)) {
    throw new InvalidArgumentException(`${key} does not support status checks.`)
  }
  if (!isAskable(check.transaction, gateway, now)) {
    const why = `${key} has given no id of this payment, and cannot be asked by ours.`
    throw new InvalidArgumentException(`${why} Look for its amount there.`)
  }
  const { result } = await reconcile(deps, check)
  if (result === 'unreachable') {
    const message = `${key} did not return the status of this payment.`
    throw new GatewayUnavailableException(message, { transactionId })
  }
}

/** A page, a definite refusal, or a payment id without a page to pay on. */
const isAnswer = (result: ChargeResult): boolean =>
  result.kind === 'answered' || result.kind === 'refused' || gatewayIdIn(result) !== undefined
