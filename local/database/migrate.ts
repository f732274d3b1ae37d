// Brings a database to the schema of this version: makes the tables of an empty one, runs the
// migrations that an older one has not seen. How far it came stands in the database, written in the
// transaction of what was done: after a crash, or with an answer lost, it goes on from there.

import type { Database } from '../../worker/payments/ledger/libsql/database-libsql.ts'
import { isTransient } from '../../worker/payments/ledger/libsql/request-libsql.ts'
import {
  mismatchOf,
  readSchemaState,
  type SchemaState,
} from '../../worker/payments/ledger/libsql/schema-version-libsql.ts'
import {
  type Row,
  type Statement,
  statement,
} from '../../worker/payments/ledger/libsql/statement-libsql.ts'
import { backoffMs, type Clock, pause } from '../../worker/shared/clock.ts'
import { requestHashes } from './request-hashes.ts'
import type { Scripts } from './scripts.ts'

/** The message is a sentence for the person at the terminal. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError'
  readonly code: 'schema_newer' | 'migration_running' | 'migration_failed'

  constructor(code: MigrationError['code'], sentence: string, options?: ErrorOptions) {
    super(sentence, options)
    this.code = code
  }
}

export interface Migrating {
  database: Database
  scripts: Scripts
  /** Shows a sentence before a migration, and now and then during a long one. */
  notice: (sentence: string) => void
  clock: Clock
  /** Missing: it is never aborted. */
  signal?: AbortSignal | undefined
}

/** An index over a large table takes some time, and no webhook waits for it. */
const STATEMENTS_WITHIN_MS = 60_000
const MAX_FAILURES = 5
const RETRY = { firstMs: 100, maxMs: 2_000 }
/** A line for each part would hide all else. */
const PARTS_A_NOTICE = 100

/** The schemas that it came from and to; from 0, the database was empty. Throws MigrationError. */
export async function migrate(migrating: Migrating): Promise<{ from: number; to: number }> {
  const { scripts, notice } = migrating
  const write = writerOf(migrating)
  const found = await patiently(migrating, () => readSchemaState(write))
  const to = scripts.version
  if (found.version > to || (found.version === to && found.step > 0)) {
    throw new MigrationError('schema_newer', mismatchOf(found, to) ?? '')
  }
  if (found.version > 0 && !found.hasRow) {
    await patiently(migrating, () => write(adoption(scripts)))
  }
  if (found.version > 0 && found.version < to) {
    notice(
      `The database has schema ${found.version} and is brought to schema ${to}. Until then its ` +
        'payments are not written: gateways send their webhooks again.',
    )
    if (!found.hasRow) {
      notice(
        'The Signalbox that made it does not know that and must not run now: ' +
          'docs/deploy.md says in which order to upgrade.',
      )
    }
    await upgrade(migrating, write, found)
  }
  // It also creates what is missing, such as an index that was dropped.
  const schema = scripts.schema.map((sql) => statement(sql))
  await patiently(migrating, () => write(schema))
  return { from: found.version, to }
}

type Write = (statements: readonly Statement[]) => Promise<Row[][]>

const writerOf =
  ({ database, signal }: Migrating): Write =>
  (statements) =>
    database.write(
      statements,
      AbortSignal.any([...(signal ? [signal] : []), AbortSignal.timeout(STATEMENTS_WITHIN_MS)]),
    )

/** Gives a database of schema 1 its number. */
function adoption({ schema }: Scripts): Statement[] {
  const table = schema.find((sql) => /^CREATE TABLE IF NOT EXISTS payment_schema\b/.test(sql))
  if (!table) throw new Error('schema.sql makes no payment_schema')
  const number = 'INSERT INTO payment_schema (one, version) VALUES (1, 1) ON CONFLICT DO NOTHING'
  return [statement(table), statement(number)]
}

/** The progress of a migration. */
type Position = Pick<SchemaState, 'version' | 'step' | 'passed'>

async function upgrade(migrating: Migrating, write: Write, from: Position): Promise<void> {
  const { scripts, notice } = migrating
  let at = from
  let parts = 0
  while (at.version < scripts.version) {
    let mayHaveMoved = false
    const go = async (): Promise<Position> => {
      // What was sent may have been done, and only its answer lost.
      if (mayHaveMoved) at = await readSchemaState(write)
      mayHaveMoved = true
      return at.version < scripts.version ? await advance(scripts, write, at) : at
    }
    const next = await patiently(migrating, go).catch((error: unknown) => {
      throw failed(at, error)
    })
    parts = next.step === at.step ? parts + 1 : 0
    at = next
    if (parts > 0 && parts % PARTS_A_NOTICE === 0) notice(`${parts} parts of it are done.`)
  }
}

/** Again after what may pass: `work` must be harmless a second time. */
async function patiently<Result>(
  { clock, signal }: Migrating,
  work: () => Promise<Result>,
): Promise<Result> {
  for (let failures = 1; ; failures++) {
    signal?.throwIfAborted()
    try {
      return await work()
    } catch (error) {
      if (!isTransient(error) || failures > MAX_FAILURES) throw error
      await pause(clock, backoffMs(failures, RETRY, clock.random()))
    }
  }
}

/** Does a step, or a part of one, and says where that leads. */
async function advance(scripts: Scripts, write: Write, at: Position): Promise<Position> {
  const { version } = at
  const steps = scripts.migrations[version - 1]?.steps ?? []
  const step = steps[at.step]
  if (!step) throw new Error(`the migration to schema ${version + 1} has no such step`)
  const isLast = at.step + 1 === steps.length
  const next: Position = isLast
    ? { version: version + 1, step: 0, passed: '' }
    : { version, step: at.step + 1, passed: '' }
  if (!step.parts) {
    const statements = await withoutColumnsThatAreThere(write, step.statements)
    await write([move(at, next), ...statements.map((sql) => statement(sql))])
    return next
  }
  const { table, rows } = step.parts
  const after = at.passed
  const page = `SELECT id FROM ${table} WHERE id > :after ORDER BY id LIMIT ${rows}`
  const [[last] = []] = await write([statement(`SELECT MAX(id) AS id FROM (${page})`, { after })])
  if (typeof last?.id !== 'string') {
    await write([move(at, next)])
    return next
  }
  const upto = last.id
  const needsHashes = step.statements.some((sql) => sql.includes(':request_hashes'))
  const args = {
    after,
    upto,
    ...(needsHashes && { request_hashes: await requestHashes(write, { after, upto }) }),
  }
  const passed = { ...at, passed: upto }
  await write([move(at, passed), ...step.statements.map((sql) => statement(sql, args))])
  return passed
}

/** Fails its transaction when another process has moved on meanwhile: `version` is NOT NULL. */
const move = (from: Position, to: Position): Statement =>
  statement(
    `UPDATE payment_schema SET step = :to_step, passed = :to_passed, version = CASE
      WHEN version = :version AND step = :step AND passed = :passed THEN :to_version END`,
    {
      ...from,
      to_version: to.version,
      to_step: to.step,
      to_passed: to.passed,
    },
  )

const ADDS = /^ALTER TABLE (\w+) ADD COLUMN (\w+)/

/** SQLite has no IF NOT EXISTS for a column, and schema.sql once made them without a number. */
async function withoutColumnsThatAreThere(
  write: Write,
  statements: readonly string[],
): Promise<string[]> {
  if (!statements.some((sql) => ADDS.test(sql))) return [...statements]
  const [columns = []] = await write([
    statement(`SELECT t.name || '.' || c.name AS name FROM sqlite_master t
      JOIN pragma_table_info(t.name) c WHERE t.type = 'table'`),
  ])
  const known = new Set(columns.map(({ name }) => name))
  return statements.filter((sql) => {
    const [, table, column] = ADDS.exec(sql) ?? []
    return column === undefined || !known.has(`${table}.${column}`)
  })
}

function failed({ version, step }: Position, cause: unknown): MigrationError {
  if (/payment_schema\.version/.test(String(cause))) {
    const why = 'Another process is upgrading this database: wait for it, then run this again.'
    return new MigrationError('migration_running', why, { cause })
  }
  const where = `step ${step + 1} of the migration to schema ${version + 1}`
  const again = 'What was done before stays, and the next run goes on from there.'
  return new MigrationError('migration_failed', `${where} failed: ${cause}. ${again}`, { cause })
}
