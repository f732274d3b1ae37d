// libSQL in this process: a database in a file, without a server. Every call blocks its thread, so
// a host runs it in a separate one (threaded-libsql.ts). This process must be its only writer;
// the host makes sure of that.

import { fileURLToPath } from 'node:url'
import { LibsqlError } from '@libsql/client/web'
import { type Begin, openSqlite, type Sqlite } from '../../../shared/sqlite-libsql.ts'
import { type Database, DatabaseUnreachable } from './database-libsql.ts'
import { bind, type Row, type Statement, toRows } from './statement-libsql.ts'

export interface EmbeddedDatabase extends Database {
  /** Then every call fails. */
  close(): void
}

export const isEmbedded = (url: string): boolean => url.startsWith('file:')

/** `file:PATH`, relative to the folder of the process or absolute, or `file:///PATH`. */
export const fileOf = (url: string): string =>
  url.startsWith('file://') ? fileURLToPath(url) : url.slice('file:'.length)

/** The folder of the file must exist. `file` may be `:memory:`. */
export const embeddedDatabase = (file: string): EmbeddedDatabase =>
  databaseOver(openSqlite(file, { exactIntegers: true }))

/** `sqlite` gives exact integers. */
export function databaseOver(sqlite: Sqlite): EmbeddedDatabase {
  const run = (statements: readonly Statement[], begin: Begin): Row[][] => {
    try {
      return runIn(sqlite, statements, begin)
    } catch (error) {
      throw error instanceof Error ? databaseError(error) : error
    }
  }
  return {
    async write(statements, signal) {
      refuseGivenUp(signal)
      return run(statements, 'BEGIN IMMEDIATE')
    },
    async load(statements, signal) {
      refuseGivenUp(signal)
      return run(statements, 'BEGIN')
    },
    read: async (statements) => run(statements, 'BEGIN'),
    close: () => sqlite.close(),
  }
}

/** A call that was given up may be made again at once: it must not also come late. */
export function refuseGivenUp(signal: AbortSignal): void {
  if (signal.aborted) throw new DatabaseUnreachable('the call was given up')
}

/** As the client names them. Without a code it is a defect, or a value that cannot be stored. */
export function databaseError(error: Error & { code?: unknown }): Error {
  const { message, code } = error
  if (typeof code !== 'string') return error
  return new LibsqlError(message, code, undefined, undefined, error)
}

/** The statements as one transaction of a database in this process; the rows of each. */
export function runIn(sqlite: Sqlite, statements: readonly Statement[], begin: Begin): Row[][] {
  const bound = statements.map(bind)
  const run = () => bound.map(({ sql, args }) => toRows(sqlite.all<object>(sql, args)))
  return sqlite.transaction(run, begin)
}
