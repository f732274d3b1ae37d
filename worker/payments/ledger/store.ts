// The port of the storage for the ledger's rows. It knows no rule of money.

import type { Keys } from './operation.ts'
import type { ParkedEvent } from './webhook-operations.ts'
import type { WorkingSet } from './working-set.ts'

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
