// One payment that should have been heard of: asks its gateway, and has the ledger apply what comes
// of it, by the same graph and the same rule of amounts as a webhook.

import type { Clock } from '../../shared/clock.ts'
import type { Fields, Log } from '../../shared/log.ts'
import { chargeResult, failedCharge } from '../charging/charge-result.ts'
import { GatewayRefusedException, GatewayUnavailableException } from '../domain/exceptions.ts'
import type { ChargeEnd } from '../domain/finish-charge.ts'
import { drawId } from '../domain/new-id.ts'
import type { Transaction } from '../domain/transaction.ts'
import { type AnyGateway, type StatusAnswer, supportsStatusCheck } from '../gateways/gateway.ts'
import type { Caller } from '../gateways/guard/caller.ts'
import type { Check, Ledger } from '../ledger/ledger.ts'
import { reasonOf } from '../outbox/reason.ts'
import { applyAnswer } from './apply-answer.ts'
import { DAY_MS, unknownCheckAt } from './schedule.ts'
import { isNews, type KnownStatus, letGo, settledAs } from './verdict.ts'

export interface RecheckDeps {
  ledger: Pick<Ledger, 'webhook' | 'settleCheck' | 'finishCharge'>
  gateways: ReadonlyMap<string, AnyGateway>
  caller: Pick<Caller, 'run'>
  onMismatch: 'log' | 'reject'
  /** Where a gateway is to call back; without it, where it is configured to. */
  callbackUrl?: (gateway: string, origin: string | undefined) => string | undefined
  clock: Clock
  log: Log
}

export interface Rechecked {
  /**
   * `moved`: something was applied. `answered`, `refused`: a charge, asked for again. `waits`: it
   * stays as it was. `unreachable`: the gateway did not say.
   */
  what: 'moved' | 'answered' | 'refused' | 'waits' | 'unreachable'
  /** A person was told that it does not settle. */
  alerted: boolean
}

/** Rejects with what the ledger rejects with; what a gateway does is an answer. */
export type Recheck = (check: Check) => Promise<Rechecked>

export function createRecheck(deps: RecheckDeps): Recheck {
  const { ledger, gateways, clock, log } = deps

  return async (check) => {
    const { transaction } = check
    const gateway = gateways.get(transaction.gateway)
    if (!gateway) {
      log('warn', 'payments.check.unknown_gateway', about(transaction))
      return await settle(check, 'unreachable')
    }
    if (transaction.gatewayTransactionId !== undefined) {
      return await askStatus(gateway, check, transaction.gatewayTransactionId)
    }
    // Paid by a webhook that named it by its reference alone: there is nothing to ask by.
    if (transaction.status !== 'Pending') return await settle(check)
    if (clock.now() - Date.parse(transaction.createdAt) >= DAY_MS)
      return await expire(gateway, check)
    return gateway.chargeIsIdempotent ? await chargeAgain(gateway, check) : await settle(check)
  }

  async function askStatus(
    gateway: AnyGateway,
    check: Check,
    gatewayTransactionId: string,
  ): Promise<Rechecked> {
    // Without it only its webhook tells, or a person.
    if (!supportsStatusCheck(gateway)) return await settle(check)
    const { transaction } = check
    const { externalReferenceId, reference, amount, currency } = transaction
    const names = { gatewayTransactionId, externalReferenceId, reference, amount, currency }
    let answer: StatusAnswer
    try {
      answer = await deps.caller.run(gateway, 'call', (call) => gateway.checkStatus(names, call))
    } catch (error) {
      return await unreachable(check, error)
    }
    if (!answer.known) {
      log('warn', 'payments.check.unknown_to_gateway', about(transaction))
      return await settle(check)
    }
    if (!isNews(transaction, answer)) return await settle(check, 'waits', answer)
    return await apply(gateway, check, answer)
  }

  async function apply(gateway: AnyGateway, check: Check, answer: KnownStatus): Promise<Rechecked> {
    const isMoved = await applyAnswer(deps, gateway, check.transaction, answer)
    if (isMoved) return { what: 'moved', alerted: false }
    return await settle(check, 'waits', answer)
  }

  /** Its answer never came, and the same external reference can only ever be one payment. */
  async function chargeAgain(gateway: AnyGateway, check: Check): Promise<Rechecked> {
    const { transaction, request } = check
    const { externalReferenceId, id: transactionId } = transaction
    const callbackUrl = deps.callbackUrl?.(gateway.key, undefined)
    const charge = { ...request, externalReferenceId, callbackUrl, now: clock.now() }
    let result: ChargeEnd['result']
    try {
      const answer = await deps.caller.run(gateway, 'call', (call) => gateway.charge(charge, call))
      result = chargeResult(request, transaction, answer, clock.now())
    } catch (error) {
      if (!isAnswer(error)) return await unreachable(check, error)
      result = failedCharge(error, unknownCheckAt(clock.now()))
    }
    const now = clock.now()
    // The breaker has heard from the caller how that went.
    const end = { transactionId, eventId: drawId(now), now, verdict: 'neutral' as const, result }
    await ledger.finishCharge(end)
    log('info', 'payments.check.charged_again', { ...about(transaction), result: result.kind })
    return { what: result.kind === 'refused' ? 'refused' : 'answered', alerted: false }
  }

  /** Nobody was ever sent to pay it: it never got to where it could be paid. */
  async function expire(gateway: AnyGateway, check: Check): Promise<Rechecked> {
    const { amount, currency } = check.transaction
    const now = clock.now()
    // First, so that a crash in between leaves the alert: nobody will ask about it again.
    if (!check.isUnsent) await ledger.settleCheck(letGo(check, now))
    const expired = await apply(gateway, check, {
      known: true,
      status: 'Expired',
      amount,
      currency,
    })
    return { ...expired, alerted: expired.alerted || !check.isUnsent }
  }

  async function unreachable(check: Check, error: unknown): Promise<Rechecked> {
    // A driver that breaks is a fault of ours; a gateway that does not answer is everyday.
    const level = error instanceof GatewayUnavailableException ? 'warn' : 'error'
    const fields = { ...about(check.transaction), error: reasonOf(error) }
    log(level, 'payments.check.no_answer', fields)
    return await settle(check, 'unreachable')
  }

  async function settle(
    check: Check,
    what: 'waits' | 'unreachable' = 'waits',
    answer?: KnownStatus,
  ): Promise<Rechecked> {
    const { status } = check.transaction
    const settled = {
      ...settledAs(check, clock.now(), answer),
      ...(what === 'unreachable' && { whileStill: status }),
    }
    await ledger.settleCheck(settled)
    const { alert, nextCheckAt: next } = settled
    const fields = { ...about(check.transaction), nextCheckAt: next, status: answer?.status }
    if (alert) log('error', `payments.check.${alert.kind}`, fields)
    else log('debug', 'payments.check.waits', fields)
    return { what, alerted: alert !== undefined }
  }
}

/** A no, or the gateway's name of a payment that it gives no page for. */
const isAnswer = (error: unknown): boolean =>
  error instanceof GatewayRefusedException ||
  (error instanceof GatewayUnavailableException && error.gatewayTransactionId !== undefined)

const about = ({ id, gateway, correlationId }: Transaction): Fields => ({
  transactionId: id,
  gateway,
  correlationId,
})
