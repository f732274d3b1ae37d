// Loads the rows that a group of operations needs, by their keys. There is no rule here.

import type { Keys } from '../operation.ts'
import { type Changes, type EarlierEvent, type TableName, WorkingSet } from '../working-set.ts'
import { type Lookup, lookupsOf } from './lookups-libsql.ts'
import { type Row, type Statement, statement } from './statement-libsql.ts'
import { COLUMNS, TABLE } from './tables-libsql.ts'

/** Statements of one transaction, and how their results are read together. */
export interface Load {
  statements: Statement[]
  read(results: readonly (readonly Row[])[]): WorkingSet
}

export function loadOf(keys: Keys): Load {
  const left: Partial<Record<TableName, string[]>> = {
    webhookEvents: ['raw'],
    outbox: keys.dueEvents ? [] : ['payload'],
  }
  const parts = lookupsOf(keys).map(({ table, ...lookup }) =>
    table === 'transactions' ? paymentsPart(lookup, keys) : rowsPart(table, lookup, left[table]),
  )
  return {
    statements: parts.map((part) => part.statement),
    read(results) {
      const loaded: Changes = {}
      const events: EarlierEvent[] = []
      for (const [at, part] of parts.entries()) {
        part.read(JSON.parse(String(results[at]?.[0]?.rows ?? '[]')), loaded, events)
      }
      return new WorkingSet(loaded, events)
    },
  }
}

interface Part {
  statement: Statement
  /** `rows`: each as the values of its columns. */
  read(rows: unknown[][], into: Changes, events: EarlierEvent[]): void
}

/** A payment's refunds, its earlier events and its alerts are nested in its row. */
function paymentsPart(lookup: Lookup, keys: Keys): Part {
  // The request is long, and only a check needs it, and a charge that is compared with it.
  const isAsked = keys.dueChecks !== undefined || (keys.orders ?? []).length > 0
  const columns = columnsOf('transactions', 't', isAsked ? [] : ['request'])
  const sql = `SELECT json_group_array(json_array(${columns},
      json((SELECT json_group_array(json_array(${columnsOf('refunds', 'r')}))
        FROM payment_refunds r WHERE r.transaction_id = t.id)),
      json((SELECT json_group_array(json_array(e.id, e.outcome, e.to_status))
        FROM payment_webhook_events e WHERE e.transaction_id = t.id)),
      json((SELECT json_group_array(json_array(${columnsOf('alerts', 'a')}))
        FROM payment_alerts a WHERE a.transaction_id = t.id)))) AS rows
    FROM payment_transactions t WHERE t.id IN (${lookup.sql})`
  return {
    statement: statement(sql, lookup.args),
    read(rows, into, events) {
      const count = COLUMNS.transactions.length
      into.transactions = rows.map((values) => toRow('transactions', values))
      into.refunds = rows.flatMap((values) =>
        (values[count] as unknown[][]).map((refund) => toRow('refunds', refund)),
      )
      into.alerts = rows.flatMap((values) =>
        (values[count + 2] as unknown[][]).map((alert) => toRow('alerts', alert)),
      )
      for (const values of rows) {
        for (const [id, outcome, to_status] of values[count + 1] as unknown[][]) {
          events.push({ id, transaction_id: values[0], outcome, to_status } as EarlierEvent)
        }
      }
    },
  }
}

function rowsPart(
  name: Exclude<TableName, 'transactions' | 'refunds'>,
  lookup: Lookup,
  left: readonly string[] = [],
): Part {
  const sql = `SELECT json_group_array(json_array(${columnsOf(name, 't', left)})) AS rows
    FROM ${TABLE[name]} t WHERE t.id IN (${lookup.sql})`
  return {
    statement: statement(sql, lookup.args),
    read(rows, into) {
      Object.assign(into, {
        [name]: [...(into[name] ?? []), ...rows.map((values) => toRow(name, values))],
      })
    },
  }
}

/** `left`: columns that are not read, as NULL. */
const columnsOf = (name: TableName, alias: string, left: readonly string[] = []): string =>
  COLUMNS[name].map((column) => (left.includes(column) ? 'NULL' : `${alias}.${column}`)).join(', ')

/** All in one JSON text: the client takes some 20 µs to build a row of so many columns. */
function toRow<Name extends TableName>(
  name: Name,
  values: readonly unknown[],
): NonNullable<Changes[Name]>[number] {
  const row: Record<string, unknown> = {}
  for (const [at, column] of COLUMNS[name].entries()) row[column] = values[at]
  return row as unknown as NonNullable<Changes[Name]>[number]
}
