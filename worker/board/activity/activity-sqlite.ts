// The rows of the history of a repository in its own SQLite. The table is in no schema of the
// board's, and nothing that is published drops a row of it.

import type { Sql, SqlValue } from '../../shared/sql.ts'
import { insertRows } from '../store/put-records-sqlite.ts'
import { hashAfter, KEPT_ROWS, NO_HASH } from './activity-chain.ts'
import { CLAIM_KINDS, type Described, type Entry, KEPT_MS } from './activity-rows.ts'

export const ACTIVITY_TABLES = [
  // `epoch` and `change`: the message that clients got with it, or get next.
  `CREATE TABLE IF NOT EXISTS activity (
    seq INTEGER PRIMARY KEY, at REAL NOT NULL, kind TEXT NOT NULL, task TEXT, actor TEXT,
    epoch TEXT NOT NULL, change INTEGER NOT NULL, json TEXT NOT NULL, hash TEXT NOT NULL)`,
  `CREATE INDEX IF NOT EXISTS activity_of_task ON activity (task, seq)`,
  `CREATE INDEX IF NOT EXISTS activity_at ON activity (at)`,
]

/** A row as it is stored. */
export interface StoredRow {
  row: Described
  json: string
  hash: string
}

export interface ActivityFilter {
  task?: string
  actor?: string
  kind?: Entry['kind']
}

/** From which row on, and before which. */
export interface Span {
  from: number
  before: number
}

const OF_CLAIMS = `(${CLAIM_KINDS.map((kind) => `'${kind}'`).join(', ')})`

export type ActivityStore = ReturnType<typeof sqliteActivityStore>

export function sqliteActivityStore(sql: Sql) {
  const stored = (where: string, ...values: SqlValue[]): StoredRow[] =>
    sql
      .all<{ json: string; hash: string }>(`SELECT json, hash FROM activity ${where}`, ...values)
      .map((row) => ({ ...row, row: JSON.parse(row.json) as Described }))
  const rows = (where: string, ...values: SqlValue[]) =>
    stored(where, ...values).map(({ row }) => row)
  const seqOf = (query: string, ...values: SqlValue[]) =>
    sql.all<{ seq: number | null }>(query, ...values)[0]?.seq ?? undefined
  const last = () =>
    sql.all<{ seq: number; at: number; hash: string }>(
      'SELECT seq, at, hash FROM activity ORDER BY seq DESC LIMIT 1',
    )[0]
  /** Of those that are kept. All before it are gone, whatever a wrong clock wrote on them. */
  const first = (now: number): number => {
    const head = last()?.seq ?? 0
    // By `+` in the order of the rows: most often the very first one is fresh.
    const fresh = 'SELECT seq FROM activity WHERE +at >= ? ORDER BY seq LIMIT 1'
    return Math.max(seqOf(fresh, now - KEPT_MS) ?? head + 1, head - KEPT_ROWS + 1)
  }
  return {
    last,
    first,
    /** Appends them. `at` in ms. Returns the hash of the last one. */
    append(entries: readonly Entry[], at: number, of: { epoch: string; change: number }): string {
      let { seq, hash } = last() ?? { seq: 0, hash: NO_HASH }
      const time = new Date(at).toISOString()
      const added = entries.map((entry) => {
        seq++
        const json = JSON.stringify({ seq, at: time, ...entry } satisfies Described)
        hash = hashAfter(hash, json)
        const { kind, task = null, actor = null } = entry
        return { seq, at, kind, task, actor, ...of, json, hash }
      })
      insertRows(sql, 'activity', added)
      return hash
    },
    /** Deletes what is kept no longer, but for the last one of it, which has the hash before. */
    prune: (now: number): void =>
      void sql.all('DELETE FROM activity WHERE seq < ?', first(now) - 1),
    /** The newest first. */
    list(
      { task, actor, kind }: ActivityFilter,
      { from, before }: Span,
      limit: number,
    ): StoredRow[] {
      const given = Object.entries({ task, actor, kind }).flatMap(([name, value]) =>
        value === undefined ? [] : [{ text: `AND ${name} = ?`, value }],
      )
      return stored(
        `WHERE seq >= ? AND seq < ? ${given.map(({ text }) => text).join(' ')}
          ORDER BY seq DESC LIMIT ?`,
        from,
        before,
        ...given.map(({ value }) => value),
        limit,
      )
    },
    hashOf: (seq: number): string =>
      sql.all<{ hash: string }>('SELECT hash FROM activity WHERE seq = ?', seq)[0]?.hash ?? NO_HASH,
    /** The first row that was written at this time (ms) or later. */
    firstAt: (at: number): number | undefined =>
      seqOf('SELECT min(seq) AS seq FROM activity WHERE at >= ?', at),
    /** The last row that clients got with this message, or before. */
    lastUpTo: (epoch: string, change: number): number =>
      seqOf(
        'SELECT seq FROM activity WHERE epoch <> ? OR change <= ? ORDER BY seq DESC LIMIT 1',
        epoch,
        change,
      ) ?? 0,
    /** In their order. */
    between: (from: number, to: number): Described[] =>
      rows('WHERE at BETWEEN ? AND ? ORDER BY seq', from, to),
    /** Of claims of this task, before a row: the newest first. */
    ofClaims: (task: string, before: number): Described[] =>
      rows(`WHERE task = ? AND seq < ? AND kind IN ${OF_CLAIMS} ORDER BY seq DESC`, task, before),
    /** Whether there was a row of a claim between these times (ms). */
    hadClaim: (from: number, to: number): boolean =>
      stored(`WHERE at BETWEEN ? AND ? AND kind IN ${OF_CLAIMS} LIMIT 1`, from, to).length > 0,
    /** When this task was there again after a row, in ms. */
    backAt: (task: string, after: number): number | undefined =>
      sql.all<{ at: number }>(
        `SELECT at FROM activity WHERE task = ? AND seq > ? AND kind = 'created'
          ORDER BY seq LIMIT 1`,
        task,
        after,
      )[0]?.at,
  }
}
