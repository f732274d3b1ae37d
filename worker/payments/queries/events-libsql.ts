// Webhook events and stories of payments, on libSQL. Of one story or page, what gateways sent is
// left out beyond some MiB: it is read by itself.

import type { Payment } from '../domain/payment.ts'
import {
  type AlertRow,
  type DeliveryRow,
  NOTES,
  type NoteRow,
  type RefundRow,
  type TransactionRow,
  toAlert,
  toTransaction,
  WEBHOOK_EVENTS,
} from '../domain/rows.ts'
import type { Outcome } from '../domain/status.ts'
import { isoTime } from '../domain/time.ts'
import type { EventRecord, Listed, ListedStory, WebhookRate } from '../domain/types.ts'
import { statement } from '../ledger/libsql/statement-libsql.ts'
import {
  AUDIT_SQL,
  allOf,
  bytesOf,
  inParts,
  LIMITS,
  listed,
  partOf,
  type RunQuery,
  rowsOf,
  type Table,
} from './query-libsql.ts'
import {
  type AuditedRow,
  type ReadEventRow,
  type StoredRow,
  toAuditRecord,
  toCheck,
  toEventRecord,
  toRefund,
  toStoredEvent,
} from './shown.ts'
import type { Page } from './transactions-libsql.ts'

type FoundStory = ListedStory & {
  /** Its rows, but for disputes. */
  payment: Payment
  /** The database's own id. */
  installation: string
}

export const eventQueries = (run: RunQuery) => ({
  /** Newest first. */
  webhookEvents: async (
    filter: { outcome?: Outcome; gateway?: string },
    { before, limit }: Page,
  ): Promise<Listed<EventRecord>[]> => {
    const { outcome, gateway } = filter
    const conditions = allOf([
      outcome !== undefined && 'outcome = :outcome',
      // Many rows have the same gateway: its index would find them all, and sort them.
      gateway !== undefined && '+gateway = :gateway',
      before !== undefined && 'id < :before',
    ])
    const picked = `SELECT n, row_number() OVER (ORDER BY id DESC) AS at
      FROM (SELECT rowid AS n, id FROM payment_webhook_events
        WHERE true ${conditions} ORDER BY id DESC LIMIT :limit)`
    const args = { ...filter, before, limit }
    const rows = await inParts<ReadEventRow>(run, partOf(EVENTS, picked), args)
    return rows.map(listed(toEventRecord))
  },
  /** By our id, with what the gateway sent. */
  webhookEvent: (id: string): Promise<Listed<EventRecord> | undefined> =>
    run({
      statements: [statement('SELECT * FROM payment_webhook_events WHERE id = :id', { id })],
      read: ([rows]) => rowsOf<ReadEventRow>(rows).map(listed(toEventRecord))[0],
    }),
  /** Events received from `from` and before `to`, both the start of a minute, in ms. */
  webhookRates: ({ from, to }: { from: number; to: number }): Promise<WebhookRate[]> =>
    run({
      statements: [statement(RATES, { from, to })],
      read: ([rows]) => toRates(rowsOf<RateRow>(rows)),
    }),
  /** By our id. */
  story: async (id: string): Promise<FoundStory | undefined> => {
    const read = await run({
      statements: STORY.map((sql) => statement(sql, { id, read_upto: 0, ...LIMITS })),
      read: ([rows, refunds, alerts, audit, notes, ...parts]) => ({
        row: rowsOf<TransactionRow & { ours: string }>(rows)[0],
        refunds: rowsOf<RefundRow>(refunds),
        alerts: rowsOf<AlertRow>(alerts),
        audit: rowsOf<AuditedRow>(audit).map(listed(toAuditRecord)),
        notes: rowsOf<NoteRow>(notes).map(listed(NOTES.show)),
        parts,
      }),
    })
    const { row, parts, refunds, alerts, ...rest } = read
    if (!row) return undefined
    const [events, outbox, deliveries] = await Promise.all([
      inParts<ReadEventRow>(run, STORY_PARTS[0], { id }, parts[0]),
      inParts<StoredRow>(run, STORY_PARTS[1], { id }, parts[1]),
      inParts<DeliveryRow>(run, STORY_PARTS[2], { id }, parts[2]),
    ])
    return {
      transaction: listed(toTransaction)(row),
      check: toCheck(row),
      webhookEvents: events.map(listed(toEventRecord)),
      refunds: refunds.map(listed(toRefund)),
      alerts: alerts.map(listed(toAlert)),
      events: outbox.map(listed((event) => toStoredEvent(event, deliveries))),
      ...rest,
      payment: { transaction: row, refunds, alerts, disputes: [] },
      installation: row.ours,
    }
  },
})

const EVENTS: Table = {
  name: WEBHOOK_EVENTS.name,
  columns: WEBHOOK_EVENTS.names
    .filter((column) => !['raw', 'refunds', 'disputes'].includes(column))
    .map((column) => `e.${column}`),
  own: bytesOf('error'),
  raw: 'raw',
}

const OF_PAYMENT = (table: string) => `SELECT rowid, rowid FROM ${table} WHERE transaction_id = :id`

const STORY_PARTS = [
  partOf(EVENTS, OF_PAYMENT('payment_webhook_events')),
  partOf(
    {
      name: 'payment_outbox',
      // A given-up event is done too: only its alert distinguishes it from a delivered one.
      columns: [
        'e.*',
        `EXISTS (SELECT 1 FROM payment_alerts a
          WHERE a.kind = 'listener_dead' AND a.subject = e.id) AS was_given_up`,
      ],
      own: bytesOf('payload'),
    },
    OF_PAYMENT('payment_outbox'),
  ),
  partOf(
    { name: 'payment_deliveries', columns: ['e.*'], own: bytesOf('last_error') },
    `SELECT d.rowid, d.rowid FROM payment_outbox o CROSS JOIN payment_deliveries d
      WHERE o.transaction_id = :id AND d.outbox_id = o.id`,
  ),
] as const

const STORY = [
  `SELECT *, (SELECT installation FROM payment_ledger) AS ours
    FROM payment_transactions WHERE id = :id`,
  'SELECT * FROM payment_refunds WHERE transaction_id = :id ORDER BY rowid',
  'SELECT * FROM payment_alerts WHERE transaction_id = :id ORDER BY rowid',
  `${AUDIT_SQL} WHERE a.transaction_id = :id ORDER BY a.id`,
  'SELECT * FROM payment_notes WHERE transaction_id = :id ORDER BY id',
  ...STORY_PARTS,
] as const

const RATES = `SELECT received_at / 60000 * 60000 AS minute, outcome, count(*) AS events
  FROM payment_webhook_events WHERE received_at >= :from AND received_at < :to
  GROUP BY 1, 2 ORDER BY 1, 2`

interface RateRow {
  minute: number
  outcome: Outcome
  events: number
}

/** The rows are ordered by minute. */
function toRates(rows: readonly RateRow[]): WebhookRate[] {
  const rates: WebhookRate[] = []
  for (const { minute, outcome, events } of rows) {
    const at = isoTime(minute)
    let rate = rates.at(-1)
    if (rate?.at !== at) {
      rate = { at, outcomes: {} }
      rates.push(rate)
    }
    rate.outcomes[outcome] = events
  }
  return rates
}
