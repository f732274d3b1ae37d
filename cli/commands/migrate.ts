// Brings the database of payments to the schema of this version.

import { keptInstallation, refuseOther, VARIABLE } from '../../system/database/installation.ts'
import { MigrationError, migrate } from '../../system/database/migrate.ts'
import { readScripts } from '../../system/database/migration-scripts.ts'
import { StartError } from '../../system/start-error.ts'
import { isServed } from '../../worker/payments/config/payments-config.ts'
import { LedgerRefused } from '../../worker/payments/ledger/failures.ts'
import { isEmbedded } from '../../worker/payments/ledger/libsql/embedded-libsql.ts'
import { libsqlDatabase } from '../../worker/payments/ledger/libsql/http-libsql.ts'
import { readInstallation } from '../../worker/payments/ledger/libsql/ledger-row-libsql.ts'
import { hostClock } from '../../worker/shared/clock.ts'
import { messageOf } from '../../worker/shared/log.ts'
import { define } from '../command.ts'
import type { Context } from '../context.ts'
import { variablesIn } from '../environment.ts'
import { hiding, secretValues } from '../payments/target.ts'
import { namedFolder } from '../running-system.ts'
import { type OptionsOf, Setting } from '../setting.ts'
import { ENV } from '../settings.ts'
import { type Input, missing, UsageError } from '../usage.ts'

const ADDRESS = 'LIBSQL_URL, the libsql: or http(s): address of the database'

const OPTIONS = [
  new Setting('--data <DIR>', 'data folder whose database it is to be (or DATA_DIR) [any]'),
  new Setting('--new', 'it is to be a new shop: forget the database that is expected'),
  ENV,
] as const

/** Their message is a sentence. */
const SENTENCES = [MigrationError, StartError, LedgerRefused]

type Options = OptionsOf<typeof OPTIONS>

export const command = define({
  usage: '[--data DIR] [--new] [--env FILE]',
  description: `\
Reads LIBSQL_URL and LIBSQL_AUTH_TOKEN. Makes the tables of an empty database. In a database of an
older version it runs the missing migrations, in small transactions; run again, it goes on where it
stopped. Deploy this version of the edge first: until the database is migrated, the edge stores
nothing and answers 503, and gateways send their webhooks again. signalbox and serve migrate a
database in their data folder.

A database that is empty, or another one than PAYMENT_INSTALLATION or the data folder expects, is
refused: it may be the wrong server. --new makes it the one that is expected. For a database in the
data folder, --new with --data makes nothing: the next start does.`,
  options: OPTIONS,
  run,
})

async function run({ options }: Input<Options>, context: Context): Promise<number> {
  const { io, cwd } = context
  const env = await variablesIn(options.env, context.env)
  const { LIBSQL_URL: url = '', LIBSQL_AUTH_TOKEN: authToken, DATA_DIR: folder } = env
  const named = options.data ?? folder
  const dataDir = named ? namedFolder(cwd, named) : undefined
  const location =
    dataDir === undefined ? undefined : { dataDir, trustsData: false, env: context.env }
  const kept = location && keptInstallation(location)
  const set = env[VARIABLE]
  if (url === '' && kept && options.new) {
    await kept.forget()
    io.out(`The next start makes a new database in ${dataDir}, if it has none.\n`)
    if (set !== undefined) io.out(`Unset ${VARIABLE} for that start: it is still ${set}.\n`)
    return 0
  }
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
    const expected = options.new ? undefined : (set ?? (await kept?.read()))
    refuseOther(await readInstallation(database.read), expected, {
      isSet: set !== undefined,
      dataDir,
    })
    const scripts = await readScripts()
    const { from, to } = await migrate({ database, scripts, notice, clock: hostClock })
    if (options.new) await kept?.forget()
    const made = await readInstallation(database.read)
    const isMade = from === 0 && made.is === 'made'
    if (isMade) io.out(`Made a new database of payments: ${VARIABLE}=${made.id}\n`)
    io.out(`The database has schema ${to}${from === to ? ' already' : ''}.\n`)
    if (options.new && set !== undefined) io.out(`${VARIABLE} is still ${set}: change it.\n`)
    return 0
  } catch (error) {
    const isSentence = SENTENCES.some((known) => error instanceof known)
    notice(isSentence ? messageOf(error) : `${new URL(url).host}: ${error}.`)
    return 1
  }
}
