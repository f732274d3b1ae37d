// What a shop and its payers do, by chance, with gateways that misbehave: charges, asked for again
// where they were not answered; payments, whose webhooks come doubled, late, or out of order; and
// refunds.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Faults } from '../../local/simulator/faults.ts'
import type { Action } from '../../local/simulator/payment.ts'
import type { ReceivedEvent } from '../../test/support/event-receiver.ts'
import type { House } from './house.ts'
import type { Recorder } from './record.ts'
import type { Seeded } from './seeded.ts'

const MOST_PAUSE_MS = 300
const ATTEMPTS = 4
const AGAIN_MS = 700
/** So long an answer is kept back; what is asked for again is answered. */
const TIMES_OUT_MS = 1_500
/** Longer than the edge takes for any answer. */
const ANSWER_MS = 30_000
const REFUNDED = 0.3
const REFUNDED_TWICE = 0.2

/** How the gateway treats an order: nothing special, half of the time. */
const TREATMENTS: readonly (readonly [weight: number, faults: Faults])[] = [
  [40, {}],
  [10, { copies: 2 }],
  [3, { copies: 50 }],
  [8, { lateMs: 1_200 }],
  [8, { outOfOrder: true }],
  [8, { amount: 12_000 }],
  [8, { beforeAnswer: true }],
  [4, { lost: true }],
  [4, { refundFails: true }],
  [3, { timeout: true, endpoints: ['init', 'create'] }],
  [4, { slowMs: 800 }],
]

const ENDINGS: readonly (readonly [weight: number, action: Action | undefined])[] = [
  [75, 'pay'],
  [10, 'fail'],
  [5, 'cancel'],
  [5, 'expire'],
  [5, undefined],
]

interface Answer {
  status: number
  body: { transactionId?: string; gatewayTransactionId?: string; status?: string } | null
}

export class PaymentsLoad {
  readonly #house: House
  readonly #recorder: Recorder
  readonly #random: Seeded
  readonly #chores = new Set<Promise<void>>()
  /** Where the shop calls: each request the next one. */
  edges: readonly string[]
  /** By gateway: when a charge last got its page, by performance.now(). */
  readonly #charged = new Map<string, number>()
  #orders = 0
  #requests = 0
  #isOver = false

  constructor(house: House, recorder: Recorder, random: Seeded) {
    this.#house = house
    this.#recorder = recorder
    this.#random = random
    this.edges = [house.edgeUrl]
  }

  async run(): Promise<void> {
    while (!this.#isOver) {
      this.#chore(this.#order(this.#random.fork()))
      await sleep(this.#random.below(MOST_PAUSE_MS))
    }
  }

  /** No new orders; those that were begun go on. */
  end(): void {
    this.#isOver = true
  }

  /** Whether both gateways have made a payment since then. */
  hasChargedSince(time: number): boolean {
    return this.#charged.size === 2 && [...this.#charged.values()].every((at) => at > time)
  }

  /** Resolves when nothing is under way any more. */
  async rest(): Promise<void> {
    while (this.#chores.size > 0) await Promise.all(this.#chores)
  }

  /** The shop's own rule: some of what was paid goes back. */
  onEvent({ type, data: { transaction } }: ReceivedEvent): void {
    if (type !== 'PaymentSucceeded' || !transaction?.paid) return
    const { id, gateway, paid } = transaction
    if (this.#random.next() >= REFUNDED) return
    const times = this.#random.next() < REFUNDED_TWICE ? 2 : 1
    for (let n = 0; n < times; n++)
      this.#chore(this.#refund(gateway, id, paid.amount, `refund ${n}`))
  }

  #chore(work: Promise<void>): void {
    const chore = work
      .catch((error: unknown) => this.#recorder.write({ kind: 'broken', error: String(error) }))
      .finally(() => this.#chores.delete(chore))
    this.#chores.add(chore)
  }

  async #order(random: Seeded): Promise<void> {
    const { simulator } = this.#house
    const order = `order-${++this.#orders}`
    const faults = random.weighted(TREATMENTS)
    // Nobody can pay at the bank before its code was shown: that is known to end badly.
    const isRedirect = faults.beforeAnswer || random.next() < 0.7
    const gateway = isRedirect ? 'redirect' : 'fib'
    const ending = random.weighted(ENDINGS)
    if (Object.keys(faults).length > 0) await simulator.faults(order, faults)
    const charging = this.#charge(gateway, order, 1_000 + 250 * random.below(200))
    if (faults.timeout) {
      await sleep(TIMES_OUT_MS)
      await simulator.faults(order, {})
    }
    const charged = await charging
    const payment = charged?.body?.gatewayTransactionId
    if (payment === undefined || ending === undefined || faults.beforeAnswer) return
    await sleep(random.below(500))
    await simulator.act(payment, ending)
  }

  async #charge(gateway: string, order: string, amount: number): Promise<Answer | undefined> {
    const body = { gateway, reference: order, amount, currency: 'IQD', description: order }
    const what = { kind: 'charge', order, gateway, amount, currency: 'IQD' }
    const answer = await this.#untilDone('/charges', body, `key of ${order}`, what)
    if (answer?.status === 201) this.#charged.set(gateway, performance.now())
    return answer?.body?.status === 'Pending' ? answer : undefined
  }

  async #refund(gateway: string, transactionId: string, amount: number, name: string) {
    const body = { gateway, transactionId, amount, reason: name }
    const what = { kind: 'refund', gateway, transactionId, amount }
    await this.#untilDone('/refunds', body, `${name} of ${transactionId}`, what)
  }

  /** The same request with the same key, until it is answered for good. */
  async #untilDone(
    path: string,
    body: object,
    key: string,
    what: Record<string, unknown> & { kind: string },
  ): Promise<Answer | undefined> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (attempt > 0) await sleep(AGAIN_MS * attempt)
      if (attempt > 0 && this.#isOver) return undefined
      const sentAt = performance.now()
      const answer = await this.#post(path, body, key)
      const tookMs = Math.round(performance.now() - sentAt)
      this.#recorder.write({ ...what, tookMs, ...answer })
      if (answer.status >= 200 && answer.status < 300) return answer
      if (answer.status === 422) return undefined
    }
    return undefined
  }

  async #post(path: string, body: object, key: string): Promise<Answer> {
    const edge = this.edges[this.#requests++ % this.edges.length]
    try {
      const response = await fetch(`${edge}/api/payments${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${this.#house.tokens.payments}`,
          'idempotency-key': key,
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(ANSWER_MS),
      })
      return { status: response.status, body: (await response.json()) as Answer['body'] }
    } catch {
      return { status: 0, body: null }
    }
  }
}
