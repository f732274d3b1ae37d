// What is due at a time, in the repository's own SQLite: a repository has one alarm, so what is due
// first of each kind stands here. In no schema of the board's.

import type { Sql } from '../../shared/sql.ts'

type Planned = 'claims' | 'sidecar' | 'notices'

export const AGENDA_TABLES = [
  `CREATE TABLE IF NOT EXISTS agenda (what TEXT PRIMARY KEY, at REAL NOT NULL)`,
]

export type Agenda = ReturnType<typeof sqliteAgenda>

export const sqliteAgenda = (sql: Sql) => ({
  /** When the first one of a kind is due, in ms; undefined: none is. */
  plan(what: Planned, at: number | undefined): void {
    if (at === undefined) sql.all('DELETE FROM agenda WHERE what = ?', what)
    else sql.all('INSERT OR REPLACE INTO agenda (what, at) VALUES (?, ?)', what, at)
  },
  planned: (what: Planned): number | undefined =>
    sql.all<{ at: number }>('SELECT at FROM agenda WHERE what = ?', what)[0]?.at,
  /** When the first of all is due. */
  nextDue: (): number | undefined =>
    sql.all<{ at: number | null }>('SELECT min(at) AS at FROM agenda')[0]?.at ?? undefined,
})
