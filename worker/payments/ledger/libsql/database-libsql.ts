// libSQL over HTTP: statements as one transaction in one request.

import { createClient } from '@libsql/client/web'
import {
  type BoundStatement,
  type Connection,
  ConnectionGone,
  openConnection,
  type Place,
  type TransactionMode,
} from './connection-libsql.ts'
import { fetchUntil } from './request-libsql.ts'

export type Value = string | number | boolean | null

export interface Statement {
  sql: string
  args: Readonly<Record<string, Value>>
}

/** Columns by name. */
export type Row = Readonly<Record<string, string | number | null>>

export interface Database {
  /** Runs the statements as one transaction; the rows of each. */
  write(statements: readonly Statement[], signal: AbortSignal): Promise<Row[][]>
  /**
   * The same for statements that only read, by the connection of the writes: opening one costs the
   * server more than a small load does.
   */
  load(statements: readonly Statement[], signal: AbortSignal): Promise<Row[][]>
  /** Only reads, beside whatever is being written. */
  read(statements: readonly Statement[]): Promise<Row[][]>
  /** Resolves when what has arrived is in, where a group would otherwise begin without it. */
  gather?(): Promise<void>
}

/** Reads wait for no writer, so one that takes this long has lost its answer. */
const READ_DEADLINE_MS = 6_000

/** The server forgets a connection that nobody used for 10 s, and an answer takes its time. */
const KEPT_FOR_MS = 5_000

/** `now` in ms. */
export function libsqlDatabase(place: Place, now: () => number): Database {
  let kept: { connection: Connection; usedAt: number } | undefined

  /** Nobody else has it meanwhile: another write at the same time gets one of its own. */
  function take(): Connection | undefined {
    const taken = kept
    kept = undefined
    return taken && now() - taken.usedAt < KEPT_FOR_MS ? taken.connection : undefined
  }

  async function runBy(
    connection: Connection,
    statements: readonly BoundStatement[],
    mode: TransactionMode,
    signal: AbortSignal,
  ): Promise<Row[][]> {
    try {
      const results = await connection.run(statements, mode, signal)
      return results.map(({ rows }) => toRows(rows))
    } finally {
      if (!connection.isClosed) kept = { connection, usedAt: now() }
    }
  }

  async function run(
    statements: readonly Statement[],
    mode: TransactionMode,
    signal: AbortSignal,
  ): Promise<Row[][]> {
    const bound = statements.map(bind)
    const connection = take()
    try {
      if (connection) return await runBy(connection, bound, mode, signal)
    } catch (error) {
      if (!(error instanceof ConnectionGone)) throw error
    }
    return await runBy(openConnection(place), bound, mode, signal)
  }

  return {
    write: (statements, signal) => run(statements, 'write', signal),
    load: (statements, signal) => run(statements, 'read', signal),
    // Each by a connection of its own: in a Worker no request may use what another has opened.
    async read(statements) {
      const deadline = AbortSignal.timeout(READ_DEADLINE_MS)
      const client = createClient({ ...place, fetch: fetchUntil(deadline), intMode: 'bigint' })
      const results = await client.batch(statements.map(bind), 'read')
      return results.map(({ rows }) => toRows(rows))
    },
  }
}

/**
 * A statement with those of `args` that it names. A name without a value would silently be NULL, so
 * it throws.
 */
export function statement(sql: string, args: Readonly<Record<string, Value>> = {}): Statement {
  const named: Record<string, Value> = {}
  for (const name of namesIn(sql)) {
    const value = args[name]
    if (value === undefined) throw new Error(`no value for :${name} in ${sql}`)
    named[name] = value
  }
  return { sql, args: named }
}

const NAMES = new Map<string, readonly string[]>()

function namesIn(sql: string): readonly string[] {
  let names = NAMES.get(sql)
  if (!names) {
    names = [...new Set([...sql.matchAll(/:([a-z]\w*)/g)].map(([, name = '']) => name))]
    NAMES.set(sql, names)
  }
  return names
}

/**
 * For a whole number past 2^53 the client would throw, and take all that was read with it. As text
 * it fails only whoever reads it for a number.
 */
export function toRows(read: readonly object[]): Row[] {
  const rows = read as Record<string, Row[string] | bigint>[]
  for (const row of rows) {
    for (const [name, value] of Object.entries(row)) {
      if (typeof value === 'bigint') row[name] = isSafe(value) ? Number(value) : String(value)
    }
  }
  return rows as Row[]
}

const isSafe = (value: bigint): boolean => Number.isSafeInteger(Number(value))

/**
 * The client sends every number as a float; only a bigint arrives as an integer. Half a surrogate
 * pair has no UTF-8: for one of them the server refuses the whole batch, whoever else is in it.
 */
export function bind({ sql, args }: Statement): BoundStatement {
  const values = Object.fromEntries(
    Object.entries(args).map(([name, value]) => {
      if (typeof value === 'string') return [name, value.toWellFormed()]
      if (!Number.isInteger(value)) return [name, value]
      // It would be stored, and then throw whenever it is read: the row could never be used again.
      if (!Number.isSafeInteger(value)) throw new RangeError(`:${name} is past 2^53 - 1`)
      return [name, BigInt(value as number)]
    }),
  )
  return { sql, args: values }
}
