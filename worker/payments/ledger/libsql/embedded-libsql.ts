// libSQL in this process: a database in a file, without a server. Every call blocks its thread, so
// a host runs it in a separate one (`openThreaded`, below). This process must be its only writer;
// the host makes sure of that.

import { mkdirSync } from 'node:fs'
import { dirname, extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
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
      checkWanted(signal)
      return run(statements, 'BEGIN IMMEDIATE')
    },
    async load(statements, signal) {
      checkWanted(signal)
      return run(statements, 'BEGIN')
    },
    read: async (statements) => run(statements, 'BEGIN'),
    close: () => sqlite.close(),
  }
}

/** A call that was given up may be made again at once: it must not also come late. */
function checkWanted(signal: AbortSignal): void {
  if (signal.aborted) throw new DatabaseUnreachable('the call was given up')
}

/** As the client names them. Without a code it is a defect, or a value that cannot be stored. */
function databaseError(error: Error & { code?: unknown }): Error {
  const { message, code } = error
  if (typeof code !== 'string') return error
  return new LibsqlError(message, code, undefined, undefined, error)
}

// How an embedded database is called: what its thread is sent and answers, and how that is run.

/** Without statements: close the database, and end. */
export interface Call {
  id: number
  begin: Begin
  statements: readonly Statement[] | undefined
}

/** `code`: of an error of the database. Any other is a defect, or a value that it cannot take. */
export type Reply = { id: number } & ({ results: Row[][] } | { error: ThrownError })

export interface ThrownError {
  name: string
  message: string
  code: string | undefined
}

/** The id of the first reply, which says whether the file could be opened. */
export const OPENED = 0

/** The statements as one transaction of a database in this process; the rows of each. */
export function runIn(sqlite: Sqlite, statements: readonly Statement[], begin: Begin): Row[][] {
  const bound = statements.map(bind)
  const run = () => bound.map(({ sql, args }) => toRows(sqlite.all<object>(sql, args)))
  return sqlite.transaction(run, begin)
}

// An embedded database in its own thread, since a save with its sync of the disk would block all
// other work of this process. If the thread fails, the process ends: it is not known then
// whether its last call is stored.

export interface ThreadedDatabase extends Database {
  /** After what is under way. Then every call fails. */
  close(): Promise<void>
}

type Waiting = PromiseWithResolvers<Row[][]>

/** Beside this file, in the sources and in a bundle. */
const THREAD = new URL(`thread-libsql${extname(import.meta.url)}`, import.meta.url)

/** Rejects when `file` cannot be opened. `thread`: another one, for a test. */
export async function openThreaded(file: string, thread = THREAD): Promise<ThreadedDatabase> {
  mkdirSync(dirname(file), { recursive: true })
  const worker = new Worker(thread, { workerData: { file } })
  const waiting = new Map<number, Waiting>()
  let calls = OPENED
  let isClosed = false

  const answered = (id: number): Promise<Row[][]> => {
    const caller: Waiting = Promise.withResolvers()
    waiting.set(id, caller)
    return caller.promise
  }
  const send = (begin: Begin, statements: readonly Statement[] | undefined) => {
    const id = ++calls
    const answer = answered(id)
    worker.postMessage({ id, begin, statements } satisfies Call)
    return answer
  }
  const run = async (begin: Begin, statements: readonly Statement[], signal?: AbortSignal) => {
    if (isClosed) throw new Error('The database is closed.')
    if (signal) checkWanted(signal)
    return await send(begin, statements)
  }
  worker.on('message', (reply: Reply) => {
    const caller = waiting.get(reply.id)
    waiting.delete(reply.id)
    if ('results' in reply) return caller?.resolve(reply.results)
    const { message, ...named } = reply.error
    caller?.reject(databaseError(Object.assign(new Error(message), named)))
  })
  // Deno would go on without its thread, and no call would ever be answered.
  worker.on('error', (error) => {
    throw error
  })
  await answered(OPENED)
  return {
    write: (statements, signal) => run('BEGIN IMMEDIATE', statements, signal),
    load: (statements, signal) => run('BEGIN', statements, signal),
    read: (statements) => run('BEGIN', statements),
    async close() {
      isClosed = true
      await send('BEGIN', undefined)
    },
  }
}
