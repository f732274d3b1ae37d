// The database file of payments of a Node edge, read and written while the edge has it open.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepareSchema } from '../../local/migrate.ts'
import { embeddedDatabase, fileOf } from '../../worker/payments/ledger/libsql/embedded-libsql.ts'
import { isTransient } from '../../worker/payments/ledger/libsql/http-libsql.ts'
import { statement } from '../../worker/payments/ledger/libsql/statement-libsql.ts'
import { type LibsqlServer, TABLES } from './libsql.ts'

const noServer = () => Promise.reject(new Error('A file has no server.'))

export async function startFileDatabase(): Promise<LibsqlServer> {
  const dir = await mkdtemp(join(tmpdir(), 'signalbox-file-'))
  const url = `file:${join(dir, 'payments.db')}`
  const database = embeddedDatabase(fileOf(url))
  await prepareSchema(database)
  const query: LibsqlServer['query'] = async (sql, args) => {
    for (;;) {
      try {
        const never = new AbortController().signal
        const [rows = []] = await database.write([statement(sql, args)], never)
        return rows.map((row) => ({ ...row }))
      } catch (error) {
        // The edge is writing, and needs some time to finish.
        if (!isTransient(error)) throw error
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
    }
  }
  return {
    url,
    token: '',
    database,
    query,
    async wipe() {
      for (const table of TABLES) await query(`DELETE FROM ${table}`)
    },
    kill: noServer,
    restart: noServer,
    async stop() {
      database.close()
      await rm(dir, { recursive: true, force: true })
    },
  }
}
