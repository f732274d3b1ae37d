// What calls of the ledger take and answer, and how it fails. `operations.ts` has the calls.

import { PaymentFailure } from '../domain/exceptions.ts'
import type { DisputeRow, RefundRow, TransactionRow } from '../domain/rows.ts'
import type { Outcome } from '../domain/status.ts'
import { isTime } from '../domain/time.ts'
import type { VerifiedWebhook } from '../domain/types.ts'

/** The database could not be reached for longer than a caller waits. */
export class LedgerUnavailable extends PaymentFailure {
  override readonly name: string = 'LedgerUnavailable'
  readonly code = 'ledger_unavailable'

  /** `why`: for the log. */
  constructor(
    why: string,
    options: { cause?: unknown; transactionId?: string } = {},
    sentence = 'The database of payments cannot be reached.',
  ) {
    const cause = options.cause === undefined ? why : `${why}: ${options.cause}`
    super(sentence, { ...options, cause })
  }
}

/** The database answers, and not us: with another token or address it would. Nothing was done. */
export class LedgerRefused extends LedgerUnavailable {
  override readonly name = 'LedgerRefused'

  /** `why`: a clause. */
  constructor(why: string) {
    super(why, {}, `The database of payments refuses this host: ${why}.`)
  }
}

/** The database has another schema than this version of the code; nothing was written. */
export class SchemaMismatch extends PaymentFailure {
  override readonly name = 'SchemaMismatch'
  readonly code = 'schema_mismatch'

  override get why(): unknown {
    return this.message
  }
}

/** It is not the database that it was, or is to be; nothing was written. */
export class OtherDatabase extends PaymentFailure {
  override readonly name = 'OtherDatabase'
  readonly code = 'other_database'
  readonly #why: string

  /** `why`: a clause. */
  constructor(why: string) {
    super(`The database of payments is another one: ${why}.`)
    this.#why = why
  }

  override get why(): string {
    return this.#why
  }
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

/** While payments are paused, nothing new is begun; what was begun is settled. */
export interface Pause {
  /** ms */
  since: number
  /** The subject that asked for it. */
  by: string
}

/** It would have been begun now. `transactionId`: of the payment that it is about. */
export interface Paused {
  state: 'paused'
  transactionId?: string
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
  disputes: readonly DisputeRow[]
  /** The one under way that is waited for. */
  refund?: RefundRow
  /** Payments are paused: a charge that was never sent is not sent now. */
  isPaused?: true
}
