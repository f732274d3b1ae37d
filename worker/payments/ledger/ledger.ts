// The port of the one writer: every write that concerns money goes through it, one at a time for
// each database. Each method is atomic: all of it is stored or none.
//
// A caller generates an `id` once and keeps it through its retries: a call that is repeated because
// its outcome was unknown finds its own rows and answers as the first time.
// All times are ms. Rejects with LedgerUnavailable when the database stays out of reach.
//
// The events that a group of calls caused are dispatched behind its commit. No answer waits for it.

import type { ChargeStart } from '../domain/begin-charge.ts'
import type { CheckSettled, UnreadableEvent } from '../domain/check.ts'
import type { ChargeEnd } from '../domain/finish-charge.ts'
import type { RefundEnd, RefundRefusal, RefundStart } from '../domain/refund.ts'
import type {
  ChargeRequest,
  Listed,
  OpenedPayment,
  Transaction,
  WebhookPayload,
} from '../domain/schemas.ts'
import type { Outcome } from '../domain/status.ts'
import { isTime } from '../domain/time.ts'
import type { GatewayGuard, Verdict } from '../gateways/guard/guard.ts'
import type { DispatchReport, DueClaim } from '../outbox/dispatch.ts'
import type { Keys } from './operation.ts'
import type { ParkedEvent, WorkingSet } from './working-set.ts'

export interface Ledger extends GatewayGuard {
  /** Records a verified event and applies it to its transaction. */
  webhook(arrival: Arrival): Promise<Recorded>
  /**
   * The sweeper soon checks what these name, if it is known and not `Refunded`. `unreadable`: an
   * event with these names, which could not be read.
   */
  checkSoon(
    gateway: string,
    names: EventNames,
    now: number,
    unreadable?: UnreadableEvent,
  ): Promise<void>

  /** Stores a charge before its gateway is called, or finds the one that this request made. */
  beginCharge(start: ChargeStart): Promise<ChargeBegun>
  /** Stores the gateway's answer, and applies events that were parked for it. */
  finishCharge(end: ChargeEnd & Called): Promise<Finished>

  /** Claims a refund before its gateway is called: one of a transaction at a time. */
  beginRefund(start: RefundStart): Promise<RefundBegun>
  finishRefund(end: RefundEnd & Called): Promise<Finished>

  /** Transactions whose check is due. Without a result they are due again at `until`. */
  claimChecks(claim: { now: number; until: number; limit: number }): Promise<Listed<Check>[]>
  /** One of them, due or not. The sweeper leaves it alone until `until`. */
  claimCheck(claim: CheckClaim): Promise<CheckClaimed>
  settleCheck(settled: CheckSettled): Promise<void>
  /** Applies parked events whose transaction has appeared. */
  applyParked(claim: { now: number; limit: number }): Promise<void>

  /**
   * Dispatches stored events that are due, `limit` at most: those that failed before, or were never
   * dispatched. Resolves when the results are stored.
   */
  dispatchDue(claim: DueClaim): Promise<DispatchReport>
  /** Sends a delivery again, in any status. False: there is none with this id. */
  redeliver(deliveryId: string, now: number): Promise<boolean>

  /**
   * Marks an alert as seen; a second time changes nothing. `gatewayReference`: the gateway's id of
   * what a person did about it. False: there is none with this id.
   */
  acknowledge(alertId: string, by: string, now: number, gatewayReference?: string): Promise<boolean>
  /** Deletes settled webhook events that are older; answers how many, `limit` at most. */
  forget(before: number, limit: number): Promise<number>
}

/** The database could not be reached for longer than a caller waits. */
export class LedgerUnavailable extends Error {
  override readonly name = 'LedgerUnavailable'
  readonly code = 'ledger_unavailable'
  /** Ours, where the payment is stored. */
  readonly transactionId: string | undefined

  constructor(message: string, options: { cause?: unknown; transactionId?: string } = {}) {
    super(message, { cause: options.cause })
    this.transactionId = options.transactionId
  }
}

/** The database has another schema than this version of the code; nothing was written. */
export class SchemaMismatch extends Error {
  override readonly name = 'SchemaMismatch'
  readonly code = 'schema_mismatch'
}

export type EventNames = Partial<
  Pick<
    WebhookPayload,
    | 'gatewayTransactionId'
    | 'isOtherId'
    | 'reference'
    | 'externalReferenceId'
    | 'amount'
    | 'currency'
  >
>

export interface Arrival {
  /** ULID. */
  id: string
  payload: WebhookPayload
  /** Ours: the gateway was asked about this payment. A webhook has only the ids of its payload. */
  transactionId?: string
  onMismatch: 'log' | 'reject'
  correlationId?: string
  receivedAt: number
}

/**
 * Throws RangeError for a value that an INTEGER column would refuse, or that would make its row
 * unreadable. The caller refuses such events itself; this is the last check.
 */
export function checkArrival({ payload }: Arrival): void {
  const { amount, occurredAt } = payload
  if (!Number.isSafeInteger(amount)) throw new RangeError(`${amount} is not an amount`)
  if (!isTime(Date.parse(occurredAt))) throw new RangeError(`${occurredAt} is not a time`)
}

export interface Recorded {
  /** `duplicate`: this event was recorded before, and nothing happened now. */
  outcome: Outcome | 'duplicate'
  /** Paid with another amount or currency than was requested. */
  isMismatch: boolean
  /** Undefined while parked. */
  transactionId?: string
}

export type ChargeBegun =
  /** Call the gateway. */
  | { state: 'begun'; transaction: Transaction; accessToken?: string }
  /**
   * The same request was made before: with the same key or, without one, for the same order. The
   * payment as it is now, and the gateway's answer with its page or code.
   */
  | { state: 'answered'; transaction: Transaction; opened?: OpenedPayment }
  | { state: 'in_progress'; until: number }
  /**
   * It is open, without a page or a code to pay it with: the gateway must not be called twice, is
   * not called now, or returned no page. The sweeper settles it.
   */
  | { state: 'unknown'; transaction: Transaction; nextCheckAt?: number }
  /** The key, or a payment of this order, belongs to a request with other `fields`. */
  | { state: 'conflict'; over: 'key' | 'reference'; fields: readonly string[] }
  /** The order is paid, and this key is new. */
  | { state: 'already_paid'; transactionId: string }
  /** Nothing was stored. */
  | { state: 'circuit_open'; retryAfterMs: number }

/** The result of the gateway call, for its breaker. */
export interface Called {
  verdict: Verdict
}

export interface Finished {
  transaction: Transaction
  /** This call opened the gateway's circuit. */
  opened: boolean
}

export type RefundBegun =
  /** `amount`: what is refunded, which is what was paid if all is refunded at once. */
  | { state: 'begun'; transaction: Transaction; amount: number; accessToken?: string }
  | RefundRefusal<Transaction>
  | { state: 'circuit_open'; retryAfterMs: number }

export interface CheckClaim {
  /** Ours. */
  transactionId: string
  now: number
  until: number
}

export type CheckClaimed =
  | { state: 'claimed'; check: Listed<Check> }
  /** Its gateway is being called to charge it, until then at the latest. */
  | { state: 'in_progress'; until: number }
  | { state: 'unknown_transaction' }

/** One transaction to ask the gateway about. */
export interface Check {
  transaction: Transaction
  /** The request, for a charge that the gateway never answered. */
  request: ChargeRequest
  /** Its gateway was never called for it, so it cannot have made a payment. */
  isUnsent: boolean
  /** The refund under way. */
  refund?: { id: string; amount: number; createdAt: number; isAccepted: boolean }
}

// The port of the storage for the ledger's rows. It knows no rule of money.

export interface Store {
  /** The rows of these keys, and the number of saves. Rejects with SchemaMismatch. */
  load(keys: Keys, signal: AbortSignal): Promise<Loaded>
  /**
   * Stores all that changed in the loaded rows, or nothing. Rejects with StaleRows, and stores
   * nothing, when anybody has saved since they were loaded.
   */
  save(loaded: Loaded, signal: AbortSignal): Promise<void>
  /** Parked events whose payment has appeared, in the order in which they occurred. */
  findParked(limit: number): Promise<ParkedEvent[]>
  /** Deletes settled webhook events that are older; answers how many, `limit` at most. */
  forget(before: number, limit: number): Promise<number>
  /** True if a retry may succeed. */
  isTransient(error: unknown): boolean
}

export interface Loaded {
  rows: WorkingSet
  /** The number of saves until then. It only rises. */
  batch: number
}

/** The rows are not what is stored now: load them and decide again. */
export class StaleRows extends Error {
  override readonly name = 'StaleRows'
  readonly code = 'stale_rows'
}
