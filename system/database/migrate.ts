// Brings a database to the schema of this version: makes the tables of an empty one, runs the
// migrations that an older one has not seen. How far it came stands in the database, written in the
// transaction of what was done: after a crash, or with an answer lost, it goes on from there.

import { type Database, isTransient } from '../../worker/payments/ledger/libsql/database-libsql.ts'
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
import { type Searched, textsOf } from '../../worker/payments/ledger/libsql/store-libsql.ts'
import { backoffMs, type Clock, hostClock, pause } from '../../worker/shared/clock.ts'
import { StartError } from '../start-error.ts'
import { readScripts, type Scripts } from './migration-scripts.ts'

/** docs/remedies.md says what to do for each. */
export const MIGRATION_ERRORS = ['schema_newer', 'migration_running', 'migration_failed'] as const

/** The message is a sentence for the person at the terminal. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError'
  readonly code: (typeof MIGRATION_ERRORS)[number]

  constructor(code: MigrationError['code'], sentence: string, options?: ErrorOptions) {
    super(sentence, options)
    this.code = code
  }
}

export interface Migrating {
  database: Database
  scripts: Scripts
  /** Shows a sentence before a migration, at each of its steps, and after it. */
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
  const { scripts } = migrating
  const write = writerOf(migrating)
  const found = await retryWhileLocked(migrating, () => readSchemaState(write))
  const to = scripts.version
  if (found.version > to || (found.version === to && found.step > 0)) {
    throw new MigrationError('schema_newer', mismatchOf(found, to) ?? '')
  }
  const isUpgrade = found.version > 0 && found.version < to
  const ended = isUpgrade ? await beginning(migrating, found) : undefined
  if (isUpgrade) await upgrade(migrating, write, found)
  // It also creates what is missing, such as an index that was dropped.
  const schema = scripts.schema.map((sql) => statement(sql))
  await retryWhileLocked(migrating, () => write(schema))
  await ended?.()
  return { from: found.version, to }
}

/** Shows how much there is to do. What it returns shows, at the end, what it took. */
async function beginning({ scripts, notice, clock, database }: Migrating, from: Position) {
  const [bytes, startedAt] = [await sizeOf(database), clock.elapsed()]
  const to = scripts.version
  const disk = bytes === undefined ? '' : ` It has ${mib(bytes)}, and may take half as much again.`
  notice(
    `The database has schema ${from.version} and is brought to schema ${to}, in ` +
      `${stepsLeft(scripts, from)} steps. Until then its payments are not written: gateways send ` +
      `their webhooks again.${disk}`,
  )
  return async () => {
    const took = `${((clock.elapsed() - startedAt) / 1_000).toFixed(1)} s`
    const after = await sizeOf(database)
    const isKnown = bytes !== undefined && after !== undefined
    const size = isKnown ? ` and took ${mib(Math.max(after - bytes, 0))} of disk` : ''
    notice(`The database has schema ${to} now. That was done in ${took}${size}.`)
  }
}

const SIZE = `SELECT page_count * page_size AS bytes
  FROM pragma_page_count() CROSS JOIN pragma_page_size()`

/** Undefined: a server does not say. */
async function sizeOf({ read }: Pick<Database, 'read'>): Promise<number | undefined> {
  const [[row] = []] = await read([statement(SIZE)]).catch(() => [])
  return row && Number(row.bytes)
}

const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`

const stepsOf = ({ migrations }: Scripts, version: number) =>
  migrations.find(({ to }) => to === version + 1)?.steps ?? []

/** How many are not done, from there to the last schema. */
function stepsLeft(
  scripts: Scripts,
  { version, step }: Pick<Position, 'version' | 'step'>,
): number {
  let left = -step
  for (let at = version; at < scripts.version; at++) left += stepsOf(scripts, at).length
  return left
}

type Write = (statements: readonly Statement[]) => Promise<Row[][]>

const writerOf =
  ({ database, signal }: Migrating): Write =>
  (statements) =>
    database.write(
      statements,
      AbortSignal.any([...(signal ? [signal] : []), AbortSignal.timeout(STATEMENTS_WITHIN_MS)]),
    )

/** The progress of a migration. */
type Position = Pick<SchemaState, 'version' | 'step' | 'passed'>

async function upgrade(migrating: Migrating, write: Write, from: Position): Promise<void> {
  const { scripts, notice } = migrating
  const all = stepsLeft(scripts, from)
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
    const next = await retryWhileLocked(migrating, go).catch((error: unknown) => {
      throw failed(at, error)
    })
    const isStepDone = next.step !== at.step || next.version !== at.version
    parts = isStepDone ? 0 : parts + 1
    at = next
    const done = all - stepsLeft(scripts, at)
    if (isStepDone) notice(`Step ${done} of ${all} is done.`)
    else if (parts % PARTS_A_NOTICE === 0) {
      notice(`Step ${done + 1} of ${all}: ${parts} parts are done.`)
    }
  }
}

/** Again after what may pass: `work` must be harmless a second time. */
async function retryWhileLocked<Result>(
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

/** Does a step, or a part of one, and returns the position after it. */
async function advance(scripts: Scripts, write: Write, at: Position): Promise<Position> {
  const { version } = at
  const steps = stepsOf(scripts, version)
  const step = steps[at.step]
  if (!step) throw new Error('this version of Signalbox does not have it')
  const isLast = at.step + 1 === steps.length
  const next: Position = isLast
    ? { version: version + 1, step: 0, passed: '' }
    : { version, step: at.step + 1, passed: '' }
  if (!step.parts) {
    await write([move(at, next), ...step.statements.map((sql) => statement(sql))])
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
  const passed = { ...at, passed: upto }
  // Only code can fold a text.
  const isSearch = step.statements.some((sql) => sql.includes(':texts'))
  const [searched = []] = isSearch ? await write([statement(SEARCHED, { after, upto })]) : []
  const texts = textsOf(searched as unknown as Searched[])
  const work = step.statements.map((sql) => statement(sql, { after, upto, texts }))
  await write([move(at, passed), ...work])
  return passed
}

/** What the texts are made of by which payments are found. */
const SEARCHED = `SELECT id, reference, description, metadata FROM payment_transactions
  WHERE id > :after AND id <= :upto ORDER BY id`

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

function failed({ version, step }: Position, cause: unknown): MigrationError {
  if (/payment_schema\.version/.test(String(cause))) {
    const why = 'Another process is upgrading this database: wait for it, then run this again.'
    return new MigrationError('migration_running', why, { cause })
  }
  const where = `step ${step + 1} of the migration to schema ${version + 1}`
  const again = 'What was done before stays, and the next run goes on from there.'
  return new MigrationError('migration_failed', `${where} failed: ${cause}. ${again}`, { cause })
}

export interface Preparing {
  /** Shows a sentence to the person at the terminal. */
  notice?: (sentence: string) => void
  signal?: AbortSignal
}

/**
 * Brings a database of this machine to the schema of this version, before anything else uses it.
 * `isNew`: it was empty. Throws StartError.
 */
export async function prepareSchema(
  database: Database,
  { notice = () => undefined, signal }: Preparing = {},
): Promise<{ isNew: boolean }> {
  const scripts = await readScripts()
  try {
    const { from } = await migrate({ database, scripts, notice, clock: hostClock, signal })
    return { isNew: from === 0 }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    const sentence =
      cause instanceof MigrationError ? why : `The database refused its schema: ${why}.`
    throw new StartError('bad_configuration', sentence, { cause })
  }
}
