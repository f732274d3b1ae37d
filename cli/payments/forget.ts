// Deletes what may name a payer of settled payments, in a database that may be in use.

import { existsSync } from 'node:fs'
import {
  databaseOver,
  type EmbeddedDatabase,
} from '../../worker/payments/ledger/libsql/embedded-libsql.ts'
import {
  countPayers,
  forgetPayers,
  type Payers,
} from '../../worker/payments/ledger/libsql/forget-libsql.ts'
import { type Database, libsqlDatabase } from '../../worker/payments/ledger/libsql/http-libsql.ts'
import {
  mismatchOf,
  readSchemaState,
  SCHEMA_VERSION,
} from '../../worker/payments/ledger/libsql/schema-version-libsql.ts'
import { hostClock } from '../../worker/shared/clock.ts'
import { openSqlite } from '../../worker/shared/sqlite-libsql.ts'
import { type Context, type Environment, type Input, missing, UsageError } from '../command.ts'
import { countOf, type DatabaseOptions, onDatabase } from './database.ts'

interface ForgetOptions extends DatabaseOptions {
  /** In ms. */
  before?: number
  reference?: string
  yes?: boolean
}

export async function run(input: Input<ForgetOptions>, context: Context): Promise<number> {
  const { options } = input
  const payers = payersOf(options)
  return await onDatabase(input, context, async (place) => {
    if ('url' in place) {
      return await forget(libsqlDatabase(place, Date.now), payers, options, context.env)
    }
    if (!existsSync(place.file)) {
      throw new UsageError(`There is no database of payments in ${place.file}.`)
    }
    const database = overwriting(place.file)
    try {
      return await forget(database, payers, options, context.env)
    } finally {
      database.close()
    }
  })
}

function payersOf({ before, reference }: ForgetOptions): Payers {
  if (before !== undefined && reference !== undefined) {
    throw new UsageError('--before and --reference name different payments: give one of them.')
  }
  if (before !== undefined) return { before }
  if (reference !== undefined) return { reference }
  throw missing({ '--before DATE or --reference R': undefined })
}

/** SQLite would leave what was deleted in the file, until its place is used again. */
function overwriting(file: string): EmbeddedDatabase {
  const sqlite = openSqlite(file, { exactIntegers: true })
  sqlite.all('PRAGMA secure_delete = ON')
  return databaseOver(sqlite)
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
