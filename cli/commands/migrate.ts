// Brings the database of payments to the schema of this version.

import { MigrationError, migrate } from '../../system/migrate.ts'
import { readScripts } from '../../system/migration-scripts.ts'
import { isServed } from '../../worker/payments/config/payments-config.ts'
import { isEmbedded } from '../../worker/payments/ledger/libsql/embedded-libsql.ts'
import { libsqlDatabase } from '../../worker/payments/ledger/libsql/http-libsql.ts'
import { hostClock } from '../../worker/shared/clock.ts'
import { define } from '../command.ts'
import { type Context, type Input, missing, UsageError, variablesIn } from '../context.ts'
import { hiding, secretValues } from '../payments/target.ts'
import type { OptionsOf } from '../setting.ts'
import { ENV } from '../settings.ts'

const ADDRESS = 'LIBSQL_URL, the libsql: or http(s): address of the database'

const OPTIONS = [ENV] as const

export const command = define({
  usage: '[--env FILE]',
  description: `\
Reads LIBSQL_URL and LIBSQL_AUTH_TOKEN. Makes the tables of an empty database. In a database of an
older version it runs the missing migrations, in small transactions; run again, it goes on where it
stopped. Deploy this version of the edge first: until the database is migrated, the edge stores
nothing and answers 503, and gateways send their webhooks again. signalbox dev migrates its own
database.`,
  options: OPTIONS,
  run,
})

async function run(
  { options }: Input<OptionsOf<typeof OPTIONS>>,
  context: Context,
): Promise<number> {
  const { io } = context
  const env = await variablesIn(options.env, context.env)
  const { LIBSQL_URL: url = '', LIBSQL_AUTH_TOKEN: authToken } = env
  if (url === '') throw missing({ [ADDRESS]: undefined })
  if (isEmbedded(url)) {
    throw new UsageError('LIBSQL_URL is a file: signalbox serve migrates it when it starts.')
  }
  if (!isServed(url)) {
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
