// An embedded database in its own thread, since a save with its sync of the disk would block all
// other work of this process. If the thread fails, the process ends: it is not known then
// whether its last call is stored.

import { mkdirSync } from 'node:fs'
import { dirname, extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Begin } from '../../../shared/sqlite-libsql.ts'
import type { Database } from './database-libsql.ts'
import { databaseError, refuseGivenUp } from './embedded-libsql.ts'
import type { Row, Statement } from './statement-libsql.ts'

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
    if (signal) refuseGivenUp(signal)
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
