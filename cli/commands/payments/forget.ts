// Deletes what may name a payer of settled payments, in a database that may be in use.

import { existsSync } from 'node:fs'
import { SCHEMA_VERSION } from '../../../worker/payments/domain/rows.ts'
import type { Database } from '../../../worker/payments/ledger/libsql/database-libsql.ts'
import { databaseOver } from '../../../worker/payments/ledger/libsql/embedded-libsql.ts'
import {
  countPayers,
  forgetPayers,
  type Payers,
} from '../../../worker/payments/ledger/libsql/forget-libsql.ts'
import { libsqlDatabase } from '../../../worker/payments/ledger/libsql/http-libsql.ts'
import {
  mismatchOf,
  readSchemaState,
} from '../../../worker/payments/ledger/libsql/schema-version-libsql.ts'
import { hostClock, pause } from '../../../worker/shared/clock.ts'
import { errorCode } from '../../../worker/shared/file-errors.ts'
import { openSqlite, type Sqlite } from '../../../worker/shared/sqlite-libsql.ts'
import { define } from '../../command.ts'
import type { Environment } from '../../context.ts'
import { countOf, DATABASE, onDatabase } from '../../payments/database.ts'
import { type OptionsOf, Setting } from '../../setting.ts'
import { missing, UsageError } from '../../usage.ts'

const OPTIONS = [
  new Setting('--before <DATE>', 'payments that did not change since this date (UTC)').date(),
  new Setting('--reference <R>', "payments of this order, by the shop's name for it"),
  ...DATABASE,
  new Setting('--yes', 'do it'),
] as const

type ForgetOptions = OptionsOf<typeof OPTIONS>

export const command = define({
  usage: '--before DATE | --reference R [--data DIR] [--env FILE] [--yes]',
  description: `\
Counts the payments, and deletes nothing until --yes is given. Then it empties, in payments that are
settled: what gateways sent, description and metadata, the address of the page, the reasons of
refunds, and these in stored events. It keeps the reference, ids, amounts, statuses and times, and
the name of each webhook, so that none is applied twice. A payment is settled when it has ended, and
no refund, alert, delivery or check of it is open. It may be run beside a running Signalbox. The
audit trail has each payment with action forget. Backups and logs of before keep what they have.`,
  options: OPTIONS,
  async run(input, context) {
    const { options } = input
    const payers = payersOf(options)
    return await onDatabase(input, context, async (location) => {
      if ('url' in location) {
        return await forget(libsqlDatabase(location, Date.now), payers, options, context.env)
      }
      if (!existsSync(location.file)) {
        throw new UsageError(`There is no database of payments in ${location.file}.`)
      }
      const sqlite = openSqlite(location.file, { exactIntegers: true })
      try {
        const done = await forget(databaseOver(sqlite), payers, options, context.env)
        if (options.yes) await dropCopies(sqlite)
        return done
      } finally {
        sqlite.close()
      }
    })
  },
})

function payersOf({ before, reference }: ForgetOptions): Payers {
  if (before !== undefined && reference !== undefined) {
    throw new UsageError('--before and --reference name different payments: give one of them.')
  }
  if (before !== undefined) return { before }
  if (reference !== undefined) return { reference }
  throw missing({ '--before DATE or --reference R': undefined })
}

const DROP_TRIES = 100
const DROP_PAUSE_MS = 50

/**
 * SQLite leaves what was deleted in unused places of the file, and each page as it was in the
 * write-ahead log beside it: the file is written anew, and the log emptied. A running ledger reads
 * and writes for moments only, and this is done between two of them.
 */
async function dropCopies(sqlite: Sqlite): Promise<void> {
  for (let tries = 0; tries < DROP_TRIES; tries++) {
    try {
      sqlite.exec('VACUUM')
      const [{ busy } = {}] = sqlite.all<{ busy?: bigint }>('PRAGMA wal_checkpoint(TRUNCATE)')
      if (busy === 0n) return
    } catch (error) {
      if (errorCode(error) !== 'SQLITE_BUSY') throw error
    }
    await pause(hostClock, DROP_PAUSE_MS)
  }
  throw new Error(
    'The payers are forgotten, but the database is in use, and its files still have copies of ' +
      'what was deleted: run this again',
  )
}

async function forget(
  database: Database,
  payers: Payers,
  { yes }: ForgetOptions,
  { SUDO_USER, USER }: Environment,
): Promise<string> {
  const mismatch = mismatchOf(await readSchemaState(database.read), SCHEMA_VERSION)
  if (mismatch !== undefined) throw new UsageError(mismatch)
  const { settled, open } = await countPayers(database, payers)
  const kept = open === 0 ? '' : ` Not settled, and kept: ${open}.`
  if (!yes) return `Would forget the payers of ${countOf(settled)} (--yes does it).${kept}`
  const user = SUDO_USER || USER
  const by = user ? `command line: ${user}` : 'command line'
  const forgotten = await forgetPayers(database, payers, { by, clock: hostClock })
  const elsewhere = 'Backups and logs of before still have what they had.'
  return `Forgot the payers of ${countOf(forgotten)}.${kept} ${elsewhere}`
}
