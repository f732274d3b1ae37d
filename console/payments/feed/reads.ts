// What one round asks the edge for, and where the answers go: signals in, signals out.

import { type Signal, signal } from '@preact/signals'
import type { Transaction } from '../../../worker/payments/domain/transaction.ts'
import type { GatewayHealth } from '../../../worker/payments/gateways/guard/guard.ts'
import type {
  AlertRecord,
  EventRecord,
  Listed,
  ListedStory,
  Unreadable,
  WebhookRates,
} from '../../../worker/payments/queries/queries.ts'
import { ApiProblem, type ConditionalRead, conditionalRead } from '../../data/http.ts'
import { merge } from '../../data/merge.ts'

/** As `GET /api/payments/transactions/{id}` answers. */
export type StoryAnswer = TransactionStory | UnreadableStory
export type TransactionStory = Transaction & Omit<ListedStory, 'transaction'>
/** What is known of a payment whose own row cannot be read. */
type UnreadableStory = Unreadable & Omit<ListedStory, 'transaction'>

/** A list that keeps the objects of what did not change. */
export class ListRead<Row extends { id: string }> {
  readonly rows = signal<ReadonlyMap<string, Row> | undefined>(undefined)
  readonly #read: ConditionalRead<Record<string, unknown>>
  readonly #path: string
  readonly #name: string

  /** `name`: of the list within the answer. */
  constructor(send: typeof fetch, path: string, name: string) {
    this.#read = conditionalRead(send)
    this.#path = path
    this.#name = name
  }

  async refresh(signal: AbortSignal): Promise<void> {
    const { body, isNew } = await this.#read(this.#path, signal)
    if (!isNew) return
    const { items, changed } = merge(
      this.rows.peek() ?? new Map<string, Row>(),
      body[this.#name] as Row[],
    )
    if (changed.length > 0 || items.size !== this.rows.peek()?.size) this.rows.value = items
  }
}

/** One answer, whole. */
export class ValueRead<Body, Value> {
  readonly value = signal<Value | undefined>(undefined)
  readonly #read: ConditionalRead<Body>
  readonly #path: string
  readonly #pick: (body: Body) => Value

  constructor(send: typeof fetch, path: string, pick: (body: Body) => Value) {
    this.#read = conditionalRead(send)
    this.#path = path
    this.#pick = pick
  }

  async refresh(signal: AbortSignal): Promise<void> {
    const { body, isNew } = await this.#read(this.#path, signal)
    if (isNew) this.value.value = this.#pick(body)
  }
}

export type StoryShown =
  | { name: 'loading'; id: string }
  | { name: 'found'; id: string; story: StoryAnswer; changedAt?: number }
  | { name: 'unknown'; id: string }

/** The story of the payment that is open, if one is. */
export class StoryRead {
  readonly shown: Signal<StoryShown | undefined> = signal(undefined)
  readonly #read: ConditionalRead<StoryAnswer>

  constructor(send: typeof fetch) {
    this.#read = conditionalRead(send)
  }

  open(id: string | undefined): void {
    if (this.shown.peek()?.id === id) return
    this.shown.value = id === undefined ? undefined : { name: 'loading', id }
  }

  async refresh(signal: AbortSignal): Promise<void> {
    const before = this.shown.peek()
    if (!before) return
    const { id } = before
    try {
      const path = `/api/payments/transactions/${encodeURIComponent(id)}`
      const { body, isNew } = await this.#read(path, signal)
      // Another one may be open by now.
      const isOpen = this.shown.peek()?.id === id
      if (isOpen && (isNew || before.name !== 'found')) {
        this.shown.value = { name: 'found', id, story: body }
      }
    } catch (problem) {
      const isUnknown = problem instanceof ApiProblem && problem.code === 'unknown_transaction'
      if (!isUnknown) throw problem
      if (this.shown.peek()?.id === id) this.shown.value = { name: 'unknown', id }
    }
  }
}

/** The most rows that the edge gives at once. */
export const MOST_ROWS = 200

/** What stands beside the transactions. */
export function surroundings(send: typeof fetch) {
  const path = '/api/payments'
  return {
    alerts: new ListRead<Listed<AlertRecord>>(send, `${path}/alerts?limit=${MOST_ROWS}`, 'alerts'),
    parked: new ListRead<Listed<EventRecord>>(
      send,
      `${path}/webhook-events?outcome=parked&limit=${MOST_ROWS}`,
      'webhookEvents',
    ),
    gateways: new ValueRead(
      send,
      `${path}/gateways`,
      ({ gateways }: { gateways: readonly GatewayHealth[] }) => gateways,
    ),
    rates: new ValueRead(send, `${path}/webhook-rates?minutes=60`, (rates: WebhookRates) => rates),
  }
}
