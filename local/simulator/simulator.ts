// The two gateways behind their interfaces: payments, what moves them, and who is told. It owns no
// clock and opens no socket: both come in.

import type { Clock } from '../../worker/shared/clock.ts'
import { AccessTokens } from './access-tokens.ts'
import { Book, type Opened } from './book.ts'
import type { Settings } from './config.ts'
import { Courier, type CourierDeps } from './courier.ts'
import { FaultBook, type Faults } from './faults.ts'
import type { Action, Order, Payment, State, Told } from './payment.ts'
import { bodyOf, tokenOf } from './signing.ts'
import { contentOf, wavesOf } from './webhook.ts'

export interface SimulatorDeps {
  settings: Settings
  clock: Pick<Clock, 'now' | 'after'>
  /** UUIDs. */
  newId(): string
  post: CourierDeps['post']
}

export type Acted =
  | {
      ok: true
      payment: Payment
      /** Resolves when its webhooks are taken or given up. */
      told: Promise<void>
      /** What the payer brings back to the shop; undefined where the gateway adds nothing. */
      shopToken: Promise<string | undefined>
    }
  | { ok: false; state: State }

const REDIRECT_SCOPES = ['payment:read', 'payment:write', 'reverse:write']
/** A webhook that nobody takes must not become a charge that times out. */
const MOST_BEFORE_ANSWER_MS = 5_000
/** Longer, and a timer fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export class Simulator {
  readonly settings: Settings
  readonly faults = new FaultBook()
  readonly courier: Courier
  readonly book: Book
  readonly tokens: Readonly<Record<'redirect' | 'fib', AccessTokens>>
  readonly newId: () => string
  readonly #clock: SimulatorDeps['clock']
  readonly #timers = new Set<() => void>()

  constructor({ settings, clock, newId, post }: SimulatorDeps) {
    const { redirect, fib, retriesMs } = settings
    this.settings = settings
    this.newId = newId
    this.#clock = clock
    this.book = new Book(newId)
    const encode: CourierDeps['encode'] = (webhook) => bodyOf(webhook, redirect.apiKey)
    this.courier = new Courier({ clock, encode, post, retriesMs })
    const lifetimes = { redirect: 60 * 60 * 1_000, fib: 60_000 }
    this.tokens = {
      redirect: new AccessTokens(
        { ...redirect, scopes: REDIRECT_SCOPES, lifetimeMs: lifetimes.redirect },
        newId,
      ),
      fib: new AccessTokens({ ...fib, scopes: [], lifetimeMs: lifetimes.fib }, newId),
    }
  }

  now(): number {
    return this.#clock.now()
  }

  faultsOf(payment: Payment | Order): Faults {
    return this.faults.of(namesOf(payment))
  }

  async charge(order: Order): Promise<Opened> {
    const opened = this.book.open(order, this.now())
    if (!opened.ok) return opened
    const { payment } = opened
    this.#later(payment.expiresAt - this.now(), () => this.act(payment, 'expire'))
    if (!this.faultsOf(payment).beforeAnswer) return opened
    const acted = this.act(payment, 'pay')
    if (!acted.ok) return opened
    const patience = new Promise<void>((resolve) => this.#later(MOST_BEFORE_ANSWER_MS, resolve))
    await Promise.race([acted.told, patience])
    return { ok: true, payment: acted.payment }
  }

  /** Moves a payment and starts to tell of it. */
  act(payment: Payment, action: Action): Acted {
    const faults = this.faultsOf(payment)
    const now = this.now()
    const { amount = payment.amount, currency = payment.currency } = faults
    const isOther = faults.amount !== undefined || faults.currency !== undefined
    const moved = this.book.move(payment, action, {
      now,
      ...(isOther && { paid: { amount, currency } }),
      ...(action === 'refund' && { refundId: this.newId() }),
    })
    if (!moved.ok) return moved
    const { before, after } = moved
    const told: Told = { before, after, refundFailed: action === 'refuse_refund', now }
    const eventId = this.newId()
    return {
      ok: true,
      payment: after,
      told: this.courier.send(
        tells(after, action) ? wavesOf(told, eventId, faults, this.newId) : [],
      ),
      shopToken: this.#shopToken(told, eventId),
    }
  }

  /** FIB takes a refund at once, and makes it later; redirect does both in one call. */
  refund(payment: Payment): Acted {
    const requested = this.act(payment, 'request_refund')
    if (!requested.ok) return requested
    const outcome: Action = this.faultsOf(payment).refundFails ? 'refuse_refund' : 'refund'
    if (payment.gateway === 'redirect') return this.act(payment, outcome)
    this.#later(this.settings.fibRefundMs, () => this.act(payment, outcome))
    return requested
  }

  /** Whatever still waits never happens. */
  close(): void {
    for (const cancel of this.#timers) cancel()
    this.#timers.clear()
    this.courier.close()
  }

  async #shopToken(told: Told, eventId: string): Promise<string | undefined> {
    const { id: paymentId, gateway } = told.after
    if (gateway !== 'redirect') return undefined
    const content = contentOf(told, eventId)
    return tokenOf({ eventId, paymentId, gateway, url: '', content }, this.settings.redirect.apiKey)
  }

  #later(ms: number, call: () => void): void {
    const cancel = this.#clock.after(Math.min(ms, LONGEST_TIMER_MS), () => {
      this.#timers.delete(cancel)
      call()
    })
    this.#timers.add(cancel)
  }
}

/** The redirect gateway has no word for a refund that is asked for. */
const tells = ({ gateway }: Payment, action: Action): boolean =>
  gateway === 'fib' || action !== 'request_refund'

/** Whatever faults can be set by. */
export const namesOf = (of: Payment | Order): (string | undefined)[] => [
  of.reference,
  of.externalReference,
  'id' in of ? of.id : undefined,
]
