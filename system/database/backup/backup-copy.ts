// What a copy of the database of payments holds, and whether it can be restored.

import { existsSync } from 'node:fs'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SCHEMA_VERSION } from '../../../worker/payments/domain/rows.ts'
import { databaseOver } from '../../../worker/payments/ledger/libsql/embedded-libsql.ts'
import { readInstallation } from '../../../worker/payments/ledger/libsql/ledger-row-libsql.ts'
import {
  mismatchOf,
  readSchemaState,
  type SchemaState,
} from '../../../worker/payments/ledger/libsql/schema-version-libsql.ts'
import type { Row, Statement } from '../../../worker/payments/ledger/libsql/statement-libsql.ts'
import { openToRead } from '../../../worker/shared/sql-node.ts'
import { openSqlite, type Sqlite } from '../../../worker/shared/sqlite-libsql.ts'
import { StartError } from '../../start-error.ts'
import { readScripts } from '../migration-scripts.ts'

/** What a copy holds. */
export interface Copy {
  payments: number
  /** The id of the database. Undefined: its schema has none yet. */
  installation: string | undefined
}

export const refused = (sentence: string, cause?: unknown) =>
  new StartError('bad_configuration', sentence, { cause })

/** What a file of `backUp` holds. Undefined: there is none, or it is something else. */
export async function lookAt(file: string): Promise<Copy | undefined> {
  if (!existsSync(file)) return undefined
  try {
    // Ours would leave its log beside the copy.
    const sqlite = openToRead(file)
    try {
      return await lookIn(sqlite)
    } finally {
      sqlite.close()
    }
  } catch {
    return undefined
  }
}

interface Reader {
  all(sql: string): object[]
}

export async function lookIn(sqlite: Reader): Promise<Copy> {
  const run = async (statements: readonly Statement[]) =>
    statements.map(({ sql }) => sqlite.all(sql) as Row[])
  const found = await readInstallation(run)
  const installation = found.is === 'made' ? found.id : undefined
  return { payments: countIn(sqlite, 'true'), installation }
}

/**
 * Whether a copy can be restored: what it holds, and its schema. Throws StartError with what is
 * wrong. The file stays as it is.
 */
export async function checkCopy(file: string): Promise<Copy & { schema: number }> {
  if (!existsSync(file)) throw refused(`There is no file ${file}.`)
  const dir = await mkdtemp(join(tmpdir(), 'signalbox-check-'))
  try {
    const copy = join(dir, 'copy.db')
    await copyFile(file, copy)
    return await within(copy, async (sqlite) => {
      const { version } = await readUsable(sqlite, file)
      const expected = (await readScripts()).schema.join('\n')
      const names = sqlite.all<{ name: string }>(
        "SELECT name FROM sqlite_master WHERE type = 'table'",
      )
      const tables = Array.from(
        expected.matchAll(/CREATE TABLE IF NOT EXISTS (\w+)/g),
        ([, it]) => it,
      )
      const missing = tables.filter((it) => !names.some(({ name }) => name === it))
      if (version === SCHEMA_VERSION && missing.length > 0) {
        throw unusable(file, `it lacks ${missing.join(', ')}.`)
      }
      return { ...(await lookIn(sqlite)), schema: version }
    }).catch((error: unknown) => {
      throw error instanceof StartError ? error : unusable(file, `${error}.`)
    })
  } finally {
    await rm(dir, { recursive: true })
  }
}

export const unusable = (file: string, why: unknown) =>
  refused(`${file} cannot be restored: ${why}`, why)

/** Its pages are whole, and its schema is one that this version knows. Throws StartError. */
export async function readUsable(sqlite: Sqlite, file: string): Promise<SchemaState> {
  const [{ quick_check: check } = {}] = sqlite.all<{ quick_check?: string }>('PRAGMA quick_check')
  if (check !== 'ok') throw unusable(file, `it is damaged (${check}).`)
  const state = await readSchemaState(databaseOver(sqlite).read)
  if (state.version === 0) throw unusable(file, 'it is no backup of payments.')
  if (state.version > SCHEMA_VERSION) throw unusable(file, mismatchOf(state, SCHEMA_VERSION))
  return state
}

/** All of it is in the one file afterwards. */
export async function within<Done>(
  file: string,
  work: (sqlite: Sqlite) => Promise<Done>,
): Promise<Done> {
  const sqlite = openSqlite(file)
  try {
    const done = await work(sqlite)
    const [{ journal_mode: mode } = {}] = sqlite.all<{ journal_mode?: string }>(
      'PRAGMA journal_mode = DELETE',
    )
    if (mode !== 'delete') throw new Error(`${file} is in use`)
    return done
  } finally {
    sqlite.close()
  }
}

export function countIn(sqlite: Reader, which: string): number {
  const [row] = sqlite.all(`SELECT COUNT(*) AS n FROM payment_transactions WHERE ${which}`)
  return Number((row as Row | undefined)?.n ?? 0)
}
