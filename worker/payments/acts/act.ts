// An act, as the writer takes it: which rows it has to see, and what it decides on them. Many are
// loaded as one working set, decided one after the other, each on the rows as the one before it
// left them, and saved as one transaction. No rule and no database is here. Pure.

import type { Payment } from '../domain/payment.ts'
import { type Rows, TABLE_NAMES, type TableName, type TableRow } from '../domain/rows.ts'
import type { DurableEvent } from '../domain/status.ts'
import type { References } from '../domain/types.ts'

/** A day of events may wait: one save of all of them would hold up every payment. */
export const HURRIED_AT_ONCE = 500

export interface DueClaim {
  now: number
  limit: number
}

export interface EventClaim extends DueClaim {
  /** Also what was due until then, after `now`: it has waited, and the clock was set back. */
  dueBy?: number
}

/** Failed events that wait for their next try. `since`: in ms, of those made from then on. */
export interface WaitingFor {
  endpoint: string
  since: number
  now: number
}

/** How rows are looked up, and by what. A payment comes with its refunds, disputes and alerts. */
export interface Lookups {
  payment: [id: string]
  /** With its request. */
  check: [id: string]
  gatewayId: [gateway: string, id: string]
  externalId: [gateway: string, id: string]
  /** The payment of this order that has no gateway's id. */
  unnamed: [gateway: string, reference: string]
  /** The payment of this idempotency key, which may be a further one. */
  chargeKey: [gateway: string, key: string]
  /** Every attempt to pay this order, with their requests. */
  order: [gateway: string, reference: string]
  /** The further idempotency keys of this payment. */
  keysOf: [transactionId: string]
  /**
   * A charge that ended: its payment, the other one with this id, and what is parked for it, with
   * the payments that have the ids of that.
   */
  charge: [id: string, gatewayId: string | null]
  /** A refund's payment. */
  refund: [id: string]
  event: [gateway: string, eventId: string]
  /** A parked event by its id, with the payments that have its ids. */
  parked: [id: string]
  outbox: [id: string]
  /** The payment of this outbox row. */
  paymentOf: [outboxId: string]
  /** With the open alert about its endpoint. */
  delivery: [id: string]
  /** With its outbox row. */
  redelivered: [id: string]
  /** Deliveries that wait for an endpoint, the oldest `HURRIED_AT_ONCE`. */
  waiting: [endpoint: string, now: number, since: number]
  alert: [kind: string, subject: string]
  /** With its payment. */
  alertId: [id: string]
  /** What is due, up to a limit. */
  dueChecks: [DueClaim]
  dueEvents: [Required<EventClaim>]
  /** Parked events whose payment has appeared. */
  dueParked: [{ limit: number }]
}

export type Key = { [Name in keyof Lookups]: readonly [Name, ...Lookups[Name]] }[keyof Lookups]

export interface Act<Answer> {
  /** The rows that it has to see. */
  keys: readonly Key[]
  /**
   * Puts what changes into the rows; if it throws, nothing does. Called again if what is stored has
   * changed before they were saved.
   */
  decide(rows: WorkingSet): Answer
}

/** Who gets stored events, as configured. An event without a subscriber is stored as done. */
export interface Subscribers {
  hasListeners(type: DurableEvent): boolean
  /** URL of the host application's endpoint, if it wants events of this type. */
  endpointFor(type: DurableEvent): string | undefined
}

/** How decisions are stored, as configured. */
export interface Rules {
  subscribers: Subscribers
  /** Whether a reference is the same order at all gateways. */
  references: References
}

/** Who asked for a call, for the audit trail. Missing: no caller did, as in a sweep. */
export interface AskedBy {
  /** ULID, generated once for each call. */
  id: string
  /** The subject. */
  by: string
}

/** It would have been begun now. `transactionId`: of the payment that it is about. */
export interface Paused {
  state: 'paused'
  transactionId?: string
}

export const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1)

/** Throws where its caller has taken the id from a payment that it knows. */
export function paymentIn(rows: WorkingSet, id: string): Payment {
  const payment = rows.payment(id)
  if (!payment) throw new Error(`there is no transaction ${id}`)
  return payment
}

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

  payment(id: string | undefined): Payment | undefined {
    const transaction = id === undefined ? undefined : this.get('transactions', id)
    if (!transaction) return undefined
    const ofIt = this.all('refunds').filter((row) => row.transaction_id === id)
    const refunds = ofIt.toSorted(byId)
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
  /** Made when it is asked for: of a group of 256 each act asks several times. */
  #all: readonly Row[] | undefined

  constructor(loaded: readonly Row[] = []) {
    this.#loaded = new Map(loaded.map((row) => [row.id, row]))
    this.#rows = new Map(this.#loaded)
  }

  get(id: string): Row | undefined {
    return this.#rows.get(id)
  }

  all(): readonly Row[] {
    this.#all ??= [...this.#rows.values()]
    return this.#all
  }

  set(id: string, row: Row | undefined): void {
    this.#all = undefined
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
