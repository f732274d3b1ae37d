// The claims of a repository in its own SQLite, and what a lead has set. The tables are in no
// schema of the board's: what is published anew drops none of them.

import { type BoardSettings, DEFAULT_SETTINGS } from '../../shared/board-settings.ts'
import type { Sql } from '../../shared/sql.ts'
import type { Session } from '../wire.ts'
import { type Rest, restsUntil } from './rest.ts'

/** What is stored of a claim. All times in ms. */
export interface Claim {
  /** Rises with each claim, and never repeats. */
  generation: number
  /** The hash of its holder's secret. */
  hash: string
  task: string
  /** The task's, as it began: by it the task is known again. */
  title: string
  parent?: string
  /** Others with this title, as long as its own has it: then none is known to be its own. */
  twins?: string[]
  actor: string
  client?: string
  model?: string
  branch?: string
  tree?: string
  /** The hash of the main tree's copy when it began. Absent: that had none. */
  copy?: string
  ttlMs: number
  /** How many its actor may hold. */
  max: number
  startedAt: number
  /** When it began, or was last renewed. */
  renewedAt: number
  expiresAt: number
  /** The last sign that its holder works, later than its beginning. */
  activeAt?: number
  progress?: string
  /** When the history last had a row of that, in ms. */
  progressAt?: number
  /** It has expired, and clients were informed. Nobody has taken the task yet. */
  isStalled?: boolean
  /** The hash of its task's file when it last expired. */
  expiredAs?: string
  end?: ClaimEnd
}

export interface ClaimEnd {
  at: number
  /** `closed` and `deleted`: the task. `replaced`: it had expired, and another took the task. */
  outcome: 'done' | 'abandoned' | 'closed' | 'deleted' | 'replaced'
  /** Somebody else ended it. */
  byOther?: boolean
  summary?: string
  /** The task's status then: until it changes, the task can be begun again. */
  status?: string
  file?: string
  /** What becomes of its task counts: it may bring the claim back, or be free whatever it says. */
  isWatched?: true
  /** Another claim of its task was given, or came to it. */
  isTaken?: true
  /** Of a task that reads closed: until then it may bring the claim back. */
  until?: number
  /** As the task was when it was released as done: so long it is offered to nobody. */
  rests?: Rest
}

/** What is left of an ended one for a day: its holder is answered that it is lost. */
export type Forgotten = Pick<Claim, 'generation' | 'task' | 'actor'>

/** The newest ended ones that are kept. */
const KEPT_ENDED = 1_000
/** What is left of those before them, and of how many: an agent could claim and release all day. */
const FORGOTTEN_MS = 86_400_000
const FORGOTTEN = 100_000

/**
 * The column `ended`. `watched`: its task may bring it back, or be free. `taken`: another claim of
 * its task came after it; each other one is the last of its task. `resting`: it was done, and its
 * task is offered to nobody.
 */
const STAGE = { open: 0, ended: 1, watched: 2, taken: 3, resting: 4 } as const

export const CLAIM_TABLES = [
  `CREATE TABLE IF NOT EXISTS claims (
    generation INTEGER PRIMARY KEY, secret TEXT NOT NULL UNIQUE, task TEXT NOT NULL,
    actor TEXT NOT NULL, status TEXT NOT NULL, health TEXT NOT NULL, started_at REAL NOT NULL,
    expires_at REAL NOT NULL, ended INTEGER NOT NULL, id TEXT NOT NULL, hash TEXT NOT NULL,
    seq INTEGER NOT NULL, json TEXT NOT NULL, claim TEXT NOT NULL)`,
  `CREATE INDEX IF NOT EXISTS claims_of_task ON claims (task, generation)`,
  `CREATE INDEX IF NOT EXISTS claims_open ON claims (expires_at) WHERE ended = ${STAGE.open}`,
  `CREATE INDEX IF NOT EXISTS claims_of_actor ON claims (actor) WHERE ended = ${STAGE.open}`,
  `CREATE INDEX IF NOT EXISTS claims_watched ON claims (task) WHERE ended = ${STAGE.watched}`,
  `CREATE INDEX IF NOT EXISTS claims_resting ON claims (expires_at) WHERE ended = ${STAGE.resting}`,
  `CREATE TABLE IF NOT EXISTS forgotten_claims (
    secret TEXT PRIMARY KEY, generation INTEGER NOT NULL, task TEXT NOT NULL, actor TEXT NOT NULL,
    at REAL NOT NULL)`,
  `CREATE INDEX IF NOT EXISTS forgotten_claims_at ON forgotten_claims (at)`,
  `CREATE TABLE IF NOT EXISTS board_settings (
    one INTEGER PRIMARY KEY CHECK (one = 1), json TEXT NOT NULL)`,
]

const TTL_MS = "json_extract(claim, '$.ttlMs')"
const WITH_TASKS = 'claims LEFT JOIN tasks ON tasks.id = claims.task'
const ENDED = `SELECT generation FROM claims WHERE ended > ${STAGE.open}`

export const sessionId = (generation: number): string => `claim-${generation}`

export type ClaimStore = ReturnType<typeof sqliteClaimStore>

const stageOf = (end: ClaimEnd | undefined): number => {
  if (!end) return STAGE.open
  if (end.isTaken) return STAGE.taken
  if (end.rests) return STAGE.resting
  return end.isWatched ? STAGE.watched : STAGE.ended
}

export function sqliteClaimStore(sql: Sql) {
  const claims = (where: string, ...values: (string | number)[]): Claim[] =>
    sql
      .all<{ claim: string }>(`SELECT claim FROM claims WHERE ${where}`, ...values)
      .map(({ claim }) => JSON.parse(claim) as Claim)
  return {
    bySecret: (hash: string): Claim | undefined => claims('secret = ?', hash)[0],
    /** One that ended, and is kept no longer. */
    forgotten: (hash: string, now: number): Forgotten | undefined =>
      sql.all<{ generation: number; task: string; actor: string }>(
        'SELECT generation, task, actor FROM forgotten_claims WHERE secret = ? AND at > ?',
        hash,
        now - FORGOTTEN_MS,
      )[0],
    byGeneration: (generation: number): Claim | undefined =>
      claims('generation = ?', generation)[0],
    /** Those that have not ended. */
    open: (): Claim[] => claims(`ended = ${STAGE.open}`),
    watched: (): Claim[] => claims(`ended = ${STAGE.watched}`),
    /** Those that lie over these tasks. */
    over: (tasks: readonly string[]): Claim[] =>
      claims(
        `ended IN (${STAGE.open}, ${STAGE.resting}) AND task IN (SELECT value FROM json_each(?))`,
        JSON.stringify(tasks),
      ),
    /** Those that were done, and whose tasks are offered to nobody. */
    resting: (): Claim[] => claims(`ended = ${STAGE.resting}`),
    /** What open, watched and resting ones are of. */
    texts: () =>
      sql.all<{ title: string; parent: string | null }>(
        `SELECT json_extract(claim, '$.title') AS title, json_extract(claim, '$.parent') AS parent
          FROM claims WHERE ended IN (${STAGE.open}, ${STAGE.watched}, ${STAGE.resting})`,
      ),
    /** Those that hold for longer than `ms`, or than they were given. */
    longerThan: (now: number, ms: number): Claim[] =>
      claims(
        `ended IN (${STAGE.open}, ${STAGE.watched}) AND expires_at > ? + max(?, ${TTL_MS})`,
        now,
        ms,
      ),
    /** Those that ended after this time, or whose task was opened after it. */
    endedAfter: (at: number): Claim[] =>
      claims(
        `ended > ${STAGE.open} AND max(json_extract(claim, '$.end.at'),
          ifnull(json_extract(claim, '$.end.rests.openAt'), 0)) > ?`,
        at,
      ),
    /** Those that have expired, and of which clients were not informed. */
    pending: (now: number): Claim[] =>
      claims(
        `ended = ${STAGE.open} AND health <> 'stalled' AND expires_at <= ? ORDER BY expires_at`,
        now,
      ),
    /** Those that were done, and whose task has changed since it was last looked at. */
    restless: (): Claim[] =>
      sql
        .all<{ claim: string }>(
          `SELECT claim FROM ${WITH_TASKS} WHERE ended = ${STAGE.resting}
            AND (file_hash <> ifnull(json_extract(claim, '$.end.rests.file'), '')
              OR json_extract(claim, '$.end.rests.openAt') IS NOT NULL)`,
        )
        .map(({ claim }) => JSON.parse(claim) as Claim),
    /** Those that were done so long ago that their tasks may be offered. */
    rested: (now: number): Claim[] => claims(`ended = ${STAGE.resting} AND expires_at <= ?`, now),
    /** When the next one expires, or has rested, in ms. */
    nextExpiry: (): number | undefined =>
      sql.all<{ at: number | null }>(
        `SELECT min(expires_at) AS at FROM claims
          WHERE ended = ${STAGE.resting} OR (ended = ${STAGE.open} AND health <> 'stalled')`,
      )[0]?.at ?? undefined,
    countValid: (now: number): number =>
      sql.all<{ n: number }>(
        `SELECT count(*) AS n FROM claims WHERE ended = ${STAGE.open} AND expires_at > ?`,
        now,
      )[0]?.n ?? 0,
    validOf: (actor: string, now: number): Claim[] =>
      claims(`actor = ? AND ended = ${STAGE.open} AND expires_at > ?`, actor, now),
    openOf: (task: string): Claim | undefined =>
      claims(`task = ? AND ended = ${STAGE.open}`, task)[0],
    /** The oldest first. */
    endedOf: (task: string): Claim[] =>
      claims(`task = ? AND ended > ${STAGE.open} ORDER BY generation`, task),
    lastOf: (task: string): Claim | undefined =>
      claims(`task = ? AND ended <> ${STAGE.taken}`, task)[0],
    /** All that are kept, the oldest first. */
    all: (): Claim[] => claims('true ORDER BY generation'),
    lastGeneration: (): number =>
      sql.all<{ last: number | null }>('SELECT max(generation) AS last FROM claims')[0]?.last ?? 0,

    /** `seq`: the number of the next message; undefined: clients need not read it again. */
    put(claim: Claim, session: Session, seq: number | undefined): void {
      const { generation, hash, task, actor, startedAt, expiresAt, end } = claim
      // Another one each time, so that tags of answers with it differ.
      const version = crypto.randomUUID().replaceAll('-', '')
      sql.all(
        `INSERT INTO claims (generation, secret, task, actor, status, health, started_at,
            expires_at, ended, id, hash, seq, json, claim)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
          ON CONFLICT (generation) DO UPDATE SET task = excluded.task, status = excluded.status,
            health = excluded.health, expires_at = excluded.expires_at, ended = excluded.ended,
            hash = CASE WHEN ? THEN excluded.hash ELSE hash END,
            seq = CASE WHEN ? THEN excluded.seq ELSE seq END,
            json = excluded.json, claim = excluded.claim`,
        generation,
        hash,
        task,
        actor,
        session.status,
        session.health,
        startedAt,
        end?.rests ? restsUntil(end.at, end.rests) : expiresAt,
        stageOf(end),
        session.id,
        version,
        seq ?? 0,
        JSON.stringify(session),
        JSON.stringify(claim),
        Number(seq !== undefined),
        Number(seq !== undefined),
      )
    },
    /** The oldest ended ones, which are forgotten but for their secrets' hashes. */
    forgetOldest(now: number): Claim[] {
      const old = sql
        .all<{ claim: string }>(
          `DELETE FROM claims WHERE generation IN (${ENDED}
            ORDER BY generation DESC LIMIT -1 OFFSET ?) RETURNING claim`,
          KEPT_ENDED,
        )
        .map(({ claim }) => JSON.parse(claim) as Claim)
      if (old.length === 0) return old
      for (const { hash, generation, task, actor } of old) {
        sql.all(
          'INSERT OR REPLACE INTO forgotten_claims VALUES (?, ?, ?, ?, ?)',
          hash,
          generation,
          task,
          actor,
          now,
        )
      }
      sql.all(
        `DELETE FROM forgotten_claims WHERE at <= ? OR at < (SELECT at FROM forgotten_claims
          ORDER BY at DESC LIMIT 1 OFFSET ?)`,
        now - FORGOTTEN_MS,
        FORGOTTEN,
      )
      return old
    },

    settings(): BoardSettings {
      const [row] = sql.all<{ json: string }>('SELECT json FROM board_settings')
      return { ...DEFAULT_SETTINGS, ...(row && (JSON.parse(row.json) as BoardSettings)) }
    },
    keepSettings(settings: BoardSettings): void {
      const json = JSON.stringify(settings)
      sql.all('INSERT OR REPLACE INTO board_settings (one, json) VALUES (1, ?)', json)
    },
  }
}
