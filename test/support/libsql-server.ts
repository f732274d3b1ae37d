// libSQL's server with other tables than those of a new installation.

import {
  type LibsqlServer,
  type PaymentsDatabase,
  startLibsql,
} from '../../tools/harness/database.ts'
import { statement } from '../../worker/payments/ledger/libsql/statement-libsql.ts'

/** The tables of payments. A table comes before those that it refers to. */
export const TABLES = [
  'payment_notes',
  'payment_alerts',
  'payment_deliveries',
  'payment_outbox',
  'payment_refunds',
  'payment_disputes',
  'payment_webhook_events',
  'payment_charge_keys',
  'payment_transactions',
]

/** Empties all tables, as after a new migration. */
export async function wipe({ query }: Pick<PaymentsDatabase, 'query'>): Promise<void> {
  for (const table of ['payment_search', ...TABLES]) await query(`DELETE FROM ${table}`)
}

/** Only with the tables of a script. Each statement ends with a line; none of its texts does. */
export async function startLibsqlWith(script: string): Promise<LibsqlServer> {
  const server = await startLibsql({ isEmpty: true })
  const statements = script.split(/;$/m).filter((sql) => sql.trim() !== '')
  await server.database.write(
    statements.map((sql) => statement(sql)),
    AbortSignal.timeout(60_000),
  )
  return server
}
