// The logic of the gateways: payments, their transitions and webhooks. Clock and network are
// parameters.

import { type Clock, pause } from '../worker/shared/clock.ts'
import { AccessTokens } from './access-tokens.ts'
import type { Book } from './book.ts'
import type { Settings } from './config.ts'
import { ActiveFaults, type Faults } from './faults.ts'
import {
  type Action,
  type GatewayName,
  type Moved,
  namesOf,
  type Opened,
  type Order,
  type Payment,
  PaymentStore,
  type Refund,
  remainderOf,
  type State,
  type Transition,
} from './payments.ts'
import {
  type Batch,
  batchesOf,
  type Cancellable,
  cancellable,
  type WebhookFormat,
  WebhookSender,
  type WebhookSenderDeps,
} from './webhooks.ts'

export interface SimulatorDeps {
  settings: Settings
  book: Book
  formats: Readonly<Record<GatewayName, WebhookFormat>>
  clock: Pick<Clock, 'now' | 'after'>
  /** UUIDs. */
  newId(): string
  post: WebhookSenderDeps['post']
}

export type Acted =
  | {
      ok: true
      payment: Payment
      /** Resolves when its webhooks were accepted or given up. */
      webhooksDone: Promise<void>
      /** The token in the return URL; undefined if the gateway adds none. */
      returnToken(): Promise<string> | undefined
    }
  | { ok: false; state: State }

/** The response to a charge waits at most this long for a webhook that is never accepted. */
const MAX_BEFORE_ANSWER_MS = 5_000

export class Simulator {
  readonly settings: Settings
  readonly faults = new ActiveFaults()
  readonly webhooks: WebhookSender
  readonly payments: PaymentStore
  readonly tokens: Readonly<Record<'redirect' | 'fib', AccessTokens>>
  readonly newId: () => string
  readonly #clock: Cancellable
  readonly #book: Book
  readonly #formats: SimulatorDeps['formats']
  /** Sign the webhooks; FIB has none. */
  readonly #secrets: Readonly<Record<GatewayName, string>>

  constructor({ settings, book, formats, clock: given, newId, post }: SimulatorDeps) {
    const clock = cancellable(given)
    const { redirect, fib, stripe, retriesMs } = settings
    this.settings = settings
    this.newId = newId
    this.#clock = clock
    this.#book = book
    this.#formats = formats
    this.#secrets = { redirect: redirect.apiKey, fib: '', stripe: stripe.webhookSecret }
    this.payments = new PaymentStore(
      (gateway) => this.#newIdOf(gateway, 'cs_test'),
      book.payments,
      (payment) => book.write({ payment }),
    )
    const encode: WebhookSenderDeps['encode'] = (webhook) =>
      formats[webhook.gateway].encode(webhook, this.#secrets[webhook.gateway], clock.now())
    this.webhooks = new WebhookSender({ clock, encode, post, retriesMs })
    const scopes = ['payment:read', 'payment:write', 'reverse:write']
    this.tokens = {
      redirect: new AccessTokens({ ...redirect, scopes, lifetimeMs: 60 * 60 * 1_000 }, newId),
      fib: new AccessTokens({ ...fib, scopes: [], lifetimeMs: 60_000 }, newId),
    }
    for (const payment of book.payments) this.#schedule(payment)
    for (const { sending, batches } of book.sendings) void this.#send(sending, batches)
  }

  now(): number {
    return this.#clock.now()
  }

  faultsOf(payment: Payment | Order): Faults {
    return this.faults.of(namesOf(payment))
  }

  async charge(order: Order): Promise<Opened> {
    const opened = this.payments.open(order, this.now())
    if (!opened.ok) return opened
    const { payment } = opened
    this.#schedule(payment)
    if (!this.faultsOf(payment).beforeAnswer) return opened
    const acted = this.act(payment, 'pay')
    if (!acted.ok) return opened
    await Promise.race([acted.webhooksDone, pause(this.#clock, MAX_BEFORE_ANSWER_MS)])
    return { ok: true, payment: acted.payment }
  }

  /** Changes a payment and starts to send its webhooks. */
  act(payment: Payment, action: Action): Acted {
    if (payment.gateway === 'stripe' && action === 'refund') return this.refundPart(payment)
    const faults = this.faultsOf(payment)
    const now = this.now()
    const { amount = payment.amount, currency = payment.currency } = faults
    const isOther = faults.amount !== undefined || faults.currency !== undefined
    const moved = this.payments.move(payment, action, {
      now,
      ...(isOther && { paid: { amount, currency } }),
      ...(action === 'refund' && { refundId: this.newId() }),
    })
    return this.#announce(moved, { refundFailed: action === 'refuse_refund' })
  }

  /** `afterMs`: the gateway accepts the refund first, and executes it later. */
  refund(payment: Payment, afterMs?: number): Acted {
    const requested = this.act(payment, 'request_refund')
    if (!requested.ok) return requested
    const outcome: Action = this.faultsOf(payment).refundFails ? 'refuse_refund' : 'refund'
    if (afterMs === undefined) return this.act(payment, outcome)
    this.#clock.after(afterMs, () => this.act(payment, outcome))
    return requested
  }

  /** What happens to a payment by itself; also after a restart, which forgets the faults. */
  #schedule(payment: Payment): void {
    const { state, expiresAt } = payment
    if (state === 'open') {
      this.#clock.after(Math.max(expiresAt - this.now(), 0), () => this.act(payment, 'expire'))
    }
    if (state === 'refund_requested') {
      this.#clock.after(this.settings.fibRefundMs, () => this.act(payment, 'refund'))
    }
  }

  /**
   * A refund of Stripe. Without `part` it is made by its staff, of all that is left. The caller has
   * checked the amount. It is the last one of the returned payment.
   */
  refundPart(
    payment: Payment,
    part?: Partial<Pick<Refund, 'amount' | 'metadata' | 'status'>>,
  ): Acted {
    const before = this.payments.find(payment.id) ?? payment
    if (before.state !== 'paid') return { ok: false, state: before.state }
    const refund: Refund = {
      amount: remainderOf(before),
      metadata: {},
      status: 'succeeded',
      ...part,
      id: this.#newIdOf('stripe', 're'),
      createdAt: this.now(),
    }
    if (this.faultsOf(before).refundFails) {
      this.#clock.after(this.settings.fibRefundMs, () =>
        this.#setRefund(before, { ...refund, status: 'failed' }),
      )
    }
    return this.#setRefund(before, refund)
  }

  /** A refund of Stripe that was made, or that waits, ends otherwise. Undefined: there is none. */
  endRefund(payment: Payment, refundId: string, status: Refund['status']): Acted | undefined {
    const before = this.payments.find(payment.id) ?? payment
    const refund = before.refunds?.find(({ id }) => id === refundId)
    return refund && this.#setRefund(before, { ...refund, status })
  }

  #setRefund(payment: Payment, refund: Refund): Acted {
    return this.#announce(this.payments.setRefund(payment, refund, this.now()), {
      refundFailed: refund.status === 'failed',
      refund,
    })
  }

  /** Cancels everything that still waits. */
  close(): void {
    this.#clock.cancelAll()
  }

  /** Starts to send the webhooks of a transition. */
  #announce(moved: Moved, of: Pick<Transition, 'refundFailed' | 'refund'>): Acted {
    if (!moved.ok) return moved
    const { before, after } = moved
    const { gateway } = after
    const format = this.#formats[gateway]
    const transition: Transition = { before, after, now: this.now(), ...of }
    const newEventId = () => this.#newIdOf(gateway, 'evt')
    const eventId = newEventId()
    const batches = format.isSilent?.(transition)
      ? []
      : batchesOf(transition, eventId, this.faultsOf(after), newEventId, format.content)
    return {
      ok: true,
      payment: after,
      webhooksDone: this.#send(eventId, batches),
      returnToken: () =>
        format.returnToken?.(format.content(transition, eventId), this.#secrets[gateway]),
    }
  }

  async #send(eventId: string, batches: readonly Batch[]): Promise<void> {
    if (batches.length === 0) return
    this.#book.write({ sending: eventId, batches })
    await this.webhooks.send(batches)
    this.#book.write({ sent: eventId })
  }

  /** Stripe's ids have a prefix. */
  #newIdOf(gateway: GatewayName, prefix: string): string {
    const id = this.newId()
    return gateway === 'stripe' ? `${prefix}_${id.replaceAll('-', '')}` : id
  }
}
