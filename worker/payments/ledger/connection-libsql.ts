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
  Stmt,
} from '@libsql/hrana-client'
import { fetchUntil } from './request-libsql.ts'

/**
 * The server refused to go on: it was started again, or the connection was left alone for too long.
 * Nothing was written, and another connection will do.
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

export interface Connection {
  /** The server let go of it, or a call was not answered: it is of no more use. */
  readonly isClosed: boolean
  /**
   * Writes all of the statements or none, and answers each. One call after the other; the second
   * and later ones may reject with ConnectionGone.
   */
  write(statements: readonly BoundStatement[], signal: AbortSignal): Promise<RowsResult[]>
}

/** Nothing is sent before the first write. Nothing need be closed: the server does, after 10 s. */
export function openConnection(place: Place): Connection {
  const { hranaHttpUrl, authToken } = parseLibsqlUrl(place.url)
  let until: AbortSignal
  const url = hranaHttpUrl ?? place.url
  const send = (request: Request) => fetchUntil(until)(request)
  const stream = openHttp(url, place.authToken ?? authToken, send).openStream()
  let hasAnswered = false
  return {
    get isClosed() {
      return stream.closed
    },
    async write(statements, signal) {
      until = signal
      const transaction = prepare(stream, statements)
      try {
        await transaction.execute()
        hasAnswered = true
      } catch (cause) {
        const isRefused = hasAnswered && stream.closed && cause instanceof ClientError
        throw isRefused
          ? new ConnectionGone('the server knows it no more', { cause })
          : toLibsqlError(cause)
      }
      return transaction.results().catch((error: unknown) => {
        throw toLibsqlError(error)
      })
    },
  }
}

/** Steps that each need the one before; what failed is rolled back, so that no lock is left. */
function prepare(stream: HttpStream, statements: readonly BoundStatement[]) {
  const batch = stream.batch()
  let last = batch.step()
  const begun = last.run('BEGIN IMMEDIATE')
  const after = () => {
    last = batch.step().condition(BatchCond.ok(last))
    return last
  }
  const answers = statements.map(({ sql, args }) => {
    const bound = new Stmt(sql)
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
    async results(): Promise<RowsResult[]> {
      await begun
      const rows: RowsResult[] = []
      for (const answer of answers) {
        const result = await answer
        if (!result) throw new LibsqlError('a statement was not carried out', 'TRANSACTION_CLOSED')
        rows.push(result)
      }
      await committed
      return rows
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
