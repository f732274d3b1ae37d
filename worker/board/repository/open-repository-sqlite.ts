// One repository over its own SQLite: all of its parts, and the ids that are good only once: of
// sign-in links and tickets.

import type { Log } from '../../shared/log.ts'
import type { Sql } from '../../shared/sql.ts'
import { Activity } from '../activity/activity.ts'
import { ActivityReads } from '../activity/activity-reads.ts'
import { sqliteActivityStore } from '../activity/activity-sqlite.ts'
import { sqliteRecordedStore } from '../activity/recorded-sqlite.ts'
import { ClaimClock, type Elapsed } from '../claims/claim-clock.ts'
import { overlaysBy } from '../claims/claim-session.ts'
import { sqliteClaimStore } from '../claims/claim-store-sqlite.ts'
import { ClaimUpdates } from '../claims/claim-updates.ts'
import { ClaimWrites } from '../claims/claim-writes.ts'
import { Claims } from '../claims/claims.ts'
import { holdersBy } from '../claims/holders.ts'
import { sqliteNoticeStore } from '../notices/notice-store-sqlite.ts'
import { Notices } from '../notices/notices.ts'
import { Presence, type SidecarSockets } from '../presence.ts'
import { sqliteAgenda } from '../store/agenda-sqlite.ts'
import { sqliteBoardStore } from '../store/board-store-sqlite.ts'
import { createBoardTables } from './board-tables-sqlite.ts'
import { type BoardVariables, readBoardVariables } from './board-variables.ts'
import { Reads } from './reads.ts'
import { Repository } from './repository.ts'

export interface OpenRepository {
  repository: Repository
  claims: Claims
  presence: Presence
  reads: Reads
  notices: Notices
  /** When the first of what is on the agenda is due, in ms. */
  nextDue(): number | undefined
  /**
   * Uses up an id. False: it was spent before. Remembered until `expiresAt`; all times in ms. Not
   * the list of ended sessions does it: with payments that is in their database, and to sign in to
   * a board must not wait for it.
   */
  spend(id: string, expiresAt: number, now: number): boolean
}

interface Surroundings {
  /** Of sidecars. Absent: the host has none. */
  sockets?: SidecarSockets
  /** Of this board. */
  log?: Log
  /** Absent: their defaults. */
  variables?: BoardVariables
  /** Absent: the host has no clock that nobody sets. */
  elapsed?: Elapsed
  /** In ms. After a start no sidecar has reported yet. Absent: its sockets outlive the process. */
  startedAt?: number
}

export function openRepository(
  sql: Sql,
  {
    sockets = () => [],
    log = () => undefined,
    variables = readBoardVariables({}),
    elapsed,
    startedAt = Number.NEGATIVE_INFINITY,
  }: Surroundings = {},
): OpenRepository {
  const kept = createBoardTables(sql)
  // For a new database only: an old one keeps the epoch that its clients' ids name.
  const epoch = crypto.randomUUID().replaceAll('-', '').slice(0, 12)
  const claims = sqliteClaimStore(sql)
  const board = sqliteBoardStore(sql, epoch, (tasks) => overlaysBy(claims, tasks), kept)
  const agenda = sqliteAgenda(sql)
  const history = sqliteActivityStore(sql)
  const activity = new Activity({
    store: history,
    recorded: sqliteRecordedStore(sql),
    board,
    holders: holdersBy(claims),
    log,
  })
  const writes = new ClaimWrites({ board, claims, activity, log })
  const clock = new ClaimClock({ board, claims, writes, agenda, elapsed })
  const updates = new ClaimUpdates({ board, claims, writes, clock })
  const presence = new Presence({ board, agenda, claims: clock, sockets, activity, log })
  const notices = new Notices({
    store: sqliteNoticeStore(sql),
    board,
    claims,
    agenda,
    presence,
    ...variables,
    startedAt,
    log,
  })
  return {
    repository: new Repository({ board, claims: updates, presence, activity, notices }),
    claims: new Claims({ board, claims, writes, clock, presence, log }),
    presence,
    notices,
    nextDue: agenda.nextDue,
    reads: new Reads({ board, presence, activity: new ActivityReads(history), variables }),
    spend: (id, expiresAt, now) =>
      sql.transaction(() => {
        sql.all('DELETE FROM spent_ids WHERE expires_at <= ?', now)
        const spent = sql.all(
          `INSERT INTO spent_ids (id, expires_at) VALUES (?, ?)
            ON CONFLICT DO NOTHING RETURNING id`,
          id,
          expiresAt,
        )
        return spent.length > 0
      }),
  }
}
