// The thread of an embedded database: executes one call after the other, and answers. It is an
// entry point, which threaded-libsql.ts starts.

import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { openSqlite } from '../../../shared/sqlite-libsql.ts'
import { runIn } from './embedded-libsql.ts'
import type { Row } from './statement-libsql.ts'
import { type Call, OPENED, type Reply, type ThrownError } from './threaded-libsql.ts'

function errorOf(error: unknown): ThrownError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), code: undefined }
  const { name, message, code } = error as Error & { code?: unknown }
  return { name, message, code: typeof code === 'string' ? code : undefined }
}

function serve(port: MessagePort, file: string): void {
  const reply = (id: number, work: () => Row[][]) => {
    try {
      port.postMessage({ id, results: work() } satisfies Reply)
    } catch (error) {
      port.postMessage({ id, error: errorOf(error) } satisfies Reply)
    }
  }
  reply(OPENED, () => {
    const sqlite = openSqlite(file, { exactIntegers: true })
    port.on('message', ({ id, begin, statements }: Call) => {
      if (statements) return reply(id, () => runIn(sqlite, statements, begin))
      reply(id, () => {
        sqlite.close()
        return []
      })
      // After the reply, which would else be lost. Deno's port has no end but the process's.
      port.close?.()
    })
    return []
  })
}

if (parentPort) serve(parentPort, (workerData as { file: string }).file)
