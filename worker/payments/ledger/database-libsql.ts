// libSQL over HTTP: statements as one transaction in one request, and which errors are worth
// another try.

import { createClient, LibsqlError } from '@libsql/client/web'

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
  /** The same for statements that only read. */
  read(statements: readonly Statement[]): Promise<Row[][]>
}

/** Nobody answered, or not as a database does: whether anything was written is unknown. */
export class DatabaseUnreachable extends Error {
  override readonly name = 'DatabaseUnreachable'
  readonly code = 'database_unreachable'
}

/** Reads wait for no writer, so one that takes this long has lost its answer. */
const READ_DEADLINE_MS = 6_000

export function libsqlDatabase(place: { url: string; authToken?: string }): Database {
  const run = async (
    statements: readonly Statement[],
    mode: 'read' | 'write',
    signal: AbortSignal,
  ): Promise<Row[][]> => {
    // A client holds no connection, so one for each call costs nothing and has a signal of its own.
    const client = createClient({ ...place, fetch: fetchUntil(signal) })
    const prepared = statements.map(({ sql, args }) => ({ sql, args: encode(args) }))
    const results = await client.batch(prepared, mode)
    return results.map(({ rows }) => rows as unknown as Row[])
  }
  return {
    write: (statements, signal) => run(statements, 'write', signal),
    read: (statements) => run(statements, 'read', AbortSignal.timeout(READ_DEADLINE_MS)),
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
 * Errors that the same statements need not meet again. Over HTTP there is no extended code, and an
 * error of the disk is the server's, not the payload's.
 */
export function isTransient(error: unknown): boolean {
  // No JSON comes from something in between, which answers while the server does not.
  if (error instanceof DatabaseUnreachable || error instanceof SyntaxError) return true
  if (!(error instanceof LibsqlError)) return false
  return (
    /^(SQLITE_(BUSY|LOCKED|IOERR|FULL|CANTOPEN|PROTOCOL)|TRANSACTION_|STREAM_|HRANA_)/.test(
      error.code,
    ) || /database (table )?is locked/.test(error.message)
  )
}

/**
 * The client sends every number as a float; only a bigint arrives as an integer. Half a surrogate
 * pair has no UTF-8: for one of them the server refuses the whole batch, whoever else is in it.
 */
function encode(args: Readonly<Record<string, Value>>): Record<string, Value | bigint> {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => {
      if (typeof value === 'string') return [name, value.toWellFormed()]
      if (!Number.isInteger(value)) return [name, value]
      // It would be stored, and then throw whenever it is read: the row could never be used again.
      if (!Number.isSafeInteger(value)) throw new RangeError(`:${name} is past 2^53 - 1`)
      return [name, BigInt(value as number)]
    }),
  )
}

/** Reads the body as well, so that all that the network can do to a call happens in here. */
function fetchUntil(signal: AbortSignal): (request: Request) => Promise<Response> {
  return async (request) => {
    try {
      const response = await fetch(request, { signal })
      const body = await response.text()
      const { status, headers } = response
      if (status >= 500 || status === 408 || status === 429) {
        throw new DatabaseUnreachable(`it answered ${status}`)
      }
      return new Response(body, {
        status,
        headers: { 'content-type': headers.get('content-type') ?? '' },
      })
    } catch (cause) {
      if (cause instanceof DatabaseUnreachable) throw cause
      throw new DatabaseUnreachable('the database did not answer', { cause })
    }
  }
}
