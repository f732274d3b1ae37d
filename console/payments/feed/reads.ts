// The reads of one polling round. Their results are signals.

import { type Signal, signal } from '@preact/signals'
import type {
  Alert,
  Gateway,
  TransactionStory,
  WebhookEvent,
  WebhookRates,
} from '../../../api/types.ts'
import { ApiProblem, type ConditionalRead, conditionalRead } from '../../data/http.ts'
import { merge } from '../../data/merge.ts'
import { type Listed, type Story, storyOf } from './story.ts'

/** A list. Rows that did not change stay the same objects. */
export class ListRead<Row extends { id: string }> {
  readonly rows = signal<ReadonlyMap<string, Row> | undefined>(undefined)
  readonly #read: ConditionalRead<Record<string, unknown>>
  readonly #path: string
  readonly #name: string

  /** `name`: the field of the response that holds the list. */
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

/** A single value. */
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
  | { name: 'found'; id: string; story: Story }
  | { name: 'unknown'; id: string }

/** The story of the open payment, if one is open. */
export class StoryRead {
  readonly shown: Signal<StoryShown | undefined> = signal(undefined)
  readonly #read: ConditionalRead<TransactionStory>

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
      // The user may have opened another payment by now.
      const isOpen = this.shown.peek()?.id === id
      if (isOpen && (isNew || before.name !== 'found')) {
        this.shown.value = { name: 'found', id, story: storyOf(body) }
      }
    } catch (problem) {
      const isUnknown = problem instanceof ApiProblem && problem.code === 'unknown_transaction'
      if (!isUnknown) throw problem
      if (this.shown.peek()?.id === id) this.shown.value = { name: 'unknown', id }
    }
  }
}

/** The maximum page size of the edge. */
export const MAX_ROWS = 200

/** Everything but the transactions. */
export function overviewReads(send: typeof fetch) {
  const path = '/api/payments'
  return {
    alerts: new ListRead<Listed<Alert>>(send, `${path}/alerts?limit=${MAX_ROWS}`, 'alerts'),
    parked: new ListRead<Listed<WebhookEvent>>(
      send,
      `${path}/webhook-events?outcome=parked&limit=${MAX_ROWS}`,
      'webhookEvents',
    ),
    gateways: new ValueRead(
      send,
      `${path}/gateways`,
      ({ gateways }: { gateways: readonly Gateway[] }) => gateways,
    ),
    rates: new ValueRead(send, `${path}/webhook-rates?minutes=60`, (rates: WebhookRates) => rates),
  }
}
