// The change log in the repository's own SQLite.

import { type ChangeLog, LOG_ROWS } from './change-log.ts'
import type { Sql } from './sql.ts'
import type { Message } from './wire.ts'

export function sqliteChangeLog(sql: Sql): ChangeLog {
  const seqOf = (query: string, ...values: number[]) =>
    sql.all<{ seq: number | null }>(query, ...values)[0]?.seq ?? undefined
  const head = () => seqOf('SELECT max(seq) AS seq FROM changes') ?? 0

  return {
    head,
    oldest: () => seqOf('SELECT min(seq) AS seq FROM changes') ?? 1,
    append(message, at) {
      const seq = head() + 1
      const json = JSON.stringify(message)
      sql.all('INSERT INTO changes (seq, at, message) VALUES (?, ?, ?)', seq, at, json)
      sql.all('DELETE FROM changes WHERE seq <= ?', seq - LOG_ROWS)
      return seq
    },
    after: (seq) =>
      sql
        .all<{ message: string }>('SELECT message FROM changes WHERE seq > ? ORDER BY seq', seq)
        .map((row) => JSON.parse(row.message) as Message),
    seqBefore(at) {
      const first = seqOf('SELECT min(seq) AS seq FROM changes WHERE at > ?', at)
      return first === undefined ? head() : first - 1
    },
  } satisfies ChangeLog
}
