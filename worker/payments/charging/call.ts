// What a charge and a refund have in common: what they are made with, who asks for them, how the
// gateway is called, and what becomes of an operation that it refused or did not answer.

import { type Clock, DeadlineExceeded, within } from '../../shared/clock.ts'
import type { Fields, Log } from '../../shared/log.ts'
import { checkedInMs } from '../domain/check.ts'
import {
  GatewayRefusedException,
  GatewayUnavailableException,
  InvalidArgumentException,
  type PaymentError,
} from '../domain/exceptions.ts'
import type { Transaction } from '../domain/schemas.ts'
import type { CallKind } from '../domain/status.ts'
import type { AnyGateway, GatewayCall } from '../gateways/gateway.ts'
import { CALL_TIMEOUT_MS, type Caller } from '../gateways/guard/caller.ts'
import { type Called, type Finished, type Ledger, LedgerUnavailable } from '../ledger/ledger.ts'
import type { Background } from '../outbox/dispatcher.ts'

export interface OperationDeps {
  gateways: ReadonlyMap<string, AnyGateway>
  ledger: Ledger
  caller: Caller
  background: Background
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
  askedBy: number
  /** After that the gateway is not called. */
  begunBy: number
  /** Until then the gateway is awaited: its result has to be stored, too. */
  calledBy: number
  answeredBy: number
}

export const deadlinesOf = (startedAt: number): Deadlines => ({
  askedBy: startedAt + ASKED_WITHIN_MS,
  begunBy: startedAt + BEGUN_WITHIN_MS,
  calledBy: startedAt + CALL_TIMEOUT_MS,
  answeredBy: startedAt + ANSWERED_WITHIN_MS,
})

/** The ledger's answer, or LedgerUnavailable at the deadline; `late` gets an answer after that. */
export async function inTime<Answer>(
  { clock, background }: Pick<OperationDeps, 'clock' | 'background'>,
  deadlineAt: number,
  work: Promise<Answer>,
  late: (answer: Answer) => Promise<unknown> | undefined = () => undefined,
): Promise<Answer> {
  try {
    return await within(clock, Math.max(deadlineAt - clock.elapsed(), 0), () => work)
  } catch (error) {
    if (!(error instanceof DeadlineExceeded)) throw error
    background.run(work.then(late))
    throw new LedgerUnavailable('the database took too long', { cause: error })
  }
}

/**
 * The payment as it is stored. If that opened the circuit, there is an event for it, even after
 * the caller's deadline.
 */
async function finish(
  deps: Pick<OperationDeps, 'clock' | 'background'>,
  { kind, transactionId, answeredBy }: Ending,
  storing: Promise<Finished>,
): Promise<Transaction> {
  const stored = storing.then(({ transaction, opened }) => {
    if (opened) deps.background.pass('CircuitOpened', { gateway: transaction.gateway, kind })
    return transaction
  })
  try {
    return await inTime(deps, answeredBy, stored)
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error
    throw new LedgerUnavailable(error.message, { cause: error, transactionId })
  }
}

interface Ending {
  kind: CallKind
  transactionId: string
  answeredBy: number
}

/** What is particular to a charge, or to a refund, when its gateway is called. */
export interface GatewayWork<Result extends { kind: string }> {
  name: 'charge' | 'refund'
  /** As the ledger has begun it. */
  begun: { transaction: Transaction; accessToken?: string }
  deadlines: Deadlines
  /** For the log. */
  fields?: Fields
  ask(call: GatewayCall): Promise<Result>
  /** Of what the driver threw. */
  failed(error: unknown): Result
  store(result: Result, called: Called & { now: number }): Promise<Finished>
}

export interface Answered<Result> {
  result: Result
  /** What the driver threw, if it did. */
  failure: unknown
  /** As it is stored. */
  transaction: Transaction
  /** When the gateway had answered, ms. */
  now: number
}

/** Calls the gateway for an operation that the ledger has begun, and stores how it ended. */
export async function callGateway<Result extends { kind: string }>(
  deps: OperationDeps,
  gateway: AnyGateway,
  { name, begun, deadlines, fields, ...work }: GatewayWork<Result>,
): Promise<Answered<Result>> {
  const { caller, clock, log } = deps
  const { id: transactionId, correlationId } = begun.transaction
  const call = caller.startCall(gateway, begun.accessToken, deadlines.calledBy)
  let result: Result
  let failure: unknown
  try {
    result = await work.ask(call)
  } catch (error) {
    failure = error
    result = work.failed(error)
    const about = { gateway: gateway.key, transactionId, ...fields, correlationId }
    log('warn', `payments.${name}.${result.kind}`, { ...about, error: String(error) })
  }
  const now = clock.now()
  const storing = work.store(result, { verdict: call.verdict(), now })
  const { answeredBy } = deadlines
  const transaction = await finish(deps, { kind: name, transactionId, answeredBy }, storing)
  return { result, failure, transaction, now }
}

type Failed =
  | { kind: 'refused'; error: PaymentError }
  | { kind: 'unknown' | 'unsent'; nextCheckAt?: number }

/** For the caller of an operation that the gateway refused, or whose outcome is unknown. */
export function failureOf(
  gateway: AnyGateway,
  { result, failure, transaction, now }: Answered<Failed>,
): Error {
  const { id: transactionId } = transaction
  if (result.kind !== 'refused') {
    // A refund that was never sent waits for nothing: it may be asked for again at once.
    const waits = result.kind === 'unknown' || result.nextCheckAt !== undefined
    const checked = waits ? checkedInMs(result.nextCheckAt, now) : 0
    return unknownOutcome(failure, gateway.key, { transactionId, checkedInMs: checked })
  }
  if (failure instanceof InvalidArgumentException) return failure
  return new GatewayRefusedException(result.error, { transactionId })
}

/** A sentence that names every fault of a request. */
export function faultsOf(error: {
  issues: readonly { path: readonly PropertyKey[]; message: string }[]
}): string {
  const faults = error.issues.map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`)
  return `${faults.join('; ')}.`
}

export const circuitOpen = (gateway: string, retryAfterMs: number): GatewayUnavailableException =>
  new GatewayUnavailableException(`${gateway} is failing and is not called for now.`, {
    retryAfterMs,
  })

/** For a repeated request: the error of the first one. */
export const refusedBefore = (error: PaymentError): Error =>
  error.code === 'invalid_argument'
    ? new InvalidArgumentException(error.message)
    : new GatewayRefusedException(error)

/**
 * For the caller, if the outcome is unknown: also after an unexpected error of the driver.
 * `checkedInMs`: the time until our own check is done.
 */
function unknownOutcome(
  error: unknown,
  gateway: string,
  payment: { transactionId: string; checkedInMs: number },
): GatewayUnavailableException {
  const { transactionId, checkedInMs } = payment
  const known = error instanceof GatewayUnavailableException ? error : undefined
  const message = known?.message ?? `${gateway} answered in a way that was not understood.`
  const retryAfterMs = Math.max(known?.retryAfterMs ?? 0, checkedInMs)
  return new GatewayUnavailableException(message, { transactionId, retryAfterMs, cause: error })
}
