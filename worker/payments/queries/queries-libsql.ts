// All queries of payments on libSQL: those of the files beside it, and here alerts, the audit
// trail, a pause, and what waits. They read the database directly, not through the ledger.

import type { Pause } from '../acts/act.ts'
import { type AlertRow, type DeliveryRow, present, toAlert } from '../domain/rows.ts'
import type { Action } from '../domain/status.ts'
import { isoTime } from '../domain/time.ts'
import type { AlertRecord, AuditRecord, FailingEndpoint, Listed } from '../domain/types.ts'
import type { Database } from '../ledger/libsql/database-libsql.ts'
import { CHECK_DUE, HAS_DUE_EVENT, HAS_PARKED } from '../ledger/libsql/due-libsql.ts'
import { pauseIn, READ_PAUSE } from '../ledger/libsql/ledger-row-libsql.ts'
import { type Row, statement } from '../ledger/libsql/statement-libsql.ts'
import { movementQueries, settlementQueries } from './books-libsql.ts'
import { eventQueries } from './events-libsql.ts'
import { AUDIT_SQL, allOf, listed, queryRunner, rowsOf } from './query-libsql.ts'
import { type AuditedRow, toAuditRecord } from './shown.ts'
import { type Page, transactionQueries } from './transactions-libsql.ts'

export interface WaitingEvents {
  count: number
  /** ms */
  oldestAt?: number
}

export interface Waiting {
  /** Something is due: the sweeper calls the ledger only then. */
  isDue: boolean
  /** Anything at all was ever charged. */
  hasPayments: boolean
  /** Stored events that each subscriber has not accepted. */
  events: Readonly<Record<'listeners' | 'endpoint', WaitingEvents>>
  /** Open alerts, by kind. */
  alerts: Readonly<Record<string, number>>
}

/** `after` and `before` in ms: from the first on, and before the second. */
export interface AuditFilter {
  reference?: string
  /** Our id of a payment. */
  transaction?: string
  subject?: string
  action?: Action
  after?: number
  before?: number
}

export type PaymentQueries = ReturnType<typeof libsqlQueries>

/** `refuseOther` is asked before each read. */
export function libsqlQueries(
  database: Database,
  refuseOther: () => void | Promise<void> = () => undefined,
) {
  const run = queryRunner(database, refuseOther)
  return {
    ...movementQueries(run),
    ...settlementQueries(run),
    ...transactionQueries(run),
    ...eventQueries(run),
    /** Newest first, as ids are; without `all` only those that are not acknowledged. */
    alerts: (
      { all = false }: { all?: boolean },
      { before, limit }: Page,
    ): Promise<Listed<AlertRecord>[]> => {
      const conditions = allOf([
        !all && 'acknowledged_at IS NULL',
        before !== undefined && 'id < :before',
      ])
      const sql = `SELECT * FROM payment_alerts WHERE true ${conditions}
        ORDER BY id DESC LIMIT :limit`
      return run({
        statements: [statement(sql, { before, limit })],
        read: ([rows]) => rowsOf<AlertRow>(rows).map(listed(toAlert)),
      })
    },
    /** Newest first. */
    audit: (
      filter: AuditFilter,
      { before: cursor, limit }: Page,
    ): Promise<Listed<AuditRecord>[]> => {
      const given = { ...filter, ...(cursor !== undefined && { cursor }) }
      const names = Object.keys(given) as (keyof typeof given)[]
      const conditions = allOf(names.map((name) => AUDIT_FILTERS[name]))
      const sql = `${AUDIT_SQL} WHERE true ${conditions} ORDER BY a.id DESC LIMIT :limit`
      return run({
        statements: [statement(sql, { ...given, limit })],
        read: ([rows]) => rowsOf<AuditedRow>(rows).map(listed(toAuditRecord)),
      })
    },
    /** Those that did not accept an event twice: after one failure, the next try often works. */
    failingEndpoints: (): Promise<FailingEndpoint[]> =>
      run({
        statements: [statement(FAILING)],
        read: ([rows]) => rowsOf<FailingRow>(rows).map(toFailing),
      }),
    /** Undefined: payments are not paused. */
    pause: (): Promise<Pause | undefined> =>
      run({ statements: [READ_PAUSE], read: ([[row = {}] = []]) => pauseIn(row) }),
    /** What waits at `now`, in ms: each sweep begins with it. */
    waiting: (now: number): Promise<Waiting> =>
      run({
        statements: [statement(WAITING, { now, due_by: now }), statement(OPEN_ALERTS)],
        read: ([rows = [], alerts = []]) => ({
          isDue: rows[0]?.due === 1,
          hasPayments: rows[0]?.has_payments === 1,
          events: {
            listeners: waitingEvents(rows[0], 'listeners'),
            endpoint: waitingEvents(rows[0], 'endpoint'),
          },
          alerts: Object.fromEntries(alerts.map(({ kind, open }) => [kind, Number(open)])),
        }),
      }),
  }
}

function waitingEvents(row: Row = {}, subscriber: 'listeners' | 'endpoint') {
  const since = row[`${subscriber}_since`]
  return {
    count: Number(row[subscriber] ?? 0),
    ...(since != null && { oldestAt: Number(since) }),
  }
}

/**
 * A day of events may wait, and this is read every few seconds: 200 of them are enough. The other
 * columns are those of the row with the most attempts.
 */
const FAILING = `SELECT endpoint, COUNT(*) AS events, MAX(attempts) AS attempts, created_at,
    last_status, last_error, next_attempt_at
  FROM (SELECT * FROM payment_deliveries INDEXED BY payment_deliveries_due
    WHERE status = 'pending' AND attempts > 1 LIMIT 200)
  GROUP BY endpoint ORDER BY endpoint`

type FailingRow = { events: number } & Pick<
  DeliveryRow,
  'endpoint' | 'created_at' | 'last_status' | 'last_error' | 'next_attempt_at'
>

const toFailing = (row: FailingRow): FailingEndpoint => ({
  endpoint: row.endpoint,
  events: row.events,
  since: isoTime(row.created_at),
  ...present({ lastStatus: row.last_status, lastError: row.last_error }),
  nextAttemptAt: isoTime(row.next_attempt_at),
})

/**
 * How many rows of a table wait, and since when: the oldest was stored first. Its index holds no
 * others. Left to itself, SQLite looks for the oldest from the beginning of the table.
 */
const waitingIn = (table: string, condition: string, name: string) => {
  const from = `FROM ${table} INDEXED BY ${table}_due WHERE ${condition}`
  return `(SELECT COUNT(*) ${from}) AS ${name},
    (SELECT created_at FROM ${table} WHERE rowid = (SELECT MIN(rowid) ${from})) AS ${name}_since`
}

const WAITING = `SELECT (EXISTS (SELECT 1 FROM payment_transactions WHERE ${CHECK_DUE})
    OR ${HAS_DUE_EVENT} OR ${HAS_PARKED}) AS due,
  EXISTS (SELECT 1 FROM payment_transactions) AS has_payments,
  ${waitingIn('payment_outbox', 'done_at IS NULL', 'listeners')},
  ${waitingIn('payment_deliveries', "status = 'pending'", 'endpoint')}`

const OPEN_ALERTS = `SELECT kind, COUNT(*) AS open FROM payment_alerts
  WHERE acknowledged_at IS NULL GROUP BY kind`

const AUDIT_FILTERS: Readonly<Record<keyof AuditFilter | 'cursor', string>> = {
  reference: `a.transaction_id IN
    (SELECT id FROM payment_transactions WHERE reference = :reference)`,
  transaction: 'a.transaction_id = :transaction',
  subject: 'a.subject = :subject',
  action: 'a.action = :action',
  after: 'a.at >= :after',
  before: 'a.at < :before',
  cursor: 'a.id < :cursor',
}
