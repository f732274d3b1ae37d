// libSQL over HTTP: statements as one transaction in one request, over a connection that is kept
// from one write to the next. Opening one costs the server more than a small batch does, since it
// reads the schema and every page again. @libsql/client opens one for each batch, so this uses the
// library below it.

import { createClient, LibsqlError } from '@libsql/client/web'
import {
  BatchCond,
  ClientError,
  type HttpStream,
  openHttp,
  ProtoError,
  parseLibsqlUrl,
  ResponseError,
  type RowsResult,
  type Sql,
  Stmt,
} from '@libsql/hrana-client'
import { LedgerRefused } from '../failures.ts'
import { type Database, DatabaseUnreachable } from './database-libsql.ts'
import { type BoundStatement, bind, type Row, type Statement, toRows } from './statement-libsql.ts'

/** Reads wait for no writer, so one that takes this long has lost its answer. */
const READ_DEADLINE_MS = 6_000

/** The server closes a connection after 10 s without use, and a call takes some time. */
const KEPT_FOR_MS = 5_000

/** `now` in ms. */
export function libsqlDatabase(address: DatabaseAddress, now: () => number): Database {
  let kept: { connection: Connection; usedAt: number } | undefined

  /** It is used by one write at a time: another write gets another connection. */
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
    return await runBy(openConnection(address), bound, mode, signal)
  }

  return {
    write: (statements, signal) => run(statements, 'write', signal),
    load: (statements, signal) => run(statements, 'read', signal),
    // Each has its own connection: in a Worker no request may use what another has opened.
    async read(statements) {
      const deadline = AbortSignal.timeout(READ_DEADLINE_MS)
      const client = createClient({ ...address, fetch: fetchUntil(deadline), intMode: 'bigint' })
      const results = await client.batch(statements.map(bind), 'read')
      return results.map(({ rows }) => toRows(rows))
    },
  }
}

/**
 * The server refused a connection that it had before: it was started again, or has forgotten it.
 * Nothing was written, and a new connection can be used.
 */
class ConnectionGone extends Error {
  override readonly name = 'ConnectionGone'
}

export interface DatabaseAddress {
  /** `libsql:`, `https:` or `http:`. */
  url: string
  authToken?: string
}

/** Only one transaction at a time may write. Reads do not wait for it. */
export type TransactionMode = 'read' | 'write'

export interface Connection {
  /** A call failed as a whole: it cannot be used any more. */
  readonly isClosed: boolean
  /**
   * Carries out all of the statements or none, and answers each. One call after the other; the
   * second and later ones may reject with ConnectionGone. Whole numbers are bigint.
   */
  run(
    statements: readonly BoundStatement[],
    mode: TransactionMode,
    signal: AbortSignal,
  ): Promise<RowsResult[]>
}

const CLOSE_WITHIN_MS = 5_000

/** Nothing is sent before the first write. The server closes an unused connection after 10 s. */
function openConnection(address: DatabaseAddress): Connection {
  const { hranaHttpUrl, authToken } = parseLibsqlUrl(address.url)
  if (hranaHttpUrl === undefined) throw new Error('The database is not reached by HTTP')
  // The library takes its fetch once, and each write has its own signal.
  let until: AbortSignal
  let isLost = false
  const send = async (request: Request): Promise<Response> => {
    // The library would close a stream that the server has forgotten or never knew.
    if (isLost) throw new DatabaseUnreachable('the connection is not used any more')
    isLost = true
    const response = await fetchUntil(until)(request)
    isLost = !response.ok
    return response
  }
  const stream = openHttp(hranaHttpUrl, authToken ?? address.authToken, send).openStream()
  stream.intMode = 'bigint'
  const textOf = remembering(stream)
  let hasAnswered = false
  return {
    get isClosed() {
      return stream.closed
    },
    async run(statements, mode, signal) {
      until = signal
      const transaction = prepare(stream, statements, mode, textOf)
      try {
        await transaction.execute()
        hasAnswered = true
      } catch (cause) {
        const isOfClient = cause instanceof ClientError && !(cause instanceof ProtoError)
        if (hasAnswered && isLost && (isOfClient || cause instanceof LedgerRefused)) {
          throw new ConnectionGone('the server has forgotten it', { cause })
        }
        // A server that stopped half-way has left the transaction open, with its lock.
        until = AbortSignal.timeout(CLOSE_WITHIN_MS)
        stream.close()
        throw toLibsqlError(cause)
      }
      return transaction.results().catch((error: unknown) => {
        throw toLibsqlError(error)
      })
    },
  }
}

/** What the server stores for a connection: how many texts, and how long each may be. */
const MAX_TEXTS = 50
const MAX_TEXT_CHARS = 5_000

/** A text is sent once: a group of charges would send the same ones 64 times. */
function remembering(stream: HttpStream): (text: string) => Sql | string {
  const known = new Map<string, Sql>()
  return (text) => {
    const stored = known.get(text)
    if (stored) return stored
    if (known.size === MAX_TEXTS || text.length >= MAX_TEXT_CHARS) return text
    const sql = stream.storeSql(text)
    known.set(text, sql)
    return sql
  }
}

/** Each step runs only after the one before. A failure is rolled back, so that no lock is left. */
function prepare(
  stream: HttpStream,
  statements: readonly BoundStatement[],
  mode: TransactionMode,
  textOf: (text: string) => Sql | string,
) {
  const batch = stream.batch()
  let last = batch.step()
  const begun = last.run(mode === 'write' ? 'BEGIN IMMEDIATE' : 'BEGIN')
  const after = () => {
    last = batch.step().condition(BatchCond.ok(last))
    return last
  }
  const answers = statements.map(({ sql, args }) => {
    const bound = new Stmt(textOf(sql))
    for (const [name, value] of Object.entries(args)) bound.bindName(name, value)
    return after().query(bound)
  })
  const committed = after().run('COMMIT')
  const notCommitted = BatchCond.not(BatchCond.ok(last))
  const undone = batch.step().condition(notCommitted).run('ROLLBACK')
  // If it did not begin, there is nothing to undo.
  undone.catch(() => undefined)
  return {
    execute: () => batch.execute(),
    /** Rejects with the first step's error. All are awaited, since each may have an error. */
    async results(): Promise<RowsResult[]> {
      const [, isDone, ...rows] = await Promise.all([begun, committed, ...answers])
      if (isDone && rows.every((row) => row !== undefined)) return rows
      throw new LibsqlError('the transaction was not carried out', 'TRANSACTION_CLOSED')
    },
  }
}

/** As @libsql/client names them. */
function toLibsqlError(error: unknown): unknown {
  if (!(error instanceof ClientError)) return error
  return new LibsqlError(error.message, codeOf(error), undefined, undefined, error)
}

function codeOf(error: ClientError): string {
  if (error instanceof ResponseError && error.code !== undefined) return error.code
  return error instanceof ProtoError ? 'HRANA_PROTO_ERROR' : 'SERVER_ERROR'
}

/** No retry helps, and one each second would hold up every webhook until its deadline. */
const REFUSALS: Readonly<Record<number, string>> = {
  401: 'LIBSQL_AUTH_TOKEN is missing, wrong or expired',
  403: 'LIBSQL_AUTH_TOKEN does not allow that',
  404: 'LIBSQL_URL is not a database, or not that of LIBSQL_AUTH_TOKEN',
}

/** Reads the body as well, so that all that the network can do to a call happens in here. */
export function fetchUntil(signal: AbortSignal): (request: Request) => Promise<Response> {
  return async (request) => {
    try {
      const response = await fetch(request, { signal })
      const body = await response.text()
      const { status, headers } = response
      if (status >= 500 || status === 408 || status === 429) {
        throw new DatabaseUnreachable(`it answered ${status}`)
      }
      // The library finds out by a GET which protocol the server has.
      if (request.method !== 'GET' && status in REFUSALS) {
        throw new LedgerRefused(`it answered ${status}, so ${REFUSALS[status]}`)
      }
      return new Response(body, {
        status,
        headers: { 'content-type': headers.get('content-type') ?? '' },
      })
    } catch (cause) {
      if (cause instanceof DatabaseUnreachable || cause instanceof LedgerRefused) throw cause
      throw new DatabaseUnreachable('the database did not answer', { cause })
    }
  }
}
