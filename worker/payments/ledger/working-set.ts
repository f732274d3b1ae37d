// The rows that were loaded for a group of operations, with their changes: each operation decides
// on the rows as the one before it left them. It knows no rule and no database.

import { type Match, matchTransaction, type PaymentIds } from '../domain/match.ts'
import type { Payment } from '../domain/payment.ts'
import type {
  AlertRow,
  ChargeKeyRow,
  DeliveryRow,
  OutboxRow,
  RefundRow,
  TransactionRow,
  WebhookEventRow,
} from '../domain/rows.ts'

export interface Rows {
  transactions: TransactionRow[]
  chargeKeys: ChargeKeyRow[]
  refunds: RefundRow[]
  /** Loaded without `raw`, which no decision needs. */
  webhookEvents: WebhookEventRow[]
  /** Loaded without `payload` where it is not dispatched. */
  outbox: OutboxRow[]
  deliveries: DeliveryRow[]
  alerts: AlertRow[]
}

export type TableName = keyof Rows
export type TableRow = Rows[TableName][number]

/** Written in this order, so that a row comes after those that it refers to. */
export const TABLES = [
  'transactions',
  'chargeKeys',
  'webhookEvents',
  'refunds',
  'outbox',
  'deliveries',
  'alerts',
] as const satisfies readonly TableName[]

/** Rows that an operation has made or changed. */
export type Changes = Partial<Rows>

/** Of one table: new rows, and each changed row beside what was loaded. */
export interface TableChanges<Row> {
  inserted: Row[]
  updated: { before: Row; after: Row }[]
}

/** An earlier event of a transaction, as far as a decision needs it. */
export type EarlierEvent = Payment['webhookEvents'][number] & { transaction_id: string }

export interface Matched extends Match {
  /** Of its row. */
  payment: Payment
}

export class WorkingSet {
  readonly #tables: { [Name in TableName]: Table<Rows[Name][number]> }
  readonly #events = new Map<string, EarlierEvent[]>()

  constructor(loaded: Changes, events: readonly EarlierEvent[] = []) {
    this.#tables = {
      transactions: new Table(loaded.transactions),
      chargeKeys: new Table(loaded.chargeKeys),
      refunds: new Table(loaded.refunds),
      webhookEvents: new Table(loaded.webhookEvents),
      outbox: new Table(loaded.outbox),
      deliveries: new Table(loaded.deliveries),
      alerts: new Table(loaded.alerts),
    }
    for (const event of events) this.#remember(event)
  }

  get<Name extends TableName>(table: Name, id: string): Rows[Name][number] | undefined {
    return this.#tables[table].get(id)
  }

  all<Name extends TableName>(table: Name): readonly Rows[Name][number][] {
    return this.#tables[table].all()
  }

  match(ids: PaymentIds): Matched | undefined {
    const match = matchTransaction(this.all('transactions'), ids)
    return match && { ...match, payment: this.#paymentOf(match.row) }
  }

  payment(id: string | undefined): Payment | undefined {
    const transaction = id === undefined ? undefined : this.get('transactions', id)
    return transaction && this.#paymentOf(transaction)
  }

  #paymentOf(transaction: TransactionRow): Payment {
    const { id } = transaction
    const refunds = this.all('refunds').filter((row) => row.transaction_id === id)
    const alerts = this.all('alerts').filter((row) => row.transaction_id === id)
    return { transaction, refunds, webhookEvents: this.#events.get(id) ?? [], alerts }
  }

  apply(changes: Changes): void {
    for (const table of TABLES) {
      for (const row of changes[table] ?? []) this.#put(table, row)
    }
    for (const event of changes.webhookEvents ?? []) {
      const { id, transaction_id, outcome, to_status } = event
      if (transaction_id !== null) this.#remember({ id, transaction_id, outcome, to_status })
    }
  }

  /** A copy with these changes, for an operation that decides in steps. */
  with(changes: Changes): WorkingSet {
    const rows = Object.fromEntries(TABLES.map((table) => [table, [...this.all(table)]]))
    const copy = new WorkingSet(rows, [...this.#events.values()].flat())
    copy.apply(changes)
    return copy
  }

  changesOf<Name extends TableName>(table: Name): TableChanges<Rows[Name][number]> {
    return this.#tables[table].changes()
  }

  get isChanged(): boolean {
    return TABLES.some((table) => this.#tables[table].isChanged)
  }

  #put<Name extends TableName>(table: Name, row: Rows[Name][number]): void {
    this.#tables[table].put(row)
  }

  #remember(event: EarlierEvent): void {
    const { id, transaction_id } = event
    const others = this.#events.get(transaction_id)?.filter((known) => known.id !== id) ?? []
    this.#events.set(transaction_id, [...others, event])
  }
}

class Table<Row extends { id: string }> {
  readonly #loaded = new Map<string, Row>()
  readonly #rows = new Map<string, Row>()
  readonly #changed = new Set<string>()

  constructor(loaded: readonly Row[] = []) {
    for (const row of loaded) {
      this.#loaded.set(row.id, row)
      this.#rows.set(row.id, row)
    }
  }

  get(id: string): Row | undefined {
    return this.#rows.get(id)
  }

  all(): readonly Row[] {
    return [...this.#rows.values()]
  }

  put(row: Row): void {
    if (this.#rows.get(row.id) === row) return
    this.#rows.set(row.id, row)
    this.#changed.add(row.id)
  }

  get isChanged(): boolean {
    return this.#changed.size > 0
  }

  changes(): TableChanges<Row> {
    const changes: TableChanges<Row> = { inserted: [], updated: [] }
    for (const id of this.#changed) {
      const before = this.#loaded.get(id)
      const after = this.#rows.get(id)
      if (!after) continue
      if (before) changes.updated.push({ before, after })
      else changes.inserted.push(after)
    }
    return changes
  }
}
