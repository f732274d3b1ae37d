// The database of payments in memory, with the adapter of the Node host: much faster than a server,
// for tests that need none.

import { readFileSync } from 'node:fs'
import type {
  AlertRecord,
  AuditRecord,
  EventRecord,
  Listed,
  Story,
  Transaction,
} from '../../worker/payments/domain/types.ts'
import { type LedgerDeps, openLedger } from '../../worker/payments/ledger/ledger.ts'
import type { Database } from '../../worker/payments/ledger/libsql/database-libsql.ts'
import { databaseOver } from '../../worker/payments/ledger/libsql/embedded-libsql.ts'
import { type Row, toRows } from '../../worker/payments/ledger/libsql/statement-libsql.ts'
import type { PaymentQueries } from '../../worker/payments/queries/queries-libsql.ts'
import { libsqlQueries } from '../../worker/payments/queries/queries-libsql.ts'
import { openSqlite } from '../../worker/shared/sqlite-libsql.ts'
import { RULES } from './acts.ts'

export interface SqliteDatabase extends Database {
  /** Several statements at once, without their rows. */
  exec(sql: string): void
  /** The rows of one statement. */
  all(sql: string): Row[]
}

/** `script`: instead of schema.sql. */
export function sqliteDatabase(script = readFileSync('schema.sql', 'utf8')): SqliteDatabase {
  const sqlite = openSqlite(':memory:')
  sqlite.exec(script)
  return {
    ...databaseOver(sqlite),
    exec: (sql) => sqlite.exec(sql),
    all: (sql) => toRows(sqlite.all(sql)),
  }
}

/** The ledger over it: the product's own code and SQL, without a server. */
export function sqliteLedger(deps: Omit<LedgerDeps, 'database' | 'rules'>) {
  const database = sqliteDatabase()
  const ledger = openLedger({ ...deps, database, rules: RULES })
  return { ledger, queries: readable(libsqlQueries(database)) }
}

type FoundStory = NonNullable<Awaited<ReturnType<PaymentQueries['story']>>>
type ReadableStory = Omit<FoundStory, keyof Story> & Story

export interface ReadableQueries extends PaymentQueries {
  transactions(...given: Parameters<PaymentQueries['transactions']>): Promise<Transaction[]>
  story(transactionId: string): Promise<ReadableStory | undefined>
  webhookEvents(...given: Parameters<PaymentQueries['webhookEvents']>): Promise<EventRecord[]>
  alerts(...given: Parameters<PaymentQueries['alerts']>): Promise<AlertRecord[]>
  audit(...given: Parameters<PaymentQueries['audit']>): Promise<AuditRecord[]>
}

/** Rejects when a row cannot be read. */
export const readable = (queries: PaymentQueries): ReadableQueries => ({
  ...queries,
  transactions: async (...given) => (await queries.transactions(...given)).map(read),
  webhookEvents: async (...given) => (await queries.webhookEvents(...given)).map(read),
  alerts: async (...given) => (await queries.alerts(...given)).map(read),
  audit: async (...given) => (await queries.audit(...given)).map(read),
  async story(id) {
    const story = await queries.story(id)
    return story && readStory(story)
  },
})

const readStory = (story: FoundStory): ReadableStory => ({
  ...story,
  transaction: read(story.transaction),
  webhookEvents: story.webhookEvents.map(read),
  refunds: story.refunds.map(read),
  events: story.events.map(read),
  alerts: story.alerts.map(read),
  audit: story.audit.map(read),
  notes: story.notes.map(read),
})

function read<Item extends object>(item: Listed<Item>): Item {
  if ('invalid' in item) throw new Error(`${item.id}: ${item.invalid}`)
  return item
}
