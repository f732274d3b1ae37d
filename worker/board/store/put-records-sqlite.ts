// Writes the records of a message. What is stored of them is asked for at once, and several are
// written by one statement: a first publication has a hundred thousand.

import type { Sql, SqlValue } from '../../shared/sql.ts'
import { bucketOf, type DataRecord, type Kind, keyOf, toggleHash } from '../wire.ts'
import type { PutResult } from './board-rows.ts'
import { columnsOf, covered, type Overlay } from './columns-sqlite.ts'

export const TABLE_OF: Record<Kind, string> = {
  task: 'tasks',
  session: 'sessions',
  run: 'runs',
  board: 'boards',
}

/** What Cloudflare binds in one statement. */
const MAX_VALUES = 100

/** Ids are one value, a JSON array. */
const AMONG = 'IN (SELECT value FROM json_each(?))'

const OF_TASKS = "id, hash, file_hash, light, json_extract(rest, '$.checks') AS checks"

type Columns = Record<string, SqlValue>

/** All but the first two: of a task. */
type Stored = {
  id: string
  hash: string
  file_hash?: string
  light?: string
  checks?: string | null
}

/** What lies over the rows of these tasks, by their ids. */
export type OverlaysOf = (tasks: readonly string[]) => ReadonlyMap<string, Overlay>

interface PutDeps {
  /** Takes a hash out of the sum of its bucket, or into it. */
  toggle(bucket: number, hash: string): void
  overlaysOf: OverlaysOf
}

/** Writes those that are not stored with the same hash. `seq`: the number of the next message. */
export function* putRecords(
  sql: Sql,
  records: readonly DataRecord[],
  seq: number,
  { toggle, overlaysOf }: PutDeps,
): Generator<PutResult> {
  for (const [kind, some] of Map.groupBy(records, (record) => record.kind)) {
    const table = TABLE_OF[kind]
    const ids = some.map(({ id }) => id)
    const known = sql.all<Stored>(
      `SELECT ${kind === 'task' ? OF_TASKS : 'id, hash'} FROM ${table} WHERE id ${AMONG}`,
      JSON.stringify(ids),
    )
    const stored = new Map(known.map((row) => [row.id, row]))
    const overlays = kind === 'task' ? overlaysOf(ids) : new Map<string, Overlay>()
    const fresh: string[] = []
    const rows = new Map<string, Columns>()
    for (const record of some) {
      const { id, hash } = record
      const old = stored.get(id)
      if (old?.hash === hash) continue
      const bucket = bucketOf(keyOf(record))
      const row: Columns = { id, bucket, hash, ...columnsOf(record, seq) }
      const overlay = overlays.get(id)
      if (overlay) Object.assign(row, covered(String(row.light), overlay))
      rows.set(id, row)
      if (!old) fresh.push(id)
      toggle(bucket, old ? toggleHash(old.hash, hash) : hash)
      if (record.kind === 'task') {
        const light = String(row.light)
        const checks = JSON.stringify(record.task.checks ?? null)
        stored.set(id, { id, hash, file_hash: record.file, light, checks })
        const change = old?.file_hash === record.file ? 'follows' : 'changed'
        const before = old?.light === undefined ? {} : { before: old.light, checks: old.checks }
        yield { record, change, inList: old?.light !== light, ...before }
      } else {
        stored.set(id, { id, hash })
        yield { record, change: 'changed', inList: kind === 'session' }
      }
    }
    insertRows(sql, table, [...rows.values()])
    if (fresh.length > 0) {
      sql.all(`DELETE FROM gone WHERE list = ? AND id ${AMONG}`, table, JSON.stringify(fresh))
    }
  }
}

/** In place of those with the same key. All have the same columns. */
export function insertRows(sql: Sql, table: string, rows: readonly Columns[]): void {
  const names = Object.keys(rows[0] ?? {})
  const marks = `(${names.map(() => '?').join()})`
  const atOnce = Math.floor(MAX_VALUES / Math.max(1, names.length))
  for (let from = 0; from < rows.length; from += atOnce) {
    const some = rows.slice(from, from + atOnce)
    sql.all(
      `INSERT OR REPLACE INTO ${table} (${names.join()}) VALUES ${some.map(() => marks).join()}`,
      ...some.flatMap((row) => Object.values(row)),
    )
  }
}
