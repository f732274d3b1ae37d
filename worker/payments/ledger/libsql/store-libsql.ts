// The ledger's store on libSQL. Every save is a compare-and-swap on the one row of payment_ledger:
// a save that is late, comes twice, or is another ledger's, stores nothing at all.

import type { Key, WorkingSet } from '../../acts/act.ts'
import { SCHEMA_VERSION } from '../../domain/rows.ts'
import { LedgerRefused, SchemaMismatch, StaleRows } from '../failures.ts'
import { type Database, isTransient, reachable } from './database-libsql.ts'
import { Installation, PAUSE, pauseIn, readInstallation } from './ledger-row-libsql.ts'
import { loadOf } from './load-libsql.ts'
import { saveOf } from './save-libsql.ts'
import { schemaMismatch } from './schema-version-libsql.ts'
import { type Row, type Statement, statement } from './statement-libsql.ts'

/** NULL while a migration is under way. */
const SCHEMA = '(SELECT version FROM payment_schema WHERE step = 0)'

const POSITION = statement(
  `SELECT batch, installation, ${PAUSE}, ${SCHEMA} AS schema FROM payment_ledger`,
)

/**
 * First of a save, which raises the number of saves and leaves the rest of its row. `batch` may not
 * be NULL: if `condition` is not true, on another schema, or if the row is missing, the statement
 * fails, and with it all of the transaction. So a ledger stops with the first step of a migration,
 * however long it has been awake.
 */
export const advance = (condition: string): string => `REPLACE INTO payment_ledger
  (one, batch, installation, ${PAUSE}) VALUES (1,
  (SELECT batch + 1 FROM payment_ledger WHERE ${condition} AND ${SCHEMA} = ${SCHEMA_VERSION}),
  (SELECT installation FROM payment_ledger), (SELECT paused_at FROM payment_ledger),
  (SELECT paused_by FROM payment_ledger))`

/** Fails on another number than was loaded. */
const ADVANCE = advance('batch = :batch')

export interface Loaded {
  rows: WorkingSet
  /** The number of saves until then. It only rises. */
  batch: number
}

export type Store = ReturnType<typeof libsqlStore>

/** `own`: the one that the database is to be. */
export function libsqlStore(database: Database, own = new Installation()) {
  /** A database without tables may be the wrong one, and then no migration helps. */
  const refuseOther = async (error: unknown): Promise<never> => {
    if (error instanceof SchemaMismatch && own.expected !== undefined) {
      own.compare(await readInstallation(database.read))
    }
    throw error
  }
  return {
    /** True if a retry may succeed. */
    isTransient,
    /**
     * The rows of these keys, and the number of saves. Rejects with SchemaMismatch, OtherDatabase.
     */
    async load(keys: readonly Key[], signal: AbortSignal): Promise<Loaded> {
      const { statements, read } = loadOf(keys)
      const [positions, ...results] = await loadRows(
        database,
        [POSITION, ...statements],
        signal,
      ).catch(refuseOther)
      const { batch, ...stored } = await positionIn(database, positions).catch(refuseOther)
      own.compare({ is: 'made', id: stored.installation })
      return { batch, rows: read(results, stored) }
    },
    /**
     * Stores all that changed in the loaded rows, or nothing. Rejects with StaleRows, and stores
     * nothing, when anybody has saved since they were loaded.
     */
    async save({ rows, batch }: Loaded, signal: AbortSignal): Promise<void> {
      try {
        await database.write([statement(ADVANCE, { batch }), ...saveOf(rows)], signal)
      } catch (cause) {
        if (!isRefusal(cause)) throw cause
        throw new StaleRows('the rows are not what is stored now', { cause })
      }
    },
    /**
     * Leaves the bare keys of settled webhook events that are older, and deletes keys of before
     * `keysBefore`; answers how many events, `limit` of each at most.
     */
    async forget(before: number, limit: number, keysBefore?: number): Promise<number> {
      const signal = AbortSignal.timeout(FORGET_WITHIN_MS)
      const statements = [
        statement(KEEP_KEYS, { before, limit }),
        statement(FORGET, { before, limit }),
        ...(keysBefore === undefined ? [] : [statement(FORGET_KEYS, { keysBefore, limit })]),
      ]
      const [, rows = []] = await reachable(database.write(statements, signal))
      return rows.length
    },
  }
}

/** As long as the group commit gives one of its groups. */
const FORGET_WITHIN_MS = 6_000

/** A parked event may be a payer's money: it stays until its payment appears. */
const OLD = `FROM payment_webhook_events WHERE received_at < :before AND outcome <> 'parked'
  AND ${SCHEMA} = ${SCHEMA_VERSION} ORDER BY received_at, id LIMIT :limit`

const KEEP_KEYS = `INSERT INTO payment_event_keys (gateway, event_id, received_at)
  SELECT gateway, event_id, received_at ${OLD}`

const FORGET = `DELETE FROM payment_webhook_events WHERE id IN (SELECT id ${OLD}) RETURNING id`

/** They came in the order of their age: without an index, and without reading all of them. */
const FORGET_KEYS = `DELETE FROM payment_event_keys WHERE received_at < :keysBefore
  AND ${SCHEMA} = ${SCHEMA_VERSION}
  AND rowid IN (SELECT rowid FROM payment_event_keys ORDER BY rowid LIMIT :limit)`

async function loadRows(
  database: Database,
  statements: readonly Statement[],
  signal: AbortSignal,
): Promise<Row[][]> {
  try {
    return await database.load(statements, signal)
  } catch (error) {
    if (isTransient(error) || error instanceof LedgerRefused) throw error
    throw (await schemaMismatch(database, error)) ?? withoutLedger(error)
  }
}

async function positionIn(database: Database, [row]: readonly Row[] = []) {
  if (row?.schema === SCHEMA_VERSION) {
    const { batch, installation } = row
    return { batch: Number(batch), installation: String(installation), pause: pauseIn(row) }
  }
  throw (await schemaMismatch(database, undefined)) ?? new SchemaMismatch(LACKS_LEDGER)
}

const LACKS_LEDGER = 'The database lacks payment_ledger or its row: run signalbox migrate.'

const withoutLedger = (cause: unknown): unknown =>
  /no such table: payment_ledger/.test(String(cause))
    ? new SchemaMismatch(LACKS_LEDGER, { cause })
    : cause

const isRefusal = (error: unknown): boolean => /payment_ledger\.batch/.test(String(error))
