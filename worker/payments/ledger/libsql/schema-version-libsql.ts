// Which of the numbered schemas a database has: during an upgrade, two versions of this code can
// meet one database. That a ledger of another one writes nothing, its store sees to.

import { SCHEMA_VERSION } from '../../domain/rows.ts'
import { SchemaMismatch } from '../failures.ts'
import type { Database } from './database-libsql.ts'
import { type Row, type Statement, statement } from './statement-libsql.ts'

/** In a statement: the version; NULL while a migration is under way. */
export const SCHEMA = '(SELECT version FROM payment_schema WHERE step = 0)'

export interface SchemaState {
  /** 0: there are no tables. */
  version: number
  /** Steps of the next migration that are done; 0: none is under way. */
  step: number
  /** The last id that a step in parts has passed. */
  passed: string
}

type Run = (statements: readonly Statement[]) => Promise<Row[][]>

const NUMBERED = `SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'payment_schema'`

/** By reads, or by a write where a replica would answer with what was. */
export async function readSchemaState(run: Run): Promise<SchemaState> {
  const [[numbered] = []] = await run([statement(NUMBERED)])
  const [rows = []] = numbered
    ? await run([statement('SELECT version, step, passed FROM payment_schema')])
    : []
  const [{ version, step, passed } = { version: 0, step: 0, passed: '' }] = rows
  return { version: Number(version), step: Number(step), passed: String(passed) }
}

export interface Engine {
  isLibsql: boolean
  /** SQLite's, as it says. */
  version: string
}

/** Known by a function that no other engine has. */
const ENGINE = `SELECT sqlite_version() AS version,
  (SELECT count(*) FROM pragma_function_list WHERE name = 'libsql_vector_idx') AS libsql`

/** Which engine answers. Rejects where it does not know the question. */
export async function readEngine(run: Run): Promise<Engine> {
  const [[row] = []] = await run([statement(ENGINE)])
  return { isLibsql: Number(row?.libsql) > 0, version: String(row?.version) }
}

/** Why a failure may have come of the schema. Undefined: the schema is right, or not known. */
export async function schemaMismatch({ read }: Pick<Database, 'read'>, cause: unknown) {
  const state = await readSchemaState(read).catch(() => undefined)
  const sentence = state && mismatchOf(state, SCHEMA_VERSION)
  return sentence === undefined ? undefined : new SchemaMismatch(sentence, { cause })
}

/** A sentence that says what is wrong and what helps. Undefined: nothing is. */
export function mismatchOf(
  { version, step }: Omit<SchemaState, 'passed'>,
  expected: number,
): string | undefined {
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
