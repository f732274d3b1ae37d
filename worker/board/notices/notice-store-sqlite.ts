// What a repository keeps of notices in its own SQLite: the rules, what each has sent, and the
// deliveries. No republishing and no schema drops it: a cause is sent once.

import type { NoticeCause } from '../../shared/notice-rules.ts'
import type { Sql, SqlValue } from '../../shared/sql.ts'
import type { Destination, Notice } from './notice-calls.ts'
import type { Known } from './notice-turn.ts'

export interface Target extends Destination {
  /** The same one as long as its address is, though that is encrypted anew. */
  key: string
}

export interface StoredRule {
  /** The same one as long as its cause, its time and its target are. */
  key: string
  on: NoticeCause
  minutes?: number
  /** The key of its target. */
  target: string
  /** The board was looked at for it. */
  isSeen?: true
}

interface Looked {
  /** The number of the newest message. */
  head: number
  isOffline: boolean
  /** A publication was under way. */
  isPart: boolean
}

export interface NoticeState {
  board: string
  rules: StoredRule[]
  targets: Target[]
  /** Of rules that went lately: they may be back after a mistake in the file. In ms. */
  gone?: (Target & { at: number })[]
  /** How it was when it was last decided. */
  looked?: Looked
  /** When it is decided again, in ms. */
  decideAt?: number
  /** When something of all tasks will have lasted long enough, in ms. */
  lastedAt?: number
  /** When the sidecar was last signalled that there are commands, in ms. */
  signalledAt?: number
}

export interface DeliveryRow {
  id: string
  /** In ms. */
  at: number
  target: string
  to: Target['to']
  host: string | null
  /** JSON of a `Notice`. */
  notice: string
  state: 'pending' | 'delivered' | 'failed'
  attempts: number
  next_at: number
  ended_at: number | null
  status: number | null
  error: string | null
}

export const NOTICE_TABLES = [
  `CREATE TABLE IF NOT EXISTS notice_state (
    one INTEGER PRIMARY KEY CHECK (one = 1), json TEXT NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS notice_known (
    rule TEXT NOT NULL, key TEXT NOT NULL, known TEXT NOT NULL, PRIMARY KEY (rule, key))`,
  `CREATE TABLE IF NOT EXISTS notice_deliveries (
    id TEXT PRIMARY KEY, at REAL NOT NULL, target TEXT NOT NULL, "to" TEXT NOT NULL, host TEXT,
    notice TEXT NOT NULL, state TEXT NOT NULL, attempts INTEGER NOT NULL, next_at REAL NOT NULL,
    ended_at REAL, status INTEGER, error TEXT)`,
  `CREATE INDEX IF NOT EXISTS notice_deliveries_pending ON notice_deliveries (next_at)
    WHERE state = 'pending'`,
]

/** The newest that are kept of those that ended, and shown of all. */
const KEPT = 50

/** Whether people are notified of this board. It may have no tables. */
export function hasNoticeRules(sql: Sql): boolean {
  const tables = "SELECT 1 AS found FROM sqlite_master WHERE name = 'notice_state'"
  if (sql.all(tables).length === 0) return false
  const rules = "SELECT 1 AS found FROM notice_state WHERE json_array_length(json, '$.rules') > 0"
  return sql.all(rules).length > 0
}

export type NoticeStore = ReturnType<typeof sqliteNoticeStore>

export function sqliteNoticeStore(sql: Sql) {
  const rows = (where: string, ...values: SqlValue[]): DeliveryRow[] =>
    sql.all<{ [Name in keyof DeliveryRow]: DeliveryRow[Name] }>(
      `SELECT * FROM notice_deliveries WHERE ${where}`,
      ...values,
    )
  return {
    state(): NoticeState {
      const [row] = sql.all<{ json: string }>('SELECT json FROM notice_state')
      return row ? (JSON.parse(row.json) as NoticeState) : { board: '', rules: [], targets: [] }
    },
    save(state: NoticeState): void {
      const json = JSON.stringify(state)
      sql.all('INSERT OR REPLACE INTO notice_state (one, json) VALUES (1, ?)', json)
    },

    /** By the keys of causes. */
    known: (rule: string): Map<string, Known> =>
      new Map(
        sql
          .all<{ key: string; known: string }>(
            'SELECT key, known FROM notice_known WHERE rule = ?',
            rule,
          )
          .map(({ key, known }) => [key, JSON.parse(known) as Known]),
      ),
    /** Writes what differs. */
    remember(rule: string, before: ReadonlyMap<string, Known>, now: ReadonlyMap<string, Known>) {
      for (const key of before.keys()) {
        if (now.has(key)) continue
        sql.all('DELETE FROM notice_known WHERE rule = ? AND key = ?', rule, key)
      }
      for (const [key, known] of now) {
        const json = JSON.stringify(known)
        if (JSON.stringify(before.get(key)) === json) continue
        sql.all('INSERT OR REPLACE INTO notice_known VALUES (?, ?, ?)', rule, key, json)
      }
    },
    /** Drops what rules that are none of these knew of causes that ended so long ago. */
    forget: (kept: readonly string[], endedBefore: number): void =>
      void sql.all(
        `DELETE FROM notice_known WHERE rule NOT IN (SELECT value FROM json_each(?))
          AND ifnull(json_extract(known, '$.endedAt'), 0) <= ?`,
        JSON.stringify(kept),
        endedBefore,
      ),

    /** A new delivery, due at once. */
    add(id: string, { key, to, host }: Target, notice: Notice, at: number): void {
      sql.all(
        `INSERT INTO notice_deliveries
            (id, at, target, "to", host, notice, state, attempts, next_at)
          VALUES (?, ?, ?, ?, ?, ?, 'pending', 0, ?)`,
        id,
        at,
        key,
        to,
        host ?? null,
        JSON.stringify(notice),
        at,
      )
    },
    delivery: (id: string): DeliveryRow | undefined => rows('id = ?', id)[0],
    pending: (): DeliveryRow[] => rows("state = 'pending'"),
    /** The oldest first. */
    pendingFor: (target: string): DeliveryRow[] =>
      rows("state = 'pending' AND target = ? ORDER BY at", target),
    /** Those that are due, the longest waiting first. */
    due: (now: number): DeliveryRow[] =>
      rows("state = 'pending' AND next_at <= ? ORDER BY at", now),
    /** When the next one is due, and since when the longest waiting command is there. */
    next() {
      const [all] = sql.all<Record<'requestAt' | 'commandAt' | 'commandSince', number | null>>(
        `SELECT min(next_at) FILTER (WHERE "to" <> 'command') AS requestAt,
            min(next_at) FILTER (WHERE "to" = 'command') AS commandAt,
            min(at) FILTER (WHERE "to" = 'command') AS commandSince
          FROM notice_deliveries WHERE state = 'pending'`,
      )
      const { requestAt, commandAt, commandSince } = all ?? {}
      return {
        requestAt: requestAt ?? Infinity,
        commandAt: commandAt ?? Infinity,
        commandSince: commandSince ?? Infinity,
      }
    },
    isAnyAfter: (at: number): boolean =>
      sql.all("SELECT 1 FROM notice_deliveries WHERE state = 'pending' AND next_at > ? LIMIT 1", at)
        .length > 0,
    /** Those that wait for a later time than this one are due. */
    bringForward: (after: number, to: number): void =>
      void sql.all(
        "UPDATE notice_deliveries SET next_at = ? WHERE state = 'pending' AND next_at > ?",
        to,
        after,
      ),
    /** The newest first. */
    newest: (): DeliveryRow[] => rows('true ORDER BY at DESC, rowid DESC LIMIT ?', KEPT),
    /** A try of it begins. Nobody else begins one before `until`. */
    take: (id: string, until: number): void =>
      void sql.all(
        'UPDATE notice_deliveries SET attempts = attempts + 1, next_at = ? WHERE id = ?',
        until,
        id,
      ),
    put({ id, state, attempts, next_at, ended_at, status, error }: DeliveryRow): void {
      sql.all(
        `UPDATE notice_deliveries SET state = ?, attempts = ?, next_at = ?, ended_at = ?,
          status = ?, error = ? WHERE id = ?`,
        state,
        attempts,
        next_at,
        ended_at,
        status,
        error,
        id,
      )
      if (state === 'pending') return
      sql.all(
        `DELETE FROM notice_deliveries WHERE state <> 'pending' AND rowid NOT IN
          (SELECT rowid FROM notice_deliveries WHERE state <> 'pending'
            ORDER BY at DESC, rowid DESC LIMIT ?)`,
        KEPT,
      )
    },
  }
}
