// Reconciles one payment whose result is overdue: asks its gateway, and the ledger applies the
// answer by the same rules as a webhook.

import type { Clock } from '../../shared/clock.ts'
import { type Fields, type Log, reasonOf } from '../../shared/log.ts'
import type { Answer, CheckSettled } from '../acts/answer.ts'
import type { Check } from '../acts/check.ts'
import { type ChargeResult, gatewayIdIn } from '../acts/finish-charge.ts'
import { CHECK_CLAIM_MS, DAY_MS } from '../domain/check-times.ts'
import {
  GatewayUnavailableException,
  InvalidArgumentException,
  PaymentConflictException,
} from '../domain/exceptions.ts'
import { newId } from '../domain/new-id.ts'
import { earlierCall, isAskable, isRepeatable } from '../domain/open-charge.ts'
import type { TransactionRow } from '../domain/rows.ts'
import type { ChargeRequest } from '../domain/types.ts'
import type { GatewayClient } from '../gateways/client.ts'
import {
  type AnyGateway,
  gatewayOf,
  type KnownStatus,
  type StatusAnswer,
  supportsStatusCheck,
} from '../gateways/gateway.ts'
import { askCharge, type Called, storedPayment } from '../gateways/outcome.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { reportMask } from '../mask.ts'

export interface ReconcileDeps {
  gateways: ReadonlyMap<string, AnyGateway>
  ledger: Pick<Ledger, 'answer' | 'settleCheck' | 'finishCharge' | 'claimCheck'>
  client: Pick<GatewayClient, 'run'>
  /** The callback URL for a gateway; undefined: the gateway has one configured. */
  callbackUrl?: (gateway: string, origin: string | undefined) => string | undefined
  onMismatch: 'log' | 'reject'
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

export type Reconciliation = ReturnType<typeof createReconciliation>

export function createReconciliation(deps: ReconcileDeps) {
  const { ledger, gateways, onMismatch, clock, log } = deps
  const mask = reportMask(gateways)
  const answerIn = (
    { gateway }: TransactionRow,
    told: KnownStatus,
    askedAt = clock.now(),
  ): Answer => ({ id: newId(clock.now()), report: mask(gateway, told), askedAt, onMismatch })

  /** Rejects with the ledger's errors only; a gateway's failure is a result. */
  async function reconcile(check: Check): Promise<Reconciled> {
    const { transaction } = check
    const gateway = gateways.get(transaction.gateway)
    if (!gateway) {
      log('warn', 'payments.check.unknown_gateway', idsOf(transaction))
      return await settle(check, { isUnanswered: true })
    }
    if (transaction.gateway_transaction_id !== null) return await askStatus(gateway, check)
    // Paid by a webhook that had only its reference: without the gateway's id it cannot be asked.
    if (transaction.status !== 'Pending') return await settle(check)
    if (clock.now() - transaction.created_at >= DAY_MS) return await expire(check)
    // While payments are paused, one that was never sent is not begun.
    const mayBegin = !check.isPaused || earlierCall(transaction) === 'unknown'
    const mayRepeat = mayBegin && isRepeatable(transaction, gateway, clock.now())
    return mayRepeat ? await chargeAgain(gateway, check) : await settle(check)
  }

  async function askStatus(gateway: AnyGateway, check: Check): Promise<Reconciled> {
    // Such a payment changes only by its webhook or by a person.
    if (!supportsStatusCheck(gateway)) return await settle(check)
    const { transaction } = check
    const payment = storedPayment(transaction)
    const askedAt = clock.now()
    let answer: StatusAnswer
    try {
      answer = await deps.client.run(gateway, 'status', (call) =>
        gateway.checkStatus(payment, call),
      )
    } catch (error) {
      return await unreachable(check, error)
    }
    if (!answer.known) {
      log('warn', 'payments.check.unknown_to_gateway', idsOf(transaction))
      return await settle(check, { noAnswer: 'unknown' })
    }
    return await settle(check, { answer: answerIn(transaction, answer, askedAt) })
  }

  /**
   * Repeats a charge whose answer was lost. It is safe: the gateway makes only one payment for an
   * external reference.
   */
  async function chargeAgain(gateway: AnyGateway, check: Check): Promise<Reconciled> {
    const { transaction } = check
    const { id: transactionId } = transaction
    const due = transaction.next_check_at ?? clock.now() + CHECK_CLAIM_MS
    const asked = {
      transaction,
      request: JSON.parse(transaction.request ?? '{}') as ChargeRequest,
      earlier: earlierCall(transaction),
      callbackUrl: deps.callbackUrl?.(gateway.key, undefined),
      checkAt: () => due,
    }
    const finish = (result: ChargeResult, now = clock.now()) =>
      ledger.finishCharge({ transactionId, eventId: newId(now), now, result })
    let called: Called<ChargeResult>
    try {
      called = await deps.client.run(gateway, 'charge', async (call) => {
        // Stored before it is sent: after a crash it must not look as if it had never been sent.
        if (asked.earlier === 'none') await finish({ kind: 'unknown', nextCheckAt: due })
        return await askCharge(gateway, call, asked, clock)
      })
    } catch (error) {
      if (!(error instanceof GatewayUnavailableException)) throw error
      // It is not called for now: nothing was sent.
      return await unreachable(check, error)
    }
    const { result, failure } = called
    if (result.kind === 'unsent' || isAnswer(result)) await finish(result)
    if (!isAnswer(result)) return await unreachable(check, failure)
    log('info', 'payments.check.charged_again', { ...idsOf(transaction), result: result.kind })
    return { result: result.kind === 'refused' ? 'refused' : 'answered', isAlerted: false }
  }

  /** The payer never got a page or a code, so the payment can no longer be paid. */
  async function expire(check: Check): Promise<Reconciled> {
    const { amount, currency } = check.transaction
    const expired = { known: true, status: 'Expired', amount, currency } as const
    return await settle(check, { answer: answerIn(check.transaction, expired) })
  }

  async function unreachable(check: Check, error: unknown): Promise<Reconciled> {
    // A driver's own error is a bug; a gateway that does not answer is normal.
    const level = error instanceof GatewayUnavailableException ? 'warn' : 'error'
    const fields = { ...idsOf(check.transaction), error: reasonOf(error) }
    log(level, 'payments.check.no_answer', fields)
    const why = error instanceof GatewayUnavailableException ? error.unreadable : undefined
    const unreadable = why === undefined ? {} : { unreadable: { id: newId(clock.now()), why } }
    return await settle(check, { isUnanswered: true, noAnswer: 'unreachable', ...unreadable })
  }

  async function settle(
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
   * Applies what the gateway tells of a payment, if it is new. `askedAt`, in ms: what happened
   * since then may be missing in it. Rejects with the ledger's errors.
   */
  async function applyAnswer(
    asked: TransactionRow,
    told: KnownStatus,
    askedAt?: number,
  ): Promise<void> {
    const answer = answerIn(asked, told, askedAt)
    const recorded = await ledger.answer({ asked, answer, now: clock.now() })
    const { outcome } = recorded
    if (outcome) logOutcome(log, outcome, { ...idsOf(asked), status: told.status, ...recorded })
  }

  /**
   * By our id. Applies the gateway's answer like a webhook; does nothing for an unknown id. `by`:
   * the subject that asks for it. Throws GatewayUnavailableException when the gateway does not
   * answer, PaymentConflictException while the payment is being charged, InvalidArgumentException
   * when its gateway cannot be asked.
   */
  async function checkNow(transactionId: string, by?: string): Promise<void> {
    const now = clock.now()
    const claimed = await ledger.claimCheck({
      transactionId,
      now,
      until: now + CHECK_CLAIM_MS,
      ...(by !== undefined && { asked: { id: newId(now), by } }),
    })
    if (claimed.state === 'unknown_transaction') return
    if (claimed.state === 'in_progress') {
      throw new PaymentConflictException('in_progress', 'This payment is being charged.', {
        retryAfterMs: claimed.until - now,
      })
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
    const { result } = await reconcile(check)
    if (result === 'unreachable') {
      const message = `${key} did not return the status of this payment.`
      throw new GatewayUnavailableException(message, { transactionId })
    }
  }

  return { reconcile, applyAnswer, checkNow }
}

/** A page, a definite refusal, or a payment id without a page to pay on. */
const isAnswer = (result: ChargeResult): boolean =>
  result.kind === 'answered' || result.kind === 'refused' || gatewayIdIn(result) !== undefined

const logOutcome = (log: Log, outcome: string, fields: Fields): void =>
  log(outcome === 'applied' ? 'info' : 'warn', `payments.check.${outcome}`, fields)

/** As the log names a payment. */
const idsOf = ({ id, gateway, correlation_id }: TransactionRow): Fields => ({
  transactionId: id,
  gateway,
  correlationId: correlation_id ?? undefined,
})
