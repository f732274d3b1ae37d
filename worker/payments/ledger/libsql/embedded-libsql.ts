// libSQL in this process: a database in a file, without a server. Its only writer is this process;
// whoever assembles it keeps a second one away.

import { fileURLToPath } from 'node:url'
import { LibsqlError } from '@libsql/client/web'
import { openSqlite, type Sqlite } from '../../../shared/sqlite-libsql.ts'
import { bind, type Database, type Row, type Statement, toRows } from './database-libsql.ts'
import { DatabaseUnreachable } from './request-libsql.ts'

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
  const run = (statements: readonly Statement[], begin: 'BEGIN' | 'BEGIN IMMEDIATE'): Row[][] => {
    const bound = statements.map(bind)
    try {
      return sqlite.transaction(
        () => bound.map(({ sql, args }) => toRows(sqlite.all<object>(sql, args))),
        begin,
      )
    } catch (error) {
      throw toLibsqlError(error)
    }
  }
  const wanted = (signal: AbortSignal) => {
    if (signal.aborted) throw new DatabaseUnreachable('the call was given up')
  }
  return {
    async write(statements, signal) {
      wanted(signal)
      return run(statements, 'BEGIN IMMEDIATE')
    },
    async load(statements, signal) {
      wanted(signal)
      return run(statements, 'BEGIN')
    },
    read: async (statements) => run(statements, 'BEGIN'),
    // The thread is blocked while a group is saved. What arrived meanwhile is let in first, or the
    // next group would be the first of it alone, with a sync of the disk of its own.
    gather: () => new Promise((resolve) => void setImmediate(resolve)),
    close: () => sqlite.close(),
  }
}

/** As the client names them. */
function toLibsqlError(error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) return error
  return new LibsqlError(error.message, error.code, undefined, undefined, error)
}
