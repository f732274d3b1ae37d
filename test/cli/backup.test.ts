// Which database a backup takes: that of what runs with the data folder, or ran last.

import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { lastBackupAt } from '../../system/database/backup/backup.ts'
import { lookAt } from '../../system/database/backup/backup-copy.ts'
import { noteDatabase } from '../../system/database/last-database.ts'
import { prepareSchema } from '../../system/database/migrate.ts'
import { startLibsql } from '../../tools/harness/database.ts'
import { embeddedDatabase } from '../../worker/payments/ledger/libsql/embedded-libsql.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { run } from './run.ts'

let data: string
let copies: string
beforeEach(async () => {
  data = tempFolder()
  copies = tempFolder()
  await mkdir(join(data, 'node'))
  const database = embeddedDatabase(join(data, 'node/payments.db'))
  await prepareSchema(database)
  database.close()
})

const backup = (env: Record<string, string> = {}) => run(['backup', copies, '--data', data], env)

it('copies the file of the data folder where that was used last, and notes it for the metrics', async () => {
  await noteDatabase(data, `file:${join(data, 'node/payments.db')}`)
  const { code, out } = await backup()
  expect([code, out]).toEqual([0, expect.stringContaining('Copied 0 payments to ')])
  expect(lastBackupAt(data)).toBeGreaterThan(0)
})

it('copies no file that was left over where a server was used last', async () => {
  await noteDatabase(data, 'libsql://bakery.example')
  const { code, err } = await backup()
  expect([code, err]).toEqual([
    2,
    expect.stringContaining(`What ran last with ${data} had its payments in bakery.example`),
  ])
  expect([await readdir(copies), lastBackupAt(data)]).toEqual([[], 0])
})

it('copies the server of a serve that runs with the data folder', async () => {
  const libsql = await startLibsql()
  try {
    const env = join(tempFolder(), 'env')
    const lines = [`LIBSQL_URL=${libsql.url}`, `LIBSQL_AUTH_TOKEN=${libsql.token}`]
    await writeFile(env, `${lines.join('\n')}\n`, { mode: 0o600 })
    const serve = { boards: [], env, files: {} }
    await writeFile(join(data, 'local.json'), JSON.stringify({ url: 'http://127.0.0.1:9', serve }))
    await noteDatabase(data, libsql.url)
    const { code, out, err } = await backup()
    expect([code, err]).toEqual([0, ''])
    const [, path = ''] = /to (\S+)\.\n$/.exec(out) ?? []
    const [{ installation } = {}] = await libsql.query('SELECT installation FROM payment_ledger')
    expect((await lookAt(path))?.installation).toBe(installation)
  } finally {
    await libsql.close()
  }
})
