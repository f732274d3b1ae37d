// What a repository stores in its own SQLite: its records, the sums over their hashes, its log of
// messages, and its one row of state. Synchronous, because a repository decides and writes in one
// turn.

import type { Sql, SqlValue } from '../../shared/sql.ts'
import { messageFrame, parseEventId } from '../streams/sse.ts'
import {
  type BoardConfig,
  BUCKETS,
  bucketOf,
  type DataRecord,
  EMPTY_HASH,
  type Key,
  type LightTask,
  type Message,
  parseKey,
  type Session,
  type Task,
  toggleHash,
} from '../wire.ts'
import type {
  ChangedRow,
  Cursor,
  CursorRow,
  List,
  PutResult,
  RepositoryState,
  Row,
  SessionFilter,
  TaskFilter,
} from './board-rows.ts'
import { claimReads } from './claim-reads-sqlite.ts'
import {
  conditions,
  covered,
  joinObjects,
  type Overlay,
  SESSION_CONDITIONS,
  type StoredTask,
  TASK_CONDITIONS,
} from './columns-sqlite.ts'
import { type OverlaysOf, putRecords, TABLE_OF } from './put-records-sqlite.ts'

type RowValues = { id: string; hash: string; json: string }
type PlacedValues = RowValues & { at: number }

/** Before every row. */
const NEWEST: Cursor = { at: Number.MAX_VALUE, id: '' }

/**
 * Messages that a reconnecting client can still get one by one.
 * @forTests One message more than it.
 */
export const LOG_ROWS = 1_024

export type BoardStore = ReturnType<typeof sqliteBoardStore>

/** Those of files, and claims, which are sessions as well. */
const SESSIONS = `(
  SELECT id, hash, task, actor, status, health, started_at, seq, json FROM sessions UNION ALL
  SELECT id, hash, task, actor, status, health, started_at, seq, json FROM claims)`
const ROWS_OF: Record<List, string> = { tasks: 'tasks', sessions: SESSIONS }

/** `epoch` and `kept` are used when this database is new: the epoch names the life of its log. */
export function sqliteBoardStore(
  sql: Sql,
  epoch: string,
  overlaysOf: OverlaysOf,
  kept: Pick<RepositoryState, 'main'> = {},
) {
  const first: RepositoryState = {
    ...kept,
    epoch,
    run: 0,
    batch: 0,
    published: false,
    tasksRev: 0,
    sessionsRev: 0,
    lacking: false,
    pending: {},
    store: 'missing',
  }
  sql.all(
    'INSERT INTO repository (one, state) VALUES (1, ?) ON CONFLICT DO NOTHING',
    JSON.stringify(first),
  )

  const state = (): RepositoryState => {
    const [row] = sql.all<{ state: string }>('SELECT state FROM repository')
    return row ? (JSON.parse(row.state) as RepositoryState) : first
  }
  /** Of this database, for all its life. */
  const life = state().epoch

  const one = (query: string, ...values: SqlValue[]) => sql.all<RowValues>(query, ...values)[0]
  const seqOf = (query: string, ...values: number[]) =>
    sql.all<{ seq: number | null }>(query, ...values)[0]?.seq ?? undefined
  const head = () => seqOf('SELECT max(seq) AS seq FROM changes') ?? 0
  const oldest = () => seqOf('SELECT min(seq) AS seq FROM changes') ?? 1

  // The 256 sums, held in memory and written once a turn: a message of a thousand records must not
  // write a thousand rows of sums as well, since rows are what the platform charges for.
  let sums: string[] | undefined
  const changedSums = new Set<number>()
  const loadSums = (): string[] => {
    if (sums) return sums
    sums = new Array<string>(BUCKETS).fill(EMPTY_HASH)
    for (const row of sql.all<{ n: number; sum: string }>('SELECT n, sum FROM buckets')) {
      sums[row.n] = row.sum
    }
    return sums
  }
  const toggle = (n: number, hash: string): void => {
    const known = loadSums()
    known[n] = toggleHash(known[n] ?? EMPTY_HASH, hash)
    changedSums.add(n)
  }

  return {
    /** All of it or nothing; `run` must not await, and ends with `save` if it changed anything. */
    transaction<T>(run: () => T): T {
      try {
        return sql.transaction(run)
      } catch (error) {
        // What is in memory never happened.
        sums = undefined
        changedSums.clear()
        throw error
      }
    },
    state,
    save(state: RepositoryState): void {
      for (const n of changedSums) {
        const sum = loadSums()[n] ?? EMPTY_HASH
        sql.all('INSERT OR REPLACE INTO buckets (n, sum) VALUES (?, ?)', n, sum)
      }
      changedSums.clear()
      sql.all('UPDATE repository SET state = ?', JSON.stringify(state))
    },

    /** Writes those that are not stored with the same hash. `seq`: of the next message. */
    put: (records: readonly DataRecord[], seq: number): PutResult[] => [
      ...putRecords(sql, records, seq, { toggle, overlaysOf }),
    ],
    /** The key that clients know the removed record by (of a run, its task's); undefined: none. */
    remove(key: Key, seq: number): Key | undefined {
      const { kind, id } = parseKey(key)
      const table = TABLE_OF[kind]
      const owner = kind === 'run' ? 'task' : 'id'
      const [old] = sql.all<{ hash: string; owner: string }>(
        `DELETE FROM ${table} WHERE id = ? RETURNING hash, ${owner} AS owner`,
        id,
      )
      if (!old) return undefined
      toggle(bucketOf(key), old.hash)
      if (kind === 'task' || kind === 'session') {
        sql.all('INSERT OR REPLACE INTO gone (list, id, seq) VALUES (?, ?, ?)', table, id, seq)
      }
      return kind === 'run' ? `task:${old.owner}` : key
    },
    /** Lays a claim over a task, or takes it off. `seq`: the number of the next message. */
    layOver(id: string, overlay: Overlay | undefined, seq: number): void {
      const [row] = sql.all<{ light: string; published: string | null }>(
        'SELECT light, published FROM tasks WHERE id = ?',
        id,
      )
      if (!row) return
      const { light, published, execution } = covered(row.published ?? row.light, overlay)
      if (light === row.light) return
      sql.all(
        'UPDATE tasks SET light = ?, published = ?, execution = ?, seq = ? WHERE id = ?',
        light,
        published,
        execution,
        seq,
        id,
      )
    },
    /** As it was published. */
    stored(id: string): StoredTask | undefined {
      const [row] = sql.all<{ fileHash: string; copyHash: string; light: string }>(
        `SELECT file_hash AS fileHash, ifnull(copy_hash, file_hash) AS copyHash,
          ifnull(published, light) AS light FROM tasks WHERE id = ?`,
        id,
      )
      if (!row) return undefined
      const { light, ...hashes } = row
      return { ...(JSON.parse(light) as LightTask), ...hashes }
    },
    ...claimReads(sql),
    /** The session of a claim is no longer kept. */
    forgetSession(id: string): void {
      sql.all(
        `INSERT OR REPLACE INTO gone (list, id, seq) VALUES ('sessions', ?, ?)`,
        id,
        head() + 1,
      )
    },
    root: (): string => loadSums().reduce(toggleHash, EMPTY_HASH),
    /** The 256 bucket sums. */
    buckets: (): string[] => [...loadSums()],
    /** Keys and hashes of these buckets. */
    entries(wanted: readonly number[]): Map<Key, string> {
      const entries = new Map<Key, string>()
      const list = JSON.stringify(wanted)
      for (const kind of ['task', 'session', 'run', 'board'] as const) {
        const rows = sql.all<{ id: string; hash: string }>(
          `SELECT id, hash FROM ${TABLE_OF[kind]}
            WHERE bucket IN (SELECT value FROM json_each(?))`,
          list,
        )
        for (const row of rows) entries.set(`${kind}:${row.id}`, row.hash)
      }
      return entries
    },

    /** Seq of the newest message; 0 when there never was one. */
    head,
    /** Seq of the oldest message kept; 1 when none was dropped yet. */
    oldest,
    /** The seq of an event id of this log; undefined: of another epoch, or too old. */
    placeOf(eventId: string, ofEpoch: string): number | undefined {
      const cursor = parseEventId(eventId)
      const isKnown =
        cursor?.epoch === ofEpoch && cursor.seq <= head() && cursor.seq >= oldest() - 1
      return isKnown ? cursor.seq : undefined
    },
    /** Appends and drops what is too old. `at` in ms. Returns what every stream is sent. */
    append(message: Message, at: number): string {
      const seq = head() + 1
      const json = JSON.stringify(message)
      sql.all('INSERT INTO changes (seq, at, message) VALUES (?, ?, ?)', seq, at, json)
      sql.all('DELETE FROM changes WHERE seq <= ?', seq - LOG_ROWS)
      return messageFrame({ epoch: life, seq }, message)
    },
    /** Messages after `seq`, oldest first. The caller has checked that none of them was dropped. */
    messagesAfter: (seq: number): Message[] =>
      sql
        .all<{ message: string }>('SELECT message FROM changes WHERE seq > ? ORDER BY seq', seq)
        .map((row) => JSON.parse(row.message) as Message),
    /**
     * The newest seq that is not of the time after `from`, up to `now` (ms). What is later than
     * `now` was appended before the clock was set back, and so was all before it.
     */
    seqBefore(from: number, now: number): number {
      const earlier = seqOf(
        'SELECT max(seq) AS seq FROM changes WHERE at <= ? OR at > ?',
        from,
        now,
      )
      return earlier ?? oldest() - 1
    },

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
    /** Forgets what was removed before the message `seq`. */
    forgetGone: (seq: number): void => void sql.all('DELETE FROM gone WHERE seq < ?', seq),
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
