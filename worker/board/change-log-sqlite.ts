// A repository's change log in its own SQLite: a ring of the newest messages, one row each.

import type { Sql } from './sql.ts'
import { parseEventId } from './sse.ts'
import type { Message } from './wire.ts'

/** Messages that a reconnecting client can still get one by one. */
export const LOG_ROWS = 1_024

export type ChangeLog = ReturnType<typeof sqliteChangeLog>

export function sqliteChangeLog(sql: Sql) {
  const seqOf = (query: string, ...values: number[]) =>
    sql.all<{ seq: number | null }>(query, ...values)[0]?.seq ?? undefined

  /** Seq of the newest message; 0 when there never was one. */
  const head = () => seqOf('SELECT max(seq) AS seq FROM changes') ?? 0

  /** Seq of the oldest message kept; 1 when none was dropped yet. */
  const oldest = () => seqOf('SELECT min(seq) AS seq FROM changes') ?? 1

  return {
    head,
    oldest,
    /** The seq of an event id of this log; undefined: of another epoch, or too old. */
    placeOf(eventId: string, epoch: string): number | undefined {
      const place = parseEventId(eventId)
      const isKnown = place?.epoch === epoch && place.seq <= head() && place.seq >= oldest() - 1
      return isKnown ? place.seq : undefined
    },
    /** Appends and drops what falls out of the ring. `at` in ms. Returns the new head. */
    append(message: Message, at: number): number {
      const seq = head() + 1
      const json = JSON.stringify(message)
      sql.all('INSERT INTO changes (seq, at, message) VALUES (?, ?, ?)', seq, at, json)
      sql.all('DELETE FROM changes WHERE seq <= ?', seq - LOG_ROWS)
      return seq
    },
    /** Messages after `seq`, oldest first. The caller has checked that none of them was dropped. */
    after: (seq: number): Message[] =>
      sql
        .all<{ message: string }>('SELECT message FROM changes WHERE seq > ? ORDER BY seq', seq)
        .map((row) => JSON.parse(row.message) as Message),
    /** The seq before the first message after `at` (ms); the head when there is none. */
    seqBefore(at: number): number {
      const first = seqOf('SELECT min(seq) AS seq FROM changes WHERE at > ?', at)
      return first === undefined ? head() : first - 1
    },
  }
}
