// What a repository stores in its own SQLite: its one row of state, its records, and the sums over
// their hashes; with its log of messages, and what readers and claims read. Synchronous, because a
// repository decides and writes in one turn.

import type { Sql } from '../../shared/sql.ts'
import {
  BUCKETS,
  bucketOf,
  type DataRecord,
  EMPTY_HASH,
  type Key,
  type LightTask,
  parseKey,
  toggleHash,
} from '../wire.ts'
import type { PutResult, RepositoryState } from './board-rows.ts'
import { claimReads } from './claim-reads-sqlite.ts'
import { covered, type Overlay, type StoredTask } from './columns-sqlite.ts'
import { listReads } from './list-reads-sqlite.ts'
import { messageLog } from './message-log-sqlite.ts'
import { type OverlaysOf, putRecords, TABLE_OF } from './put-records-sqlite.ts'

/** All of it. Each user names its part: `MessageLog`, `ListReads`, `ClaimReads`, or methods. */
export type BoardStore = ReturnType<typeof sqliteBoardStore>

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
  const log = messageLog(sql, state().epoch)

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
    /** One row, whole: nobody may keep a state across what saves another. */
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
    /** The session of a claim is no longer kept. */
    forgetSession(id: string): void {
      sql.all(
        `INSERT OR REPLACE INTO gone (list, id, seq) VALUES ('sessions', ?, ?)`,
        id,
        log.head() + 1,
      )
    },
    /** Forgets what was removed before the message `seq`. */
    forgetGone: (seq: number): void => void sql.all('DELETE FROM gone WHERE seq < ?', seq),
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

    ...log,
    ...listReads(sql),
    ...claimReads(sql),
  }
}
