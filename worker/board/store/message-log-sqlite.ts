// The log of messages of a repository, in its own SQLite: what clients were sent, for those that
// come back.

import type { Sql } from '../../shared/sql.ts'
import { messageFrame, parseEventId } from '../streams/sse.ts'
import type { Message } from '../wire.ts'

/**
 * Messages that a reconnecting client can still get one by one.
 * @forTests One message more than it.
 */
export const LOG_ROWS = 1_024

export type MessageLog = ReturnType<typeof messageLog>

/** `epoch`: of this database, for all its life. */
export function messageLog(sql: Sql, epoch: string) {
  const seqOf = (query: string, ...values: number[]) =>
    sql.all<{ seq: number | null }>(query, ...values)[0]?.seq ?? undefined
  const head = () => seqOf('SELECT max(seq) AS seq FROM changes') ?? 0
  const oldest = () => seqOf('SELECT min(seq) AS seq FROM changes') ?? 1
  return {
    /** Seq of the newest message; 0 when there never was one. */
    head,
    /** Seq of the oldest message kept; 1 when none was dropped yet. */
    oldest,
    /** The seq of an event id of this log; undefined: of another epoch, or too old. */
    placeOf(eventId: string): number | undefined {
      const cursor = parseEventId(eventId)
      const isKnown = cursor?.epoch === epoch && cursor.seq <= head() && cursor.seq >= oldest() - 1
      return isKnown ? cursor.seq : undefined
    },
    /** Appends and drops what is too old. `at` in ms. Returns what every stream is sent. */
    append(message: Message, at: number): string {
      const seq = head() + 1
      const json = JSON.stringify(message)
      sql.all('INSERT INTO changes (seq, at, message) VALUES (?, ?, ?)', seq, at, json)
      sql.all('DELETE FROM changes WHERE seq <= ?', seq - LOG_ROWS)
      return messageFrame({ epoch, seq }, message)
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
  }
}
