// A connection of libSQL's server, kept from one write to the next: opening one costs the server
// more than a small batch does, since it reads the schema and every page anew. @libsql/client opens
// one for each batch, so this stands on the library below it.

import { LibsqlError } from '@libsql/client/web'
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
import { DatabaseUnreachable, fetchUntil } from './request-libsql.ts'

/**
 * The server refused to go on with a connection that it had: it was started again, or does not know
 * us any more. Nothing was written, and another connection will tell.
 */
export class ConnectionGone extends Error {
  override readonly name = 'ConnectionGone'
}

export interface Place {
  /** `libsql:`, `https:` or `http:`. */
  url: string
  authToken?: string
}

/** Values as the server is to store them: a number is a float, a bigint an integer. */
export interface BoundStatement {
  sql: string
  args: Readonly<Record<string, string | number | bigint | boolean | null>>
}

/** Only one transaction at a time may write; what reads waits for none. */
export type TransactionMode = 'read' | 'write'

export interface Connection {
  /** A call failed as a whole: it is of no more use. */
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

/** Nothing is sent before the first write. One that is left alone the server closes after 10 s. */
export function openConnection(place: Place): Connection {
  const { hranaHttpUrl, authToken } = parseLibsqlUrl(place.url)
  if (hranaHttpUrl === undefined) throw new Error('The database is not reached by HTTP')
  // The library takes its fetch once, and each write brings a signal of its own.
  let until: AbortSignal
  let isLost = false
  const send = async (request: Request): Promise<Response> => {
    // The library would have closed what the server does not know, or never heard of.
    if (isLost) throw new DatabaseUnreachable('the connection is given up')
    isLost = true
    const response = await fetchUntil(until)(request)
    isLost = !response.ok
    return response
  }
  const stream = openHttp(hranaHttpUrl, authToken ?? place.authToken, send).openStream()
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
        const isKnown = cause instanceof ClientError && !(cause instanceof ProtoError)
        if (hasAnswered && isLost && isKnown) {
          throw new ConnectionGone('the server knows it no more', { cause })
        }
        // A server that broke off half-way has left the transaction open, and its lock.
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

/** What the server remembers for a connection: its number of texts, and the length of each. */
const MAX_TEXTS = 50
const MAX_TEXT_CHARS = 5_000

/** A text is sent once: a group of charges would bring the same ones 64 times. */
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

/** Steps that each need the one before; what failed is rolled back, so that no lock is left. */
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
  // There is nothing to undo where it did not begin.
  undone.catch(() => undefined)
  return {
    execute: () => batch.execute(),
    /** Rejects with the first step's error. A server may blame every step: all are waited for. */
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
