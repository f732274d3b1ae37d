// Which database of payments a command works on, that of a data folder or the one that LIBSQL_URL
// names, and how it reports.

import { resolve } from 'node:path'
import { DATA_DIR, databaseIn } from '../../system/data/data-folder.ts'
import { readLocalJson } from '../../system/data/local-json.ts'
import type { DatabaseLocation } from '../../system/database/backup/backup.ts'
import { lastDatabase } from '../../system/database/last-database.ts'
import { StartError } from '../../system/start-error.ts'
import { isServed } from '../../worker/payments/config/payments-config.ts'
import { fileOf, isEmbedded } from '../../worker/payments/ledger/libsql/embedded-libsql.ts'
import { messageOf } from '../../worker/shared/log.ts'
import type { Context } from '../context.ts'
import { variablesIn } from '../environment.ts'
import { namedFolder, variablesOf } from '../running-system.ts'
import { type OptionsOf, Setting } from '../setting.ts'
import { ENV } from '../settings.ts'
import { noticeTo } from '../terminal.ts'
import { type Input, UsageError } from '../usage.ts'

/** The options of commands that open the database of payments themselves. */
export const DATABASE = [
  new Setting('--data <DIR>', 'data folder that has the database (or DATA_DIR) [.signalbox]'),
  ENV,
] as const

export type DatabaseOptions = OptionsOf<typeof DATABASE>

/**
 * Prints the sentence that `work` answers. Where the database or the disk fails, that is a sentence
 * too, with exit code 1. Throws UsageError or StartError for 2.
 */
export const onDatabase = async (
  input: Input<DatabaseOptions>,
  context: Context,
  work: (location: DatabaseLocation) => Promise<string>,
): Promise<number> => await on(await namedDatabase(input, context), context, work)

/** As `onDatabase`, with the database of what runs with the data folder, or ran last. */
export async function onUsedDatabase(
  input: Input<DatabaseOptions>,
  context: Context,
  work: (location: DatabaseLocation) => Promise<string>,
): Promise<number> {
  const named = await namedDatabase(input, context)
  const { dataDir } = named
  if (dataDir === undefined) return await on(named, context, work)
  const location = (await runningDatabase(dataDir, context)) ?? named
  const [found, last] = [nameOf(location), await lastDatabase(dataDir)]
  if (last === undefined || last === found) return await on(location, context, work)
  const why = `What ran last with ${dataDir} had its payments in ${last}, and ${found} is another`
  throw new UsageError(`${why}: name that by LIBSQL_URL, in --env, or start Signalbox again.`)
}

const nameOf = (location: DatabaseLocation): string =>
  'file' in location ? location.file : new URL(location.url).host

/** Undefined: nothing runs there, or only its environment knows its database. */
async function runningDatabase(
  dataDir: string,
  { env }: Context,
): Promise<DatabaseLocation | undefined> {
  const local = await readLocalJson(dataDir).catch(() => undefined)
  if (!local) return undefined
  if (!('serve' in local)) {
    const { database: url, databaseToken: authToken } = local
    if (isEmbedded(url)) return { file: fileOf(url), dataDir }
    return { url, ...(authToken && { authToken }), dataDir }
  }
  const variables = await variablesIn(undefined, await variablesOf(local.serve, env))
  const { LIBSQL_URL: url = '', LIBSQL_AUTH_TOKEN: authToken } = variables
  return isServed(url) ? { url, ...(authToken && { authToken }), dataDir } : undefined
}

async function on(
  location: DatabaseLocation,
  context: Context,
  work: (location: DatabaseLocation) => Promise<string>,
): Promise<number> {
  try {
    context.io.out(`${await work(location)}\n`)
    return 0
  } catch (error) {
    if (error instanceof UsageError || error instanceof StartError) throw error
    // The rest of an address may be secret.
    const name = 'file' in location ? location.file : new URL(location.url).host
    noticeTo(context.io)(`${name}: ${messageOf(error).replace(/\.$/, '')}.`)
    return 1
  }
}

async function namedDatabase(
  { options }: Input<DatabaseOptions>,
  { env, cwd }: Context,
): Promise<DatabaseLocation> {
  const variables = await variablesIn(options.env, env)
  const { LIBSQL_URL: url = '', LIBSQL_AUTH_TOKEN: authToken, DATA_DIR: dir } = variables
  if (options.data !== undefined && url !== '') {
    throw new UsageError('--data and LIBSQL_URL name two databases: give one of them.')
  }
  if (isEmbedded(url)) return { file: resolve(cwd, fileOf(url)) }
  if (isServed(url)) {
    const folder = dir && { dataDir: namedFolder(cwd, dir) }
    return { url, ...(authToken && { authToken }), ...folder }
  }
  if (url !== '')
    throw new UsageError('LIBSQL_URL must begin with libsql:, https:, http: or file:.')
  const dataDir = namedFolder(cwd, options.data ?? (dir || DATA_DIR))
  return { file: fileOf(databaseIn(dataDir)), dataDir }
}

export const countOf = (payments: number): string =>
  payments === 1 ? '1 payment' : `${payments} payments`
