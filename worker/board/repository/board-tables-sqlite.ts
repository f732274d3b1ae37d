// The tables of a repository in its own SQLite: those of its board, which are dropped and published
// anew when they change, and those that are kept.

import type { Sql } from '../../shared/sql.ts'
import { ACTIVITY_TABLES } from '../activity/activity-sqlite.ts'
import { RECORDED_TABLES } from '../activity/recorded-sqlite.ts'
import { CLAIM_TABLES } from '../claims/claim-store-sqlite.ts'
import { NOTICE_TABLES } from '../notices/notice-store-sqlite.ts'
import { AGENDA_TABLES } from '../store/agenda-sqlite.ts'
import type { RepositoryState } from '../store/board-rows.ts'

/**
 * Raise it with every change of the tables, but for a new one that is kept. On another number the
 * board's tables are dropped: what they hold is a copy of files, and the sidecar sends it again.
 * Schema 1 had no number.
 * @forTests A database of another one.
 */
export const BOARD_SCHEMA = 6

// `light` is what lists show, `rest` what only the whole task holds: a list of 100,000 tasks must
// not read their bodies, and SQLite leaves the pages of a last, large column alone.
// The indexes have the order of the lists: without them every page sorts all rows again. `seq` is
// the number that the next message had when the row changed, or went. `published` is what `light`
// was without the claim that is laid over it.
const TABLES = [
  `CREATE TABLE IF NOT EXISTS repository (
    one INTEGER PRIMARY KEY CHECK (one = 1), state TEXT NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS buckets (n INTEGER PRIMARY KEY, sum TEXT NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS tasks (
    id TEXT PRIMARY KEY, bucket INTEGER NOT NULL, hash TEXT NOT NULL, file_hash TEXT NOT NULL,
    copy_hash TEXT, status TEXT NOT NULL, assignee TEXT, ready INTEGER NOT NULL,
    parent TEXT, part_of TEXT, in_trees INTEGER NOT NULL, execution TEXT,
    invalid INTEGER NOT NULL, seq INTEGER NOT NULL, published TEXT, light TEXT NOT NULL,
    rest TEXT NOT NULL)`,
  `CREATE INDEX IF NOT EXISTS tasks_changed ON tasks (seq, id)`,
  `CREATE TABLE IF NOT EXISTS sessions (
    id TEXT PRIMARY KEY, bucket INTEGER NOT NULL, hash TEXT NOT NULL, task TEXT NOT NULL,
    actor TEXT NOT NULL, status TEXT NOT NULL, health TEXT NOT NULL, started_at REAL NOT NULL,
    seq INTEGER NOT NULL, json TEXT NOT NULL)`,
  `CREATE INDEX IF NOT EXISTS sessions_changed ON sessions (seq, id)`,
  `CREATE INDEX IF NOT EXISTS sessions_newest ON sessions (started_at DESC, id DESC)`,
  `CREATE INDEX IF NOT EXISTS sessions_of_task ON sessions (task, started_at DESC, id DESC)`,
  `CREATE TABLE IF NOT EXISTS runs (
    id TEXT PRIMARY KEY, bucket INTEGER NOT NULL, hash TEXT NOT NULL, task TEXT NOT NULL,
    at REAL NOT NULL, json TEXT NOT NULL)`,
  `CREATE INDEX IF NOT EXISTS runs_of_task ON runs (task, at DESC, id DESC)`,
  `CREATE TABLE IF NOT EXISTS boards (
    id TEXT PRIMARY KEY, bucket INTEGER NOT NULL, hash TEXT NOT NULL, json TEXT NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS gone (
    list TEXT NOT NULL, id TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (list, id))`,
  `CREATE INDEX IF NOT EXISTS gone_since ON gone (seq)`,
  `CREATE TABLE IF NOT EXISTS changes (
    seq INTEGER PRIMARY KEY, at REAL NOT NULL, message TEXT NOT NULL)`,
]

/**
 * What spent a one-time link or a ticket stays: dropped, it could be spent again. It is in no file,
 * so a change of this table has to carry its rows over.
 */
const KEPT = [
  `CREATE TABLE IF NOT EXISTS spent_ids (id TEXT PRIMARY KEY, expires_at REAL NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS board_schema (
    one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL)`,
  ...CLAIM_TABLES,
  ...AGENDA_TABLES,
  ...ACTIVITY_TABLES,
  ...NOTICE_TABLES,
  ...RECORDED_TABLES,
]

const BOARD = ['repository', 'buckets', 'tasks', 'sessions', 'runs', 'boards', 'gone', 'changes']

/** Whether the tables were made: where not, nothing was ever published or subscribed to. */
export const hasBoardTables = (sql: Sql): boolean =>
  sql.all(`SELECT 1 AS found FROM sqlite_master WHERE name = 'repository'`).length > 0

/** What is kept of a board that is dropped. */
export function createBoardTables(sql: Sql): Pick<RepositoryState, 'main'> {
  return sql.transaction(() => {
    let kept: Pick<RepositoryState, 'main'> = {}
    for (const table of KEPT) sql.all(table)
    const [known] = sql.all<{ version: number }>('SELECT version FROM board_schema')
    // An object that wakes writes nothing: Cloudflare counts each row.
    if (known?.version !== BOARD_SCHEMA) {
      if (known) kept = mainTreeIn(sql)
      for (const table of BOARD) sql.all(`DROP TABLE IF EXISTS ${table}`)
      // The numbers of messages begin anew.
      sql.all('UPDATE claims SET seq = 0')
      sql.all('INSERT OR REPLACE INTO board_schema (one, version) VALUES (1, ?)', BOARD_SCHEMA)
    }
    for (const table of TABLES) sql.all(table)
    return kept
  })
}

/**
 * Where the main tree was: without it, what a switch meanwhile took away would look deleted. No
 * board has it whose schema is below 6.
 */
function mainTreeIn(sql: Sql): Pick<RepositoryState, 'main'> {
  const [row] = sql.all<{ main: string | null }>(
    "SELECT json_extract(state, '$.main') AS main FROM repository",
  )
  return row?.main ? { main: JSON.parse(row.main) } : {}
}
