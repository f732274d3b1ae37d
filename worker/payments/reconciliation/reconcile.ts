// Reconciles one payment whose result is overdue: asks its gateway, and the ledger applies the
// answer by the same rules as a webhook.

import type { Clock } from '../../shared/clock.ts'
import { type Fields, type Log, reasonOf } from '../../shared/log.ts'
import { CHECK_CLAIM_MS, DAY_MS, unknownCheckAt } from '../domain/check.ts'
import {
  GatewayRefusedException,
  GatewayUnavailableException,
  InvalidArgumentException,
  PaymentConflictException,
} from '../domain/exceptions.ts'
import type { ChargeEnd } from '../domain/finish-charge.ts'
import { newId } from '../domain/new-id.ts'
import type { Transaction } from '../domain/schemas.ts'
import { type AnyGateway, type StatusAnswer, supportsStatusCheck } from '../gateways/gateway.ts'
import type { Caller } from '../gateways/guard/caller.ts'
import { chargeResult, failedCharge } from '../gateways/outcome.ts'
import type { Check, Ledger } from '../ledger/ledger.ts'
import { maskedPayload } from '../masking/mask.ts'
import {
  expiredUnknown,
  isOfAnother,
  type KnownStatus,
  missedPayment,
  mustApply,
  payloadOf,
  settledAs,
} from './verdict.ts'

export interface ReconcileDeps {
  ledger: Pick<Ledger, 'webhook' | 'settleCheck' | 'finishCharge'>
  gateways: ReadonlyMap<string, AnyGateway>
  caller: Pick<Caller, 'run'>
  onMismatch: 'log' | 'reject'
  /** The callback URL for a gateway; undefined: the gateway has one configured. */
  callbackUrl?: (gateway: string, origin: string | undefined) => string | undefined
  clock: Clock
  log: Log
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
export type Reconcile = (check: Check) => Promise<Reconciled>

export function createReconcile(deps: ReconcileDeps): Reconcile {
  const { ledger, gateways, clock, log } = deps

  return async (check) => {
    const { transaction } = check
    const gateway = gateways.get(transaction.gateway)
    if (!gateway) {
      log('warn', 'payments.check.unknown_gateway', idsOf(transaction))
      return await settle(check, 'unreachable')
    }
    if (transaction.gatewayTransactionId !== undefined) {
      return await askStatus(gateway, check, transaction.gatewayTransactionId)
    }
    // Paid by a webhook that had only its reference: without the gateway's id it cannot be asked.
    if (transaction.status !== 'Pending') return await settle(check)
    if (clock.now() - Date.parse(transaction.createdAt) >= DAY_MS)
      return await expire(gateway, check)
    return gateway.chargeIsIdempotent ? await chargeAgain(gateway, check) : await settle(check)
  }

  async function askStatus(
    gateway: AnyGateway,
    check: Check,
    gatewayTransactionId: string,
  ): Promise<Reconciled> {
    // Such a payment changes only by its webhook or by a person.
    if (!supportsStatusCheck(gateway)) return await settle(check)
    const { transaction } = check
    const { externalReferenceId, reference, amount, currency } = transaction
    const stored = { gatewayTransactionId, externalReferenceId, reference, amount, currency }
    let answer: StatusAnswer
    try {
      answer = await deps.caller.run(gateway, 'status', 'call', (call) =>
        gateway.checkStatus(stored, call),
      )
    } catch (error) {
      return await unreachable(check, error)
    }
    if (!answer.known) {
      log('warn', 'payments.check.unknown_to_gateway', idsOf(transaction))
      return await settle(check)
    }
    if (!mustApply(transaction, answer)) return await settle(check, 'waits', answer)
    return await apply(gateway, check, answer)
  }

  async function apply(
    gateway: AnyGateway,
    check: Check,
    answer: KnownStatus,
  ): Promise<Reconciled> {
    const hasMoved = await applyAnswer(deps, gateway, check.transaction, answer)
    if (hasMoved) return { result: 'moved', isAlerted: false }
    // About another payment, it settles nothing here.
    const isAnswer = !isOfAnother(check.transaction, answer)
    return await settle(check, 'waits', isAnswer ? answer : undefined)
  }

  /**
   * Repeats a charge whose answer was lost. It is safe: the gateway makes only one payment for an
   * external reference.
   */
  async function chargeAgain(gateway: AnyGateway, check: Check): Promise<Reconciled> {
    const { transaction, request } = check
    const { externalReferenceId, id: transactionId } = transaction
    const callbackUrl = deps.callbackUrl?.(gateway.key, undefined)
    const charge = { ...request, externalReferenceId, callbackUrl, now: clock.now() }
    let result: ChargeEnd['result']
    try {
      const answer = await deps.caller.run(gateway, 'charge', 'call', (call) =>
        gateway.charge(charge, call),
      )
      result = chargeResult(request, transaction, answer, clock.now())
    } catch (error) {
      if (!isAnswer(error)) return await unreachable(check, error)
      result = failedCharge(error, unknownCheckAt(clock.now()))
    }
    const now = clock.now()
    // `caller.run` has already reported the result to the breaker, so the verdict here is neutral.
    const end = { transactionId, eventId: newId(now), now, verdict: 'neutral' as const, result }
    await ledger.finishCharge(end)
    log('info', 'payments.check.charged_again', { ...idsOf(transaction), result: result.kind })
    return { result: result.kind === 'refused' ? 'refused' : 'answered', isAlerted: false }
  }

  /** The payer never got a page or a code, so the payment can no longer be paid. */
  async function expire(gateway: AnyGateway, check: Check): Promise<Reconciled> {
    const { amount, currency } = check.transaction
    const now = clock.now()
    // The alert comes first, so that a crash in between keeps it: an Expired payment is not
    // checked.
    if (!check.isUnsent) await ledger.settleCheck(expiredUnknown(check, now))
    const expired = await apply(gateway, check, {
      known: true,
      status: 'Expired',
      amount,
      currency,
    })
    return { ...expired, isAlerted: expired.isAlerted || !check.isUnsent }
  }

  async function unreachable(check: Check, error: unknown): Promise<Reconciled> {
    // A driver's own error is a bug; a gateway that does not answer is normal.
    const level = error instanceof GatewayUnavailableException ? 'warn' : 'error'
    const fields = { ...idsOf(check.transaction), error: reasonOf(error) }
    log(level, 'payments.check.no_answer', fields)
    return await settle(check, 'unreachable')
  }

  async function settle(
    check: Check,
    result: 'waits' | 'unreachable' = 'waits',
    answer?: KnownStatus,
  ): Promise<Reconciled> {
    const { status } = check.transaction
    const settled = {
      ...settledAs(check, clock.now(), answer),
      ...(result === 'unreachable' && { whileStill: status }),
    }
    await ledger.settleCheck(settled)
    const { alert, nextCheckAt: next } = settled
    const fields = { ...idsOf(check.transaction), nextCheckAt: next, status: answer?.status }
    if (alert) log('error', `payments.check.${alert.kind}`, fields)
    else log('debug', 'payments.check.waits', fields)
    return { result, isAlerted: alert !== undefined }
  }
}

/** A refusal, or a payment id without a page to pay on. */
const isAnswer = (error: unknown): boolean =>
  error instanceof GatewayRefusedException ||
  (error instanceof GatewayUnavailableException && error.gatewayTransactionId !== undefined)

const idsOf = ({ id, gateway, correlationId }: Transaction): Fields => ({
  transactionId: id,
  gateway,
  correlationId,
})

// Applies a gateway's answer about a payment: the ledger uses the same rules as for a webhook.

export interface ApplyDeps {
  ledger: Pick<Ledger, 'webhook'>
  onMismatch: 'log' | 'reject'
  clock: Clock
  log: Log
}

/**
 * Applies the answer, and first a missed payment that must have come before it. True: the payment
 * changed. Rejects with the ledger's errors.
 */
export async function applyAnswer(
  deps: ApplyDeps,
  gateway: AnyGateway,
  transaction: Transaction,
  answer: KnownStatus,
): Promise<boolean> {
  const missed = missedPayment(transaction, answer)
  if (missed) await applyOne(deps, gateway, transaction, missed)
  return await applyOne(deps, gateway, transaction, answer)
}

async function applyOne(
  { ledger, onMismatch, clock, log }: ApplyDeps,
  gateway: AnyGateway,
  transaction: Transaction,
  answer: KnownStatus,
): Promise<boolean> {
  const { id: transactionId, correlationId } = transaction
  const { status, amount, currency } = answer
  const now = clock.now()
  const payload = maskedPayload(payloadOf(transaction, answer, now), gateway)
  const { outcome, isMismatch } = await ledger.webhook({
    id: newId(now),
    payload,
    transactionId,
    onMismatch,
    ...(correlationId !== undefined && { correlationId }),
    receivedAt: now,
  })
  const isApplied = outcome === 'applied'
  const ids = { transactionId, gateway: transaction.gateway, correlationId }
  const fields = { ...ids, eventId: payload.eventId, status, outcome }
  log(isApplied ? 'info' : 'warn', `payments.check.${outcome}`, fields)
  if (isMismatch && outcome !== 'duplicate') {
    log('warn', 'payments.webhook.amount_mismatch', { ...fields, amount, currency })
  }
  return isApplied
}

// Checks one payment with its gateway at once, for a host application that does not want to wait
// for the next sweep.

/**
 * By our id. Applies the gateway's answer like a webhook; does nothing for an unknown id.
 * Throws GatewayUnavailableException when the gateway does not answer, PaymentConflictException
 * while the payment is being charged, InvalidArgumentException when its gateway cannot be asked.
 */
export type CheckNow = (transactionId: string) => Promise<void>

export interface CheckNowDeps extends ReconcileDeps {
  ledger: ReconcileDeps['ledger'] & Pick<Ledger, 'claimCheck'>
}

export function createCheckNow(deps: CheckNowDeps): CheckNow {
  const { ledger, gateways, clock } = deps
  const reconcile = createReconcile(deps)
  return async (transactionId) => {
    const now = clock.now()
    const claimed = await ledger.claimCheck({ transactionId, now, until: now + CHECK_CLAIM_MS })
    if (claimed.state === 'unknown_transaction') return
    if (claimed.state === 'in_progress') {
      throw new PaymentConflictException('in_progress', 'This payment is being charged.', {
        retryAfterMs: claimed.until - now,
      })
    }
    const { check } = claimed
    // The row is unreadable, so the gateway cannot be asked.
    if ('invalid' in check) throw new InvalidArgumentException(check.invalid)
    const { gateway: key } = check.transaction
    const gateway = gateways.get(key)
    if (!gateway) throw new InvalidArgumentException(`There is no gateway ${key}.`)
    if (!supportsStatusCheck(gateway)) {
      throw new InvalidArgumentException(`${key} does not support status checks.`)
    }
    const { result } = await reconcile(check)
    if (result === 'unreachable') {
      const message = `${key} did not return the status of this payment.`
      throw new GatewayUnavailableException(message, { transactionId })
    }
  }
}
