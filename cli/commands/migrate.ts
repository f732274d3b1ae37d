// Brings the database of payments to the schema of this version.

import { MigrationError, migrate, readScripts } from '../../system/migrate.ts'
import { isEmbedded } from '../../worker/payments/ledger/libsql/embedded-libsql.ts'
import { libsqlDatabase } from '../../worker/payments/ledger/libsql/http-libsql.ts'
import { hostClock } from '../../worker/shared/clock.ts'
import { type Context, type Input, missing, UsageError, variablesIn } from '../command.ts'
import { hiding, secretValues } from '../payments/place.ts'

const ADDRESS = 'LIBSQL_URL, the libsql: or http(s): address of the database'

export async function run({ options }: Input<{ env?: string }>, context: Context): Promise<number> {
  const { io } = context
  const env = await variablesIn(options.env, context.env)
  const { LIBSQL_URL: url = '', LIBSQL_AUTH_TOKEN: authToken } = env
  if (url === '') throw missing({ [ADDRESS]: undefined })
  if (isEmbedded(url)) {
    throw new UsageError('LIBSQL_URL is a file: signalbox serve migrates it when it starts.')
  }
  if (!/^(libsql|https?):\/\//.test(url)) {
    throw new UsageError('LIBSQL_URL must begin with libsql:, https: or http:.')
  }
  const hide = hiding(secretValues(env, []))
  const notice = (sentence: string) => io.err(hide(`signalbox migrate: ${sentence}\n`))
  const database = libsqlDatabase({ url, ...(authToken && { authToken }) }, Date.now)
  try {
    const scripts = await readScripts()
    const { from, to } = await migrate({ database, scripts, notice, clock: hostClock })
    io.out(
      from === to ? `The database has schema ${to} already.\n` : `The database has schema ${to}.\n`,
    )
    return 0
  } catch (error) {
    notice(error instanceof MigrationError ? error.message : `${new URL(url).host}: ${error}.`)
    return 1
  }
}
