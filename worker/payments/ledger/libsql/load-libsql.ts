// How the rows of a group of operations are loaded, by their keys.

import type { Keys } from '../../acts/operation.ts'
import { type EventKey, type Stored, WorkingSet } from '../../acts/working-set.ts'
import { type Rows, TABLES, type TableName } from '../../domain/rows.ts'
import { type Lookup, lookupsOf } from './lookups-libsql.ts'
import { type Row, type Statement, statement } from './statement-libsql.ts'

/** Statements of one transaction, and how their results are read together. */
interface Load {
  statements: Statement[]
  read(results: readonly (readonly Row[])[], stored: Omit<Stored, 'forgotten'>): WorkingSet
}

export function loadOf(keys: Keys): Load {
  const { webhookEvents: asked = [] } = keys
  const forgotten = asked.length > 0 ? [forgottenOf(asked)] : []
  const left: Partial<Record<TableName, string[]>> = {
    webhookEvents: ['raw'],
    outbox: keys.dueEvents ? [] : ['payload'],
  }
  const parts = lookupsOf(keys).map(({ table, ...lookup }) =>
    table === 'transactions' ? paymentsPart(lookup, keys) : rowsPart(table, lookup, left[table]),
  )
  return {
    statements: [...parts.map((part) => part.statement), ...forgotten],
    read(results, stored) {
      const loaded: Partial<Rows> = {}
      for (const [at, part] of parts.entries()) {
        part.read(JSON.parse(String(results[at]?.[0]?.rows ?? '[]')), loaded)
      }
      const bare = (results[parts.length] ?? []) as unknown as EventKey[]
      return new WorkingSet({ ...stored, forgotten: bare }, loaded)
    },
  }
}

const forgottenOf = (asked: readonly EventKey[]): Statement =>
  statement(
    `SELECT e.gateway, e.event_id FROM json_each(:known) k CROSS JOIN payment_event_keys e
      WHERE e.gateway = k.value ->> 0 AND e.event_id = k.value ->> 1`,
    { known: JSON.stringify(asked.map(({ gateway, event_id }) => [gateway, event_id])) },
  )

interface Part {
  statement: Statement
  /** `rows`: each as the values of its columns. */
  read(rows: unknown[][], into: Partial<Rows>): void
}

const NESTED = ['refunds', 'disputes', 'alerts'] as const

/** A payment's refunds, disputes and alerts are nested in its row. */
function paymentsPart(lookup: Lookup, keys: Keys): Part {
  // The request is long, and only a check needs it, and a charge that is compared with it.
  const { dueChecks, checks = [], orders = [] } = keys
  const isAsked = dueChecks !== undefined || checks.length + orders.length > 0
  const columns = columnsOf('transactions', 't', isAsked ? [] : ['request'])
  const nested = NESTED.map(
    (name) => `json((SELECT json_group_array(json_array(${columnsOf(name, 'n')}))
        FROM ${TABLES[name].name} n WHERE n.transaction_id = t.id))`,
  )
  const sql = `SELECT json_group_array(json_array(${[columns, ...nested].join()})) AS rows
    FROM payment_transactions t WHERE t.id IN (${lookup.sql})`
  return {
    statement: statement(sql, lookup.args),
    read(rows, into) {
      const count = TABLES.transactions.names.length
      into.transactions = rows.map((values) => toRow('transactions', values))
      for (const [at, name] of NESTED.entries()) {
        const nested = rows.flatMap((values) => values[count + at] as unknown[][])
        Object.assign(into, { [name]: nested.map((values) => toRow(name, values)) })
      }
    },
  }
}

function rowsPart(
  name: Exclude<TableName, 'transactions' | 'refunds' | 'disputes' | 'audit' | 'movements'>,
  lookup: Lookup,
  left: readonly string[] = [],
): Part {
  const sql = `SELECT json_group_array(json_array(${columnsOf(name, 't', left)})) AS rows
    FROM ${TABLES[name].name} t WHERE t.id IN (${lookup.sql})`
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
  TABLES[name].names
    .map((column) => (left.includes(column) ? 'NULL' : `${alias}.${column}`))
    .join(', ')

/** All in one JSON text: the client takes some 20 µs to build a row of so many columns. */
function toRow<Name extends TableName>(name: Name, values: readonly unknown[]): Rows[Name][number] {
  const row: Record<string, unknown> = {}
  for (const [at, column] of TABLES[name].names.entries()) row[column] = values[at]
  return row as unknown as Rows[Name][number]
}
