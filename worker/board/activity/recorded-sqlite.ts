// What the history last recorded of each task, in the repository's own SQLite: what is published
// anew is compared with it. In no schema of the board's, as the history itself.

import type { Sql } from '../../shared/sql.ts'
import { insertRows } from '../store/put-records-sqlite.ts'

export const RECORDED_TABLES = [
  `CREATE TABLE IF NOT EXISTS recorded (
    task TEXT PRIMARY KEY, status TEXT NOT NULL, title TEXT NOT NULL, tree TEXT) WITHOUT ROWID`,
]

/** `tree`: only linked worktrees had the task, such as this one. */
export interface Recorded {
  status: string
  title: string
  tree: string | null
}

export type RecordedStore = ReturnType<typeof sqliteRecordedStore>

export const sqliteRecordedStore = (sql: Sql) => ({
  of: (tasks: readonly string[]): Map<string, Recorded> =>
    new Map(
      sql
        .all<{ task: string; status: string; title: string; tree: string | null }>(
          `SELECT task, status, title, tree FROM recorded
            WHERE task IN (SELECT value FROM json_each(?))`,
          JSON.stringify(tasks),
        )
        .map(({ task, ...recorded }) => [task, recorded]),
    ),
  isEmpty: (): boolean => sql.all('SELECT 1 AS found FROM recorded LIMIT 1').length === 0,
  /** Tasks that were recorded, and are not there. */
  missing: (): string[] =>
    sql
      .all<{ task: string }>('SELECT task FROM recorded WHERE task NOT IN (SELECT id FROM tasks)')
      .map(({ task }) => task),
  put: (tasks: readonly ({ task: string } & Recorded)[]): void =>
    insertRows(
      sql,
      'recorded',
      tasks.map(({ task, status, title, tree }) => ({ task, status, title, tree })),
    ),
  forget: (tasks: readonly string[]): void =>
    void sql.all(
      'DELETE FROM recorded WHERE task IN (SELECT value FROM json_each(?))',
      JSON.stringify(tasks),
    ),
})
