// What readers get of a repository's tables: rows of tasks, sessions and runs, in pages or by what
// changed of them.

import type { Sql, SqlValue } from '../../shared/sql.ts'
import type { BoardConfig, Session, Task } from '../wire.ts'
import type {
  ChangedRow,
  Cursor,
  CursorRow,
  List,
  Row,
  SessionFilter,
  TaskFilter,
} from './board-rows.ts'
import { SESSION_CONDITIONS, TASK_CONDITIONS } from './columns-sqlite.ts'

type RowValues = { id: string; hash: string; json: string }
type PlacedValues = RowValues & { at: number }

/** Before every row. */
const NEWEST: Cursor = { at: Number.MAX_VALUE, id: '' }

/** Those of files, and claims, which are sessions as well. */
const SESSIONS = `(
  SELECT id, hash, task, actor, status, health, started_at, seq, json FROM sessions UNION ALL
  SELECT id, hash, task, actor, status, health, started_at, seq, json FROM claims)`
const ROWS_OF: Record<List, string> = { tasks: 'tasks', sessions: SESSIONS }

export type ListReads = ReturnType<typeof listReads>

export function listReads(sql: Sql) {
  const one = (query: string, ...values: SqlValue[]) => sql.all<RowValues>(query, ...values)[0]
  return {
    /** One page of light tasks, ordered by id, after `after`. */
    tasks(filter: TaskFilter, after: string, limit: number): Row[] {
      const where = conditions(TASK_CONDITIONS, filter)
      return sql.all<RowValues>(
        `SELECT id, hash, light AS json FROM tasks
          WHERE ${where.text} AND id > ? ORDER BY id LIMIT ?`,
        ...where.values,
        after,
        limit,
      )
    },
    /** All of them, or those of `ids`. */
    lightTasks(ids?: ReadonlySet<string>): Map<string, Task> {
      const wanted = ids ? 'WHERE id IN (SELECT value FROM json_each(?))' : ''
      const rows = sql.all<{ id: string; light: string }>(
        `SELECT id, light FROM tasks ${wanted}`,
        ...(ids ? [JSON.stringify([...ids])] : []),
      )
      return new Map(rows.map(({ id, light }) => [id, JSON.parse(light) as Task]))
    },
    /** The whole task, body included. */
    task(id: string): Row | undefined {
      const [row] = sql.all<{ hash: string; light: string; rest: string }>(
        'SELECT hash, light, rest FROM tasks WHERE id = ?',
        id,
      )
      return row && { id, hash: row.hash, json: joinObjects(row.light, row.rest) }
    },
    /** One page of sessions, newest first, after `after`. */
    sessions(filter: SessionFilter, after: Cursor | undefined, limit: number): CursorRow[] {
      const where = conditions(SESSION_CONDITIONS, filter)
      const { at, id } = after ?? NEWEST
      return sql.all<PlacedValues>(
        `SELECT id, hash, started_at AS at, json FROM ${SESSIONS}
          WHERE ${where.text} AND (started_at, id) < (?, ?)
          ORDER BY started_at DESC, id DESC LIMIT ?`,
        ...where.values,
        at,
        id,
        limit,
      )
    },
    /** One page of the rows that changed, in the order of their changes, after `after`. */
    changed(
      list: List,
      filter: TaskFilter & SessionFilter,
      after: { seq: number; id: string },
      limit: number,
    ): ChangedRow[] {
      const where = conditions(list === 'tasks' ? TASK_CONDITIONS : SESSION_CONDITIONS, filter)
      return sql
        .all<RowValues & { seq: number; shown: number }>(
          `SELECT id, hash, seq, ${list === 'tasks' ? 'light' : 'json'} AS json,
            (${where.text}) IS TRUE AS shown
            FROM ${ROWS_OF[list]} WHERE (seq, id) > (?, ?) ORDER BY seq, id LIMIT ?`,
          ...where.values,
          after.seq,
          after.id,
          limit,
        )
        .map((row) => ({ ...row, shown: row.shown === 1 }))
    },
    /** Ids of what was removed after `seq`. */
    gone: (list: List, seq: number): string[] =>
      sql
        .all<{ id: string }>('SELECT id FROM gone WHERE list = ? AND seq > ?', list, seq)
        .map(({ id }) => id),
    /** Whether more than half of the list changed after `seq`. Reads no more rows than that. */
    isMostlyNew(list: List, seq: number): boolean {
      const [row] = sql.all<{ n: number }>(
        `SELECT (SELECT count(*) FROM ${ROWS_OF[list]} WHERE seq > ?)
          + (SELECT count(*) FROM gone WHERE list = ? AND seq > ?) AS n`,
        seq,
        list,
        seq,
      )
      const n = row?.n ?? 0
      if (n === 0) return false
      const beyond = `SELECT 1 AS there FROM ${ROWS_OF[list]} LIMIT 1 OFFSET ?`
      return sql.all(beyond, 2 * n - 1).length === 0
    },
    /** Those that have not ended. */
    openSessions: (): Session[] =>
      sql
        .all<{ json: string }>(`SELECT json FROM ${SESSIONS} WHERE health IN ('active', 'stalled')`)
        .map(({ json }) => JSON.parse(json) as Session),
    session: (id: string): Row | undefined =>
      one(`SELECT id, hash, json FROM ${SESSIONS} WHERE id = ?`, id),
    /** One page of a task's runs, newest first, after `after`. */
    runs(task: string, after: Cursor | undefined, limit: number): CursorRow[] {
      const { at, id } = after ?? NEWEST
      return sql.all<PlacedValues>(
        `SELECT id, hash, at, json FROM runs WHERE task = ? AND (at, id) < (?, ?)
          ORDER BY at DESC, id DESC LIMIT ?`,
        task,
        at,
        id,
        limit,
      )
    },
    /** Hashes of a task's runs and sessions. */
    relatedHashes: (task: string): string[] =>
      sql
        .all<{ hash: string }>(
          `SELECT hash FROM runs WHERE task = ?
            UNION ALL SELECT hash FROM ${SESSIONS} WHERE task = ?`,
          task,
          task,
        )
        .map((row) => row.hash),
    config(): BoardConfig | undefined {
      const row = one('SELECT id, hash, json FROM boards')
      return row && (JSON.parse(row.json) as BoardConfig)
    },
    counts(): { tasks: number; sessions: number; runs: number; invalid: number } {
      const [row] = sql.all<{ tasks: number; invalid: number; sessions: number; runs: number }>(
        `SELECT (SELECT count(*) FROM tasks) AS tasks,
          (SELECT count(*) FROM tasks WHERE invalid = 1) AS invalid,
          (SELECT count(*) FROM ${SESSIONS}) AS sessions, (SELECT count(*) FROM runs) AS runs`,
      )
      return row ?? { tasks: 0, invalid: 0, sessions: 0, runs: 0 }
    },
  }
}

function conditions(
  known: Readonly<Record<string, string>>,
  filter: Readonly<Record<string, string | boolean | undefined>>,
) {
  const given = Object.entries(known).flatMap(([name, text]) => {
    const value = filter[name]
    if (value === undefined) return []
    return [{ text, value: typeof value === 'boolean' ? Number(value) : value }]
  })
  return {
    text: given.map(({ text }) => text).join(' AND ') || 'true',
    values: given.map(({ value }) => value),
  }
}

// Two JSON objects without a common key, as one. SQLite's json_patch would drop what is null.
const joinObjects = (a: string, b: string) => (b === '{}' ? a : `${a.slice(0, -1)},${b.slice(1)}`)
