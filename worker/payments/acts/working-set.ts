// The rows that were loaded for a group of acts, with their changes: each act decides
// on the rows as the one before it left them. No rule and no database is here.

import { type Match, matchTransaction, type PaymentIds } from '../domain/match.ts'
import type { Payment } from '../domain/payment.ts'
import {
  type Rows,
  TABLE_NAMES,
  type TableName,
  type TableRow,
  type TransactionRow,
} from '../domain/rows.ts'

/** While payments are paused, nothing new is begun; what was begun is settled. */
export interface Pause {
  /** ms */
  since: number
  /** The subject that asked for it. */
  by: string
}

/** Rows of any tables. */
export type Changes = { readonly [Name in TableName]?: readonly Rows[Name][number][] }

/** What changed in one table: new rows, and each changed row beside what was loaded. */
export interface TableChanges<Row> {
  inserted: Row[]
  updated: { before: Row; after: Row }[]
}

export interface Matched extends Match {
  /** The payment of its row. */
  payment: Payment
}

/** An event as its gateway names it. */
export interface EventKey {
  gateway: string
  event_id: string
}

/** What is stored beside the rows. */
export interface Stored {
  installation: string
  /** Payments are paused. */
  pause?: Pause | undefined
  /** Events of which only the keys are left. */
  forgotten?: readonly EventKey[]
}

export class WorkingSet {
  /** The database's own id. */
  readonly installation: string
  readonly #tables: { [Name in TableName]: Table<Rows[Name][number]> }
  readonly #forgotten: readonly EventKey[]
  readonly #loadedPause: Pause | undefined
  #pause: Pause | undefined
  /** What takes the changes of the running act back, in their order. */
  #undo: (() => void)[] = []

  constructor({ installation, pause, forgotten = [] }: Stored, loaded: Changes) {
    this.installation = installation
    this.#loadedPause = pause
    this.#pause = pause
    this.#forgotten = forgotten
    const tables = TABLE_NAMES.map((name) => [name, new Table<TableRow>(loaded[name])])
    this.#tables = Object.fromEntries(tables)
  }

  get<Name extends TableName>(table: Name, id: string): Rows[Name][number] | undefined {
    return this.#tables[table].get(id)
  }

  all<Name extends TableName>(table: Name): readonly Rows[Name][number][] {
    return this.#tables[table].all()
  }

  /** Payments are paused. */
  get pause(): Pause | undefined {
    return this.#pause
  }

  set pause(pause: Pause | undefined) {
    const before = this.#pause
    this.#undo.push(() => {
      this.#pause = before
    })
    this.#pause = pause
  }

  get isPauseChanged(): boolean {
    return this.#pause !== this.#loadedPause
  }

  /** The event was recorded before, and only its key is left. */
  isForgotten(gateway: string, eventId: string): boolean {
    return this.#forgotten.some((key) => key.gateway === gateway && key.event_id === eventId)
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
    const ofIt = this.all('refunds').filter((row) => row.transaction_id === id)
    const refunds = ofIt.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    const disputes = this.all('disputes').filter((row) => row.transaction_id === id)
    const alerts = this.all('alerts').filter((row) => row.transaction_id === id)
    return { transaction, refunds, disputes, alerts }
  }

  /** Replaces the rows with these ids. */
  put(changes: Changes): void {
    for (const table of TABLE_NAMES) {
      for (const row of changes[table] ?? []) this.#put(table, row)
    }
  }

  /** If `work` throws, nothing is changed. */
  attempt<Result>(work: () => Result): Result {
    const before = this.#undo
    this.#undo = []
    try {
      const result = work()
      before.push(...this.#undo)
      return result
    } catch (error) {
      for (const undo of this.#undo.reverse()) undo()
      throw error
    } finally {
      this.#undo = before
    }
  }

  changesOf<Name extends TableName>(table: Name): TableChanges<Rows[Name][number]> {
    return this.#tables[table].changes()
  }

  get isChanged(): boolean {
    return this.isPauseChanged || TABLE_NAMES.some((table) => this.#tables[table].isChanged)
  }

  #put<Name extends TableName>(table: Name, row: Rows[Name][number]): void {
    const before = this.get(table, row.id)
    this.#undo.push(() => this.#tables[table].set(row.id, before))
    this.#tables[table].set(row.id, row)
  }
}

class Table<Row extends { id: string }> {
  readonly #loaded: ReadonlyMap<string, Row>
  readonly #rows: Map<string, Row>

  constructor(loaded: readonly Row[] = []) {
    this.#loaded = new Map(loaded.map((row) => [row.id, row]))
    this.#rows = new Map(this.#loaded)
  }

  get(id: string): Row | undefined {
    return this.#rows.get(id)
  }

  all(): readonly Row[] {
    return [...this.#rows.values()]
  }

  set(id: string, row: Row | undefined): void {
    if (row) this.#rows.set(id, row)
    else this.#rows.delete(id)
  }

  get isChanged(): boolean {
    return this.all().some((row) => this.#loaded.get(row.id) !== row)
  }

  changes(): TableChanges<Row> {
    const changes: TableChanges<Row> = { inserted: [], updated: [] }
    for (const after of this.#rows.values()) {
      const before = this.#loaded.get(after.id)
      if (!before) changes.inserted.push(after)
      else if (before !== after) changes.updated.push({ before, after })
    }
    return changes
  }
}
