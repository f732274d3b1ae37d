// The ledger's store on libSQL. Every save is a compare-and-swap on the one row of payment_ledger:
// a save that is late, comes twice, or is another ledger's, stores nothing at all.
//
// Changed rows are saved by one INSERT a table, and one UPDATE for each set of columns that changed
// together. It names only those: every index over a named column is written again, also with the
// same value. And a value that this code cannot read stays as it is.

import type { Key, WorkingSet } from '../../acts/act.ts'
import { fold } from '../../domain/fold.ts'
import {
  type NoteRow,
  SCHEMA_VERSION,
  TABLE_NAMES,
  TABLES,
  type TableName,
  type TableRow,
  type TransactionRow,
} from '../../domain/rows.ts'
import type { Metadata } from '../../domain/types.ts'
import { LedgerRefused, SchemaMismatch, StaleRows } from '../failures.ts'
import { type Database, isTransient, reachable } from './database-libsql.ts'
import { Installation, PAUSE, pauseAs, pauseIn, readInstallation } from './ledger-row-libsql.ts'
import { loadOf } from './load-libsql.ts'
import { SCHEMA, schemaMismatch } from './schema-version-libsql.ts'
import { type Row, type Statement, statement, storable } from './statement-libsql.ts'

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
     * Leaves the bare keys of settled webhook events that are older, so that none is applied twice,
     * and deletes keys of before `keysBefore`. Answers how many events, `limit` of each at most.
     */
    async dropOldEvents(before: number, limit: number, keysBefore?: number): Promise<number> {
      const statements = [
        statement(KEEP_KEYS, { before, limit }),
        statement(DROP, { before, limit }),
        ...(keysBefore === undefined ? [] : [statement(DROP_KEYS, { keysBefore, limit })]),
      ]
      const signal = AbortSignal.timeout(DROP_WITHIN_MS)
      const [, rows = []] = await reachable(database.write(statements, signal))
      return rows.length
    },
  }
}

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

/**
 * In the order in which rows refer to each other; empty where nothing changed. Updates come first:
 * a new row may take over a name that must be unique, from a row that gives it up.
 */
const saveOf = (rows: WorkingSet): Statement[] => [
  ...(rows.isPauseChanged ? [pauseAs(rows.pause)] : []),
  ...TABLE_NAMES.flatMap((name) => {
    const { inserted, updated } = rows.changesOf(name)
    return [...updatesOf(name, updated), ...insertOf(name, inserted)]
  }),
  ...insertTexts(rows.changesOf('transactions').inserted),
  ...addTexts(rows.changesOf('notes').inserted),
]

/**
 * For a statement that takes `:rows`, a JSON array of arrays: each of them as `v` of `rows`.
 * Materialized, since json_each writes a row's JSON anew for each value that is read of it: of 20
 * columns, three times the work.
 */
const WITH_ROWS = 'WITH rows(v) AS MATERIALIZED (SELECT value FROM json_each(:rows))'

/** Inserts the values of `:rows`. With a WHERE, so that ON CONFLICT may follow. */
export const insertRows = (table: string, columns: readonly string[]): string =>
  `${WITH_ROWS} INSERT INTO ${table} (${columns.join(', ')})
    SELECT ${columns.map((_, at) => `v ->> ${at}`).join(', ')} FROM rows WHERE true`

function insertOf(name: TableName, rows: readonly TableRow[]): Statement[] {
  if (rows.length === 0) return []
  const { name: table, names: columns }: { name: string; names: readonly string[] } = TABLES[name]
  // A call that is repeated has asked once.
  const isOnce = name === 'audit' || name === 'notes'
  const again = isOnce ? ' ON CONFLICT (id) DO NOTHING' : ''
  return [statement(insertRows(table, columns) + again, { rows: toJson(rows, columns) })]
}

function updatesOf(
  name: TableName,
  updated: readonly { before: TableRow; after: TableRow }[],
): Statement[] {
  const together = new Map<string, TableRow[]>()
  for (const { before, after } of updated) {
    const changed = TABLES[name].names.filter(
      (column) => valueIn(before, column) !== valueIn(after, column),
    )
    if (changed.length === 0) continue
    const key = changed.join()
    together.set(key, [...(together.get(key) ?? []), after])
  }
  return [...together].map(([key, rows]) => {
    const columns = key.split(',')
    const values = columns.map((column, at) => `${column} = v ->> ${at + 1}`)
    const sql = `${WITH_ROWS} UPDATE ${TABLES[name].name} SET ${values.join(', ')}
      FROM rows WHERE id = v ->> 0`
    return statement(sql, { rows: toJson(rows, ['id', ...columns]) })
  })
}

const valueIn = (row: TableRow, column: string): unknown =>
  (row as unknown as Record<string, unknown>)[column]

/** A save that cannot be stored is refused whole, and what causes that then fails alone. */
const toJson = (rows: readonly TableRow[], columns: readonly string[]): string =>
  JSON.stringify(rows.map((row) => columns.map((column) => storable(column, valueIn(row, column)))))

/** What a payment is found by: a row beside each. */
const INSERT_TEXTS = `${WITH_ROWS} REPLACE INTO payment_search (n, text) SELECT t.rowid, v ->> 1
  FROM rows CROSS JOIN payment_transactions t WHERE t.id = v ->> 0`

const insertTexts = (rows: readonly TransactionRow[]): Statement[] =>
  rows.length === 0 ? [] : [statement(INSERT_TEXTS, { rows: textsOf(rows) })]

/** A note is a further line of what its payment is found by; the same line is not needed twice. */
const ADD_TEXT = `${WITH_ROWS} UPDATE payment_search SET text = text || (v ->> 1)
  FROM rows CROSS JOIN payment_transactions t
  WHERE t.id = v ->> 0 AND n = t.rowid AND instr(text, char(10) || (v ->> 1)) = 0`

const addTexts = (notes: readonly NoteRow[]): Statement[] =>
  notes.map(({ transaction_id, text }) =>
    statement(ADD_TEXT, { rows: JSON.stringify([[transaction_id, `${fold(text)}\n`]]) }),
  )

type Named = Pick<TransactionRow, 'reference' | 'description' | 'metadata'>
export type Searched = Named & Pick<TransactionRow, 'id'>

/** As JSON: the id and the text of each. A row that cannot be read is found by its reference. */
export const textsOf = (rows: readonly Searched[]): string =>
  JSON.stringify(rows.map((row) => [row.id, textOf(row)]))

function textOf(row: Searched): string {
  try {
    return searchText(row)
  } catch {
    return searchText({ ...row, metadata: null })
  }
}

/**
 * Everything of a payment that is found by any part of it: a line each, the reference first. No
 * folded text has a line break.
 */
export function searchText({ reference, description, metadata }: Named): string {
  const values = Object.values((JSON.parse(metadata ?? '{}') as Metadata | null) ?? {})
  const texts = values.filter((value) => typeof value === 'string' || typeof value === 'number')
  const named = [reference, description ?? '', ...texts.map(String)]
  return `\n${named.map(fold).join('\n')}\n`
}

/** As long as the group commit gives one of its groups. */
const DROP_WITHIN_MS = 6_000

/** A parked event may be a payer's money: it stays until its payment appears. */
const OLD = `FROM payment_webhook_events WHERE received_at < :before AND outcome <> 'parked'
  AND ${SCHEMA} = ${SCHEMA_VERSION} ORDER BY received_at, id LIMIT :limit`

const KEEP_KEYS = `INSERT INTO payment_event_keys (gateway, event_id, received_at)
  SELECT gateway, event_id, received_at ${OLD}`

const DROP = `DELETE FROM payment_webhook_events WHERE id IN (SELECT id ${OLD}) RETURNING id`

/** They came in the order of their age: without an index, and without reading all of them. */
const DROP_KEYS = `DELETE FROM payment_event_keys WHERE received_at < :keysBefore
  AND ${SCHEMA} = ${SCHEMA_VERSION}
  AND rowid IN (SELECT rowid FROM payment_event_keys ORDER BY rowid LIMIT :limit)`
