// Which of the numbered schemas a database has: during an upgrade, two versions of this code can
// meet one database. That a ledger of another one writes nothing, its store sees to.

import { SchemaMismatch } from '../ledger.ts'
import type { Database } from './http-libsql.ts'
import { type Row, type Statement, statement } from './statement-libsql.ts'

/** What this code reads and writes: schema.sql, and the highest number in migrations/. */
export const SCHEMA_VERSION = 3

export interface SchemaState {
  /** 0: there are no tables. */
  version: number
  /** Steps of the next migration that are done; 0: none is under way. */
  step: number
  /** The last id that a step in parts has passed. */
  passed: string
  /** Made before 0.1.0, whose schema has number 1 again. */
  isEarlier: boolean
}

type Run = (statements: readonly Statement[]) => Promise<Row[][]>

const TABLES = `SELECT name FROM sqlite_master WHERE type = 'table'
  AND name IN ('payment_schema', 'payment_transactions')
  UNION SELECT name FROM pragma_table_info('payment_ledger') WHERE name = 'epoch'`

/** By reads, or by a write where a replica would answer with what was. */
export async function readSchemaState(run: Run): Promise<SchemaState> {
  const [tables = []] = await run([statement(TABLES)])
  const has = (found: string) => tables.some(({ name }) => name === found)
  const [rows = []] = has('payment_schema')
    ? await run([statement('SELECT version, step, passed FROM payment_schema')])
    : []
  const [{ version, step, passed } = { version: 0, step: 0, passed: '' }] = rows
  // Before 0.1.0 the ledger had an epoch, and the first databases had no number.
  const isEarlier = has('epoch') || (rows.length === 0 && has('payment_transactions'))
  return { version: Number(version), step: Number(step), passed: String(passed), isEarlier }
}

/** Why a failure may have come of the schema. Undefined: the schema is right, or not known. */
export async function schemaMismatch({ read }: Pick<Database, 'read'>, cause: unknown) {
  const state = await readSchemaState(read).catch(() => undefined)
  const sentence = state && mismatchOf(state, SCHEMA_VERSION)
  return sentence === undefined ? undefined : new SchemaMismatch(sentence, { cause })
}

const EARLIER =
  'The database of payments was made before Signalbox 0.1.0, and this version cannot upgrade it: ' +
  'keep it for reading, and start with a new one.'

/** A sentence that says what is wrong and what helps. Undefined: nothing is. */
export function mismatchOf(
  { version, step, isEarlier }: Omit<SchemaState, 'passed'>,
  expected: number,
): string | undefined {
  if (isEarlier) return EARLIER
  const its = `The database of payments has schema ${version}`
  if (version === 0 && step === 0)
    return 'The database of payments has no tables: run signalbox migrate.'
  if (version > expected || (version === expected && step > 0)) {
    const newer = step > 0 ? `${its} and is being upgraded` : its
    return `${newer}, and this version of Signalbox knows schema ${expected}: it is too old.`
  }
  if (step > 0) {
    return `${its} and is being upgraded: when no signalbox migrate is running, run it again.`
  }
  if (version === expected) return undefined
  return `${its}, and this version of Signalbox needs schema ${expected}: run signalbox migrate.`
}
