// A backup of the database of payments: a copy of a live one, as of one moment, in one SQLite file.
// And a database that is made of such a file.

import { existsSync, statSync } from 'node:fs'
import { chmod, copyFile, mkdtemp, open, readdir, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { createClient } from '@libsql/client/web'
import { databaseOver } from '../../../worker/payments/ledger/libsql/embedded-libsql.ts'
import { fetchUntil, libsqlDatabase } from '../../../worker/payments/ledger/libsql/http-libsql.ts'
import {
  bind,
  type Row,
  type Value,
} from '../../../worker/payments/ledger/libsql/statement-libsql.ts'
import { insertRows } from '../../../worker/payments/ledger/libsql/store-libsql.ts'
import { errorCode } from '../../../worker/shared/file-errors.ts'
import type { Metrics } from '../../../worker/shared/metrics.ts'
import { makePrivateFolder, replacePrivateFile } from '../../../worker/shared/private-file-node.ts'
import { processExists } from '../../../worker/shared/process-stat-node.ts'
import { openSqlite } from '../../../worker/shared/sqlite-libsql.ts'
import { StartError } from '../../start-error.ts'
import { prepareSchema } from '../migrate.ts'
import {
  type Copy,
  countIn,
  lookAt,
  lookIn,
  readUsable,
  refused,
  unusable,
  within,
} from './backup-copy.ts'

/** A file of this machine, maybe in a data folder, or a libSQL server. */
export type DatabaseLocation = { file: string; dataDir?: string } | RemoteDatabase
type RemoteDatabase = { url: string; authToken?: string; dataDir?: string }

/** One request of a server. */
const WITHIN_MS = 60_000

export interface BackupPlan {
  overwrites: boolean
  /** Also a copy that has more payments. */
  shrinks?: boolean
}

/**
 * Copies the database to a file, while others use it: what the copy holds. The file is there when
 * it is whole, and for its owner alone. It replaces no copy of another shop, and none with more
 * payments unless it `shrinks`. Throws StartError.
 */
export async function backUp(
  location: DatabaseLocation,
  file: string,
  { overwrites, shrinks = false }: BackupPlan,
): Promise<Copy> {
  if (existsSync(file) && !overwrites) throw refused(`${file} exists: --force overwrites it.`)
  // To open it would make it.
  if ('file' in location && !existsSync(location.file)) {
    throw refused(`There is no database of payments in ${location.file}.`)
  }
  await removeLeft(file)
  return await making(file, async (fresh) => {
    if ('file' in location) copyFrom(location.file, fresh)
    else await download(location, fresh)
    const copy = await within(fresh, lookIn)
    const before = await lookAt(file)
    if (before) refuseLoss(file, before, copy, shrinks)
    return copy
  })
}

/** A database that was made anew must not take the place of the last good copy. */
function refuseLoss(file: string, before: Copy, copy: Copy, shrinks: boolean): void {
  if (before.installation !== copy.installation && before.installation !== undefined) {
    const now = `and the database is ${copy.installation}`
    const why = `${file} is a copy of another shop (${before.installation}, ${now})`
    throw new StartError('other_database', `${why}: it stays. Give the copy another name.`)
  }
  if (shrinks || before.payments <= copy.payments) return
  throw new StartError(
    'other_database',
    `${file} has ${before.payments} payments, and the database ${copy.payments}: it stays. If ` +
      'they are lost, signalbox restore brings them back; if fewer are right, say --shrink.',
  )
}

/** Copies under way of processes that were killed. */
async function removeLeft(file: string): Promise<void> {
  const dir = dirname(file)
  const names = await readdir(dir).catch((): string[] => [])
  for (const name of names) {
    const [, rest = ''] = name.split(`${basename(file)}.`)
    const [, pid] = /^(\d+)\.tmp(-wal|-shm|-journal)?$/.exec(rest) ?? []
    if (name.startsWith(`${basename(file)}.`) && pid !== undefined && !processExists(Number(pid))) {
      await rm(join(dir, name), { force: true })
    }
  }
}

/** Its time is that of the last backup. Another process reads it for the metrics. */
const noteIn = (dataDir: string) => join(dataDir, 'last-backup')

export const noteBackup = (dataDir: string): Promise<void> =>
  replacePrivateFile(noteIn(dataDir), `${new Date().toISOString()}\n`)

/** `dataDir`: where backups are noted. */
export function backupMetric(metrics: Metrics, dataDir: string): void {
  const backup = metrics.gauge(
    'signalbox_last_backup_timestamp_seconds',
    'When the payments were last backed up, as Unix time; 0 if they never were.',
    {},
  )
  metrics.beforeRead(() => backup.set({}, lastBackupAt(dataDir) / 1_000))
}

/**
 * In ms since 1970; 0: never.
 * @forTests What a command has noted.
 */
export function lastBackupAt(dataDir: string): number {
  try {
    return statSync(noteIn(dataDir)).mtimeMs
  } catch {
    return 0
  }
}

/** `make` fills an empty file beside it, which then takes its name. */
async function making<Made>(file: string, make: (fresh: string) => Promise<Made>): Promise<Made> {
  const fresh = `${file}.${process.pid}.tmp`
  const opened = await open(fresh, 'wx', 0o600).catch((error: unknown) => {
    throw refused(`${file} cannot be written (${errorCode(error)}).`, error)
  })
  await opened.close()
  try {
    const made = await make(fresh)
    // After a power loss the name must not lead to half of it.
    const written = await open(fresh, 'r+')
    await written.sync().finally(() => written.close())
    await rename(fresh, file)
    return made
  } finally {
    // A copy that was refused may have been open, with its log beside it.
    for (const part of ['', '-wal', '-shm', '-journal'])
      await rm(`${fresh}${part}`, { force: true })
  }
}

function copyFrom(file: string, fresh: string): void {
  const sqlite = openSqlite(file)
  try {
    sqlite.all('VACUUM INTO ?', fresh)
  } finally {
    sqlite.close()
  }
}

async function download({ url, authToken }: RemoteDatabase, fresh: string) {
  const inTime = (request: Request) => fetchUntil(AbortSignal.timeout(WITHIN_MS))(request)
  const client = createClient({
    url,
    ...(authToken && { authToken }),
    fetch: inTime,
    intMode: 'bigint',
  })
  try {
    // All reads see the database as of the first one.
    const moment = await client.transaction('read')
    await within(fresh, async (sqlite) => {
      sqlite.exec('BEGIN')
      await copyTables(
        async (sql, args = {}) => (await moment.execute(bind({ sql, args }))).rows as object[],
        async (sql, args = {}) => void sqlite.all(sql, args),
      )
      sqlite.exec('COMMIT')
    })
    await moment.rollback()
  } finally {
    client.close()
  }
}

/** What was saved after a backup is not in it, and a save may still be under way somewhere. */
const BATCHES_AHEAD = 1_000_000

/** A gateway may have news about it since. */
const OPEN = `status = 'Pending' OR EXISTS (SELECT 1 FROM payment_refunds r
  WHERE r.transaction_id = payment_transactions.id AND r.status IN ('claimed', 'accepted'))`

/**
 * All payments are marked as the other installation's, which also delivers their events. An open
 * one also gives up its keys: a new charge with one of them must be another payment.
 */
const AS_COPY = [
  'UPDATE payment_outbox SET done_at = created_at WHERE done_at IS NULL',
  "DELETE FROM payment_deliveries WHERE status = 'pending'",
  `UPDATE payment_transactions SET next_check_at = NULL,
    installation = coalesce(installation, (SELECT installation FROM payment_ledger)),
    idempotency_key = iif(status = 'Pending', NULL, idempotency_key)`,
  `DELETE FROM payment_charge_keys WHERE transaction_id IN
    (SELECT id FROM payment_transactions WHERE status = 'Pending')`,
  'UPDATE payment_ledger SET installation = lower(hex(randomblob(16)))',
]

export interface Restored extends Copy {
  open: number
}

/**
 * Makes an empty database of a backup: how many payments it has, and how many of them are open. The
 * sweeper of the next start asks the gateways about those. `now` in ms. `asCopy`: the database that
 * was backed up goes on; this one leaves its open payments alone. Throws StartError.
 */
export async function restore(
  backup: string,
  location: DatabaseLocation,
  now: number,
  { asCopy = false }: { asCopy?: boolean } = {},
): Promise<Restored> {
  if (!existsSync(backup)) throw refused(`There is no file ${backup}.`)
  // The backup stays as it is: only a copy of it is opened.
  const prepare = (copy: string) => prepareCopy(backup, copy, asCopy ? undefined : now)
  if ('file' in location) {
    const { file } = location
    if (existsSync(file)) throw refused(`${file} exists: restore into an empty data folder.`)
    makePrivateFolder(dirname(file))
    return await making(file, prepare)
  }
  const dir = await mkdtemp(join(tmpdir(), 'signalbox-restore-'))
  try {
    const copy = join(dir, 'payments.db')
    const found = await prepare(copy)
    await upload(copy, location)
    return found
  } finally {
    await rm(dir, { recursive: true })
  }
}

/** `checkAt`: of what is open. Undefined: another installation goes on with it. */
async function prepareCopy(
  backup: string,
  copy: string,
  checkAt: number | undefined,
): Promise<Restored> {
  await copyFile(backup, copy)
  await chmod(copy, 0o600)
  return await within(copy, async (sqlite) => {
    await readUsable(sqlite, backup)
    // Only a database of this schema has an id that can be drawn anew.
    if (checkAt === undefined) await prepareSchema(databaseOver(sqlite))
    const counts = sqlite.transaction(() => {
      sqlite.all('UPDATE payment_ledger SET batch = batch + ?', BATCHES_AHEAD)
      if (checkAt === undefined) for (const sql of AS_COPY) sqlite.all(sql)
      else sqlite.all(`UPDATE payment_transactions SET next_check_at = ? WHERE ${OPEN}`, checkAt)
      return { open: countIn(sqlite, OPEN) }
    })
    return { ...(await lookIn(sqlite)), ...counts }
  }).catch((error: unknown) => {
    throw error instanceof StartError ? error : unusable(backup, `${error}.`)
  })
}

async function upload(copy: string, location: RemoteDatabase): Promise<void> {
  const database = libsqlDatabase(location, Date.now)
  const [[found] = []] = await database.read([{ sql: `${OBJECTS} LIMIT 1`, args: {} }])
  if (found) throw refused('The database that LIBSQL_URL names has payments: name an empty one.')
  await within(copy, async (sqlite) =>
    copyTables(
      async (sql, args = {}) => sqlite.all(sql, args),
      async (sql, args = {}) =>
        void (await database.write([{ sql, args }], AbortSignal.timeout(WITHIN_MS))),
    ),
  )
}

/**
 * A table comes after those that it refers to. The number of the schema is last: until then, an
 * edge takes the database for an empty one, and writes nothing.
 */
const OBJECTS = `SELECT type, name, sql FROM sqlite_master
  WHERE (tbl_name LIKE 'payment|_%' ESCAPE '|' OR tbl_name = 'ended_sessions')
    AND sql IS NOT NULL
  ORDER BY name = 'payment_schema', type <> 'table', rowid`

/** A row has 64 KiB of a webhook, and some. A server sends 10 MiB at once. */
const ROWS_AT_ONCE = 100

type Read = (sql: string, args?: Record<string, Value>) => Promise<readonly object[]>
type Write = (sql: string, args?: Record<string, Value>) => Promise<void>

async function copyTables(read: Read, write: Write): Promise<void> {
  for (const { type, name, sql } of (await read(OBJECTS)) as Row[]) {
    await write(String(sql))
    if (type === 'table') await copyRows(String(name), read, write)
  }
}

/** Rows pass as JSON: no value is read here. */
async function copyRows(table: string, read: Read, write: Write): Promise<void> {
  const info = (await read(`SELECT name FROM pragma_table_info('${table}')`)) as Row[]
  const names = info.map(({ name }) => String(name))
  const columns = names.join(', ')
  const page = `SELECT rowid AS its_rowid, ${columns} FROM ${table} WHERE rowid > :after
    ORDER BY rowid LIMIT ${ROWS_AT_ONCE}`
  const insert = insertRows(table, names)
  let after = 0
  for (;;) {
    const select = `SELECT max(its_rowid) AS last, json_group_array(json_array(${columns})) AS rows`
    const [{ last, rows } = {}] = (await read(`${select} FROM (${page})`, { after })) as Row[]
    if (last == null) return
    await write(insert, { rows: String(rows) })
    after = Number(last)
  }
}
