// What a charge, a refund, a cancellation and a check have in common: what they are made with, and
// what is between the ledger's rows and a driver. A gateway is called if the guard admits that; its
// answer, or what its driver threw, comes to a result, which is stored, and returned to the caller.

import { type Clock, DeadlineExceeded, within } from '../../shared/clock.ts'
import type { Fields, Log } from '../../shared/log.ts'
import type { Answer } from '../acts/answer.ts'
import { checkedInMs } from '../domain/check-times.ts'
import {
  GatewayRefusedException,
  GatewayUnavailableException,
  InvalidArgumentException,
  PaymentConflictException,
  type PaymentError,
  PaymentsPausedException,
} from '../domain/exceptions.ts'
import { newId } from '../domain/new-id.ts'
import type { TransactionRow } from '../domain/rows.ts'
import type { References } from '../domain/types.ts'
import {
  type AdmittedCall,
  CALL_TIMEOUT_MS,
  type GatewayClient,
  type OpenCall,
} from '../gateways/client.ts'
import type { AnyGateway, KnownStatus, Refused } from '../gateways/gateway.ts'
import { LedgerUnavailable } from '../ledger/failures.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { type MaskReport, maskError } from '../mask.ts'
import type { PaymentQueries } from '../queries/queries-libsql.ts'

/** What a deployment sets of them. */
export interface OperationSettings {
  onMismatch: 'log' | 'reject'
}

export interface OperationDeps extends OperationSettings {
  gateways: ReadonlyMap<string, AnyGateway>
  ledger: Ledger
  client: GatewayClient
  queries: PaymentQueries
  references: References
  mask: MaskReport
  /** The gateway's callback URL. `origin`: the address that this request came to. */
  callbackUrl(gateway: string, origin: string | undefined): string | undefined
  /** Lets work go on after the answer. Failures are logged. */
  later: (work: Promise<unknown>) => void
  clock: Clock
  log: Log
}

/** A charge is answered within 20 s (contract). One of them is for the network. */
const ANSWERED_WITHIN_MS = 19_000
/** For the ledger: if it takes longer, the gateway is not called. */
const BEGUN_WITHIN_MS = 12_000
/** For asking about a stranded charge: the rest is for what follows from the answer. */
const ASKED_WITHIN_MS = 8_000
/** How an operation spends its time. All in ms, as the clock's `elapsed`. */
export interface Deadlines {
  /** Until then the gateway is awaited for its answer about a stranded charge. */
  askUntil: number
  /** After that the gateway is not called. */
  beginUntil: number
  /** Until then the gateway is awaited: its result has to be stored, too. */
  callUntil: number
  answerUntil: number
}

export const deadlinesOf = (startedAt: number): Deadlines => ({
  askUntil: startedAt + ASKED_WITHIN_MS,
  beginUntil: startedAt + BEGUN_WITHIN_MS,
  callUntil: startedAt + CALL_TIMEOUT_MS,
  answerUntil: startedAt + ANSWERED_WITHIN_MS,
})

/** The answer, or LedgerUnavailable at the deadline; `tooLate` gets an answer after that. */
export async function inTime<Answer>(
  { clock, later }: OperationDeps,
  deadlineAt: number,
  work: Promise<Answer>,
  tooLate: (answer: Answer) => Promise<unknown> | undefined = () => undefined,
): Promise<Answer> {
  try {
    return await within(clock, Math.max(deadlineAt - clock.elapsed(), 0), () => work)
  } catch (error) {
    if (!(error instanceof DeadlineExceeded)) throw error
    later(work.then(tooLate))
    throw new LedgerUnavailable('the database took too long', { cause: error })
  }
}

/** A payer may be waiting, and nothing has to be found out. */
export const UNSENT_RETRY_MS = 5_000

/** For the caller of something that another call does at this moment. */
export const inProgress = (sentence: string, retryAfterMs: number) =>
  new PaymentConflictException('in_progress', sentence, { retryAfterMs })

type Begun<State extends { state: string }> =
  | { begun: Extract<State, { state: 'begun' }>; admitted: AdmittedCall }
  | { begun: Exclude<State, { state: 'begun' | 'not_admitted' | 'paused' }>; admitted?: undefined }

interface Beginning<State extends { state: string }> {
  begin(mayCall: boolean): Promise<State>
  /** It began too late for its caller. The gateway was not called: the same request may call it. */
  abandon(late: Extract<State, { state: 'begun' }>): Promise<unknown>
}

/**
 * Begins an operation, with a call of its gateway if the guard admits one. A call that is not made
 * ends at once. Throws GatewayUnavailableException where only the guard is in the way, and
 * PaymentsPausedException.
 */
export async function withAdmission<State extends { state: string; transactionId?: string }>(
  deps: OperationDeps,
  gateway: AnyGateway,
  kind: 'charge' | 'refund',
  { beginUntil, callUntil }: Deadlines,
  { begin, abandon }: Beginning<State>,
): Promise<Begun<State>> {
  const admitting = deps.client.admit(gateway, kind, 'call', callUntil)
  const admitted = await inTime(deps, beginUntil, admitting, async (late) => {
    if (late.ok) await late.end()
  })
  let isCalled = false
  try {
    const begun = await inTime(deps, beginUntil, begin(admitted.ok), (late) =>
      late.state === 'begun' ? abandon(late as Extract<State, { state: 'begun' }>) : undefined,
    )
    if (begun.state === 'paused') throw new PaymentsPausedException(begun)
    if (!admitted.ok && begun.state === 'not_admitted') throw admitted.error
    isCalled = admitted.ok && begun.state === 'begun'
    return (isCalled ? { begun, admitted } : { begun }) as Begun<State>
  } finally {
    if (admitted.ok && !isCalled) deps.later(admitted.end())
  }
}

/** What came of asking a gateway. `failure`: what its driver threw, if it did. */
export interface Called<Result> {
  result: Result
  failure?: unknown
}

/** What is particular to a charge, or to a refund, when its gateway is called. */
export interface GatewayWork<Result extends { kind: string }> {
  name: 'charge' | 'refund'
  /** As the ledger has begun it. */
  transaction: TransactionRow
  admitted: AdmittedCall
  deadlines: Deadlines
  /** For the log. */
  fields?: Fields
  ask(call: OpenCall): Promise<Called<Result>>
  store(result: Result, now: number): Promise<TransactionRow>
}

export interface Answered<Result> extends Called<Result> {
  /** As it is stored. */
  transaction: TransactionRow
  /** When the gateway had answered, ms. */
  now: number
}

/** Calls the gateway for an operation that the ledger has begun, and stores how it ended. */
export async function callGateway<Result extends { kind: string }>(
  deps: OperationDeps,
  gateway: AnyGateway,
  { name, admitted, deadlines, fields, ...work }: GatewayWork<Result>,
): Promise<Answered<Result>> {
  const { clock, log } = deps
  const { id: transactionId, correlation_id: correlationId } = work.transaction
  const called = await work.ask(admitted.call)
  const { result } = called
  if ('failure' in called) {
    const about = { gateway: gateway.key, transactionId, ...fields, correlationId }
    log('warn', `payments.${name}.${result.kind}`, { ...about, error: String(called.failure) })
  }
  const now = clock.now()
  const ending = Promise.all([work.store(result, now), admitted.end()])
  try {
    const [transaction] = await inTime(deps, deadlines.answerUntil, ending)
    return { ...called, transaction, now }
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error
    throw new LedgerUnavailable(String(error.why), { transactionId })
  }
}

/** A refusal is no definite one where an earlier request may have been carried out: it throws. */
export function refused(
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
export function failedResult(
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

type Failed =
  | { kind: 'refused'; error: PaymentError }
  | { kind: 'unknown' | 'unsent'; nextCheckAt?: number }

/**
 * For the caller of an operation that the gateway refused, or whose outcome is unknown: also after
 * an unexpected error of the driver.
 */
export function failureOf(
  { key }: AnyGateway,
  { result, failure, transaction, now }: Answered<Failed>,
): Error {
  const { id: transactionId } = transaction
  if (result.kind === 'refused') {
    if (failure instanceof InvalidArgumentException) return failure
    return new GatewayRefusedException(result.error, { transactionId })
  }
  const known = failure instanceof GatewayUnavailableException ? failure : undefined
  const message = known?.message ?? `${key} answered in a way that was not understood.`
  const askedMs = known?.retryAfterMs ?? 0
  const { kind, nextCheckAt } = result
  // What was never sent waits for no check. A refund may be asked for again at once.
  const unsentMs = nextCheckAt === undefined ? Math.min(askedMs, UNSENT_RETRY_MS) : UNSENT_RETRY_MS
  const unknownMs = Math.max(askedMs, checkedInMs(nextCheckAt, now))
  const retryAfterMs = kind === 'unsent' ? unsentMs : unknownMs
  return new GatewayUnavailableException(message, { transactionId, retryAfterMs, cause: failure })
}

/** What its gateway reports of it. `askedAt`, in ms: what happened since then may be missing. */
export const answerIn = (
  { mask, onMismatch, clock }: Pick<OperationDeps, 'mask' | 'onMismatch' | 'clock'>,
  { gateway }: TransactionRow,
  status: KnownStatus,
  askedAt = clock.now(),
): Answer => ({ id: newId(clock.now()), report: mask(gateway, status), askedAt, onMismatch })

/** Applies it, if it is new, as from a webhook. Rejects with the ledger's errors. */
export async function applyAnswer(
  deps: OperationDeps,
  transaction: TransactionRow,
  known: KnownStatus,
  askedAt?: number,
): Promise<void> {
  const answer = answerIn(deps, transaction, known, askedAt)
  const recorded = await deps.ledger.answer({ asked: transaction, answer, now: deps.clock.now() })
  const { outcome } = recorded
  const fields = { ...idsOf(transaction), status: known.status, ...recorded }
  if (outcome) logOutcome(deps.log, outcome, fields)
}

export const logOutcome = (log: Log, outcome: string, fields: Fields): void =>
  log(outcome === 'applied' ? 'info' : 'warn', `payments.check.${outcome}`, fields)

/** A driver's own error is a bug; a gateway that does not answer is normal. */
export const levelOf = (error: unknown): 'warn' | 'error' =>
  error instanceof GatewayUnavailableException ? 'warn' : 'error'

/** As the log names a payment. */
export const idsOf = ({ id, gateway, correlation_id }: TransactionRow): Fields => ({
  transactionId: id,
  gateway,
  correlationId: correlation_id ?? undefined,
})
