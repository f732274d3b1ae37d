// The port of the one writer: every write that concerns money goes through it, one at a time for
// each database. Each method is atomic: all of it is stored or none.
//
// A caller generates an `id` once and keeps it through its retries: a call that is repeated because
// its outcome was unknown finds its own rows and answers as the first time.
// All times are ms. Rejects with LedgerUnavailable when the database stays out of reach.
//
// The events that a group of calls caused are dispatched behind its commit. No answer waits for it.

import type { ChargeBegun, ChargeStart } from '../domain/begin-charge.ts'
import type { CheckSettled, UnreadableEvent } from '../domain/check.ts'
import type { ChargeEnd } from '../domain/finish-charge.ts'
import type { RefundBegun, RefundEnd, RefundStart } from '../domain/refund.ts'
import type { RefundRow, TransactionRow } from '../domain/rows.ts'
import type { Outcome } from '../domain/status.ts'
import { isTime } from '../domain/time.ts'
import type { VerifiedWebhook } from '../domain/types.ts'
import type { DispatchReport, DueClaim } from '../outbox/dispatch.ts'

export interface Ledger {
  /** Records a verified event and applies it to its transaction. */
  webhook(arrival: Arrival): Promise<Recorded>
  /**
   * The sweeper soon checks the payment with these ids, if it is known.
   * `unreadable`: an event with these ids, which could not be read. One that is final raises an
   * alert, also if its payment is not known.
   */
  checkSoon(
    gateway: string,
    ids: EventIds,
    now: number,
    unreadable?: UnreadableEvent,
  ): Promise<void>

  /** Stores a charge before its gateway is called, or finds the one that this request made. */
  beginCharge(start: ChargeStart): Promise<ChargeBegun>
  /** Stores the gateway's answer, and applies events that were parked for it. */
  finishCharge(end: ChargeEnd): Promise<TransactionRow>

  /** Claims a refund before its gateway is called: one of a transaction at a time. */
  beginRefund(start: RefundStart): Promise<RefundBegun>
  finishRefund(end: RefundEnd): Promise<TransactionRow>

  /** Transactions whose check is due. Without a result they are due again at `until`. */
  claimChecks(claim: { now: number; until: number; limit: number }): Promise<Check[]>
  /** One of them, due or not. The sweeper leaves it alone until `until`. */
  claimCheck(claim: CheckClaim): Promise<CheckClaimed>
  settleCheck(settled: CheckSettled): Promise<void>
  /** Applies parked events whose transaction has appeared. */
  applyParked(claim: DueClaim): Promise<void>

  /**
   * Dispatches stored events that are due, `limit` at most: those that failed before, or were never
   * dispatched. Resolves when the results are stored.
   */
  dispatchDue(claim: DueClaim): Promise<DispatchReport>
  /** Sends a delivery again, in any status. False: there is none with this id. */
  redeliver(deliveryId: string, now: number, asked?: Asked): Promise<boolean>

  /**
   * Marks an alert as seen; a second time changes nothing. `gatewayReference`: the gateway's id of
   * what a person did about it. False: there is none with this id.
   */
  acknowledge(alertId: string, by: string, now: number, gatewayReference?: string): Promise<boolean>
  /**
   * Leaves the bare keys of settled webhook events that are older, and deletes keys that are older
   * than `keysBefore`, if that is given; answers how many events, `limit` of each at most.
   */
  forget(before: number, limit: number, keysBefore?: number): Promise<number>
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

/** The rows are not what is stored now: load them and decide again. */
export class StaleRows extends Error {
  override readonly name = 'StaleRows'
  readonly code = 'stale_rows'
}

/** Who asked for a call, for the audit trail. Missing: nobody did. */
export interface Asked {
  /** ULID, generated once for each call. */
  id: string
  /** The subject. */
  by: string
}

/** Which payment an event is about, as its driver reads it. */
export type EventIds = Partial<
  Pick<
    VerifiedWebhook,
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
  /** Masked. */
  payload: VerifiedWebhook
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
export function checkArrival({ payload: { amount, occurredAt } }: Arrival): void {
  if (!Number.isSafeInteger(amount)) throw new RangeError(`${amount} is not an amount`)
  if (!isTime(occurredAt)) throw new RangeError(`${occurredAt} is not a time`)
}

export interface Recorded {
  /**
   * `duplicate`: this event was recorded before, and nothing happened now. `ignored`: it is about a
   * payment of another installation.
   */
  outcome: Outcome | 'duplicate' | 'ignored'
  /** Paid with another amount or currency than was requested. */
  isMismatch: boolean
  /** Undefined while parked. */
  transactionId?: string
}

export interface CheckClaim {
  /** Ours. */
  transactionId: string
  now: number
  until: number
  asked?: Asked
}

export type CheckClaimed =
  | { state: 'claimed'; check: Check }
  /** Its gateway is being called to charge it, until then at the latest. */
  | { state: 'in_progress'; until: number }
  | { state: 'unknown_transaction' }
  /** Another installation began it, and this database is a copy. */
  | { state: 'foreign' }

/** One transaction to ask the gateway about. */
export interface Check {
  transaction: TransactionRow
  refunds: readonly RefundRow[]
  /** The one under way that is waited for. */
  refund?: RefundRow
}
