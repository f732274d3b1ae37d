// Which database of payments a command works on: that of a data folder, or the one that LIBSQL_URL
// names.

import { resolve } from 'node:path'
import type { DatabasePlace } from '../../local/backup.ts'
import { DATA_DIR, databaseIn } from '../../local/data-folder.ts'
import { fileOf, isEmbedded } from '../../worker/payments/ledger/libsql/embedded-libsql.ts'
import { type Context, type Input, UsageError, variablesIn } from '../command.ts'
import { namedFolder } from '../data-folder.ts'

export interface DatabaseOptions {
  data?: string
  env?: string
}

/** Whether it exists is not looked at. Throws UsageError. */
export async function namedDatabase(
  { options }: Input<DatabaseOptions>,
  { env, cwd }: Pick<Context, 'env' | 'cwd'>,
): Promise<DatabasePlace> {
  const variables = await variablesIn(options.env, env)
  const { LIBSQL_URL: url = '', LIBSQL_AUTH_TOKEN: authToken, DATA_DIR: dir } = variables
  if (options.data !== undefined && url !== '') {
    throw new UsageError('--data and LIBSQL_URL name two databases: give one of them.')
  }
  if (isEmbedded(url)) return { file: resolve(cwd, fileOf(url)) }
  if (/^(libsql|https?):\/\//.test(url)) return { url, ...(authToken && { authToken }) }
  if (url !== '')
    throw new UsageError('LIBSQL_URL must begin with libsql:, https:, http: or file:.')
  const dataDir = namedFolder(cwd, options.data ?? (dir || DATA_DIR))
  return { file: fileOf(databaseIn(dataDir)), dataDir }
}
