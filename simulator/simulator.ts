// The logic of the gateways: payments, their transitions and webhooks. Clock and network are
// parameters.

import type { Hono } from 'hono'
import { type Clock, pause } from '../worker/shared/clock.ts'
import { AccessTokens } from './access-tokens.ts'
import type { Book } from './book.ts'
import type { Merchant, Settings } from './config.ts'
import { ActiveFaults, type Faults } from './faults.ts'
import {
  type Action,
  amountOf,
  type Dispute,
  type Moved,
  namesOf,
  type Opened,
  type Order,
  type Payment,
  PaymentStore,
  type Refund,
  type Refused,
  remainderOf,
  type Transition,
  uncapturedOf,
} from './payments.ts'
import type { Traits } from './traits.ts'
import {
  type Batch,
  batchesOf,
  type Cancellable,
  cancellable,
  WebhookSender,
  type WebhookSenderDeps,
} from './webhooks.ts'

export interface SimulatorDeps {
  settings: Settings
  book: Book
  gateways: Readonly<Record<string, Traits>>
  clock: Pick<Clock, 'now' | 'after'>
  /** UUIDs. */
  newId(): string
  post: WebhookSenderDeps['post']
}

/** `disputeId`: of an earlier one, which changes. */
export type DisputeTerms = Partial<Pick<Dispute, 'amount' | 'status' | 'moves'>> & {
  disputeId?: string
}

type RefundPart = Partial<Pick<Refund, 'amount' | 'metadata' | 'status'>>

/** A gateway: what the others must know of it, and its HTTP API. */
export interface Simulation extends Traits {
  api(simulator: Simulator, payUrl: (id: string) => string): Hono
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
  | Refused

/** The response to a charge waits at most this long for a webhook that is never accepted. */
const MAX_BEFORE_ANSWER_MS = 5_000

export class Simulator {
  readonly settings: Settings
  readonly faults = new ActiveFaults((gateway, made) => this.traitsOf(gateway).conflict(made))
  readonly webhooks: WebhookSender
  readonly payments: PaymentStore
  /** Those of the gateways that give some. */
  readonly tokens: ReadonlyMap<string, AccessTokens>
  readonly newId: () => string
  readonly #clock: Cancellable
  readonly #book: Book
  readonly #gateways: SimulatorDeps['gateways']

  constructor({ settings, book, gateways, clock: given, newId, post }: SimulatorDeps) {
    const clock = cancellable(given)
    this.settings = settings
    this.newId = newId
    this.#clock = clock
    this.#book = book
    this.#gateways = gateways
    this.payments = new PaymentStore({
      rulesOf: (gateway) => this.traitsOf(gateway),
      newId: (gateway) => this.#newIdOf(gateway, 'payment'),
      booked: book.payments,
      changed: (payment) => book.write({ payment }),
    })
    const encode: WebhookSenderDeps['encode'] = (webhook) =>
      this.traitsOf(webhook.gateway).webhooks.encode(
        webhook,
        this.#signingSecret(webhook.gateway),
        clock.now(),
      )
    this.webhooks = new WebhookSender({ clock, encode, post, retriesMs: settings.retriesMs })
    this.tokens = new Map(
      Object.entries(gateways).flatMap(([name, { tokens }]) => {
        const { client_id = '', client_secret = '' } = this.merchantOf(name).settings
        const client = { clientId: client_id, clientSecret: client_secret }
        return tokens ? [[name, new AccessTokens({ ...client, ...tokens }, newId)]] : []
      }),
    )
    for (const payment of book.payments) this.#schedule(payment)
    for (const { sending, batches } of book.sendings) void this.#send(sending, batches)
  }

  /** Throws a TypeError if there is no such gateway. */
  traitsOf(gateway: string): Traits {
    const traits = this.#gateways[gateway]
    if (traits) return traits
    throw new TypeError(`There is no gateway ${gateway}.`)
  }

  merchantOf(gateway: string): Merchant {
    return this.settings.merchants[gateway] ?? { settings: {} }
  }

  /** Throws a TypeError if the gateway gives no tokens. */
  tokensOf(gateway: string): AccessTokens {
    const tokens = this.tokens.get(gateway)
    if (tokens) return tokens
    throw new TypeError(`${gateway} gives no access tokens.`)
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
    const { hasPartialRefunds } = this.traitsOf(payment.gateway)
    if (hasPartialRefunds && action === 'refund') return this.refund(payment)
    if (action === 'charge_back') return this.dispute(payment)
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

  /**
   * A refund as the gateway makes them: of the whole payment; or of a part, by default of all that
   * is left. It is the last of the returned payment's `refunds`.
   */
  refund(payment: Payment, part?: RefundPart): Acted {
    const before = this.payments.find(payment.id) ?? payment
    const { hasPartialRefunds, refundsTakeTime } = this.traitsOf(before.gateway)
    if (!hasPartialRefunds) return this.#refundWhole(before)
    const isCaptured = before.state === 'authorized' && before.captures !== undefined
    if (before.state !== 'paid' && !isCaptured) return { ok: false, state: before.state }
    const refund: Refund = {
      amount: remainderOf(before),
      metadata: {},
      status: refundsTakeTime ? 'pending' : 'succeeded',
      ...part,
      id: this.#newIdOf(before.gateway, 'refund'),
      createdAt: this.now(),
    }
    const acted = this.#setRefund(before, refund)
    if (!acted.ok) return acted
    // The gateway's staff also gives the status in which it ends.
    const outcome = refundsTakeTime && part?.status === undefined ? 'succeeded' : undefined
    this.#endLater(before, refund, this.faultsOf(before).refundFails ? 'failed' : outcome)
    return acted
  }

  #refundWhole(payment: Payment): Acted {
    const requested = this.act(payment, 'request_refund')
    if (!requested.ok) return requested
    const outcome: Action = this.faultsOf(payment).refundFails ? 'refuse_refund' : 'refund'
    if (!this.traitsOf(payment.gateway).refundsTakeTime) return this.act(payment, outcome)
    this.#clock.after(this.settings.refundMs, () => this.act(payment, outcome))
    return requested
  }

  /** What happens to a payment by itself; also after a restart, which forgets the faults. */
  #schedule(payment: Payment): void {
    const { id, state, expiresAt } = payment
    if (state === 'open') {
      this.#clock.after(Math.max(expiresAt - this.now(), 0), () => {
        // Money that its payer has authorized is held for weeks: it does not end with the page.
        if (this.payments.find(id)?.state === 'open') this.act(payment, 'expire')
      })
    }
    for (const refund of payment.refunds ?? []) {
      const isWaiting =
        this.traitsOf(payment.gateway).refundsTakeTime && refund.status === 'pending'
      this.#endLater(payment, refund, isWaiting ? 'succeeded' : undefined)
    }
    if (state === 'refund_requested') {
      this.#clock.after(this.settings.refundMs, () => this.act(payment, 'refund'))
    }
  }

  /**
   * A dispute or a chargeback of a paid payment, of all of it without an `amount`; or a change of
   * one. Its money moves with its status, unless `moves` gives how often it has.
   */
  dispute(payment: Payment, { disputeId, ...asked }: DisputeTerms = {}): Acted {
    const before = this.payments.find(payment.id) ?? payment
    const { disputedAs } = this.traitsOf(before.gateway)
    const known = before.disputes?.find(({ id }) => id === disputeId)
    const isPaid = before.state === 'paid' || before.state === 'refunded'
    const isPossible = disputedAs !== undefined && isPaid && (disputeId === undefined || known)
    if (!isPossible) return { ok: false, state: before.state }
    const now = this.now()
    const id = known?.id ?? this.#newIdOf(before.gateway, 'dispute')
    const dispute: Dispute = {
      id,
      amount: amountOf(before).amount,
      status: disputedAs,
      moves: 1,
      createdAt: now,
      ...known,
      ...asked,
      updatedAt: now,
    }
    const moved = this.payments.setDispute(before, dispute, now)
    return this.#announce(moved, { refundFailed: false, dispute })
  }

  /** All that is left, without an `amount`. `isFinal`: the rest is released. */
  capture(payment: Payment, { amount, isFinal }: { amount?: number; isFinal: boolean }): Acted {
    const before = this.payments.find(payment.id) ?? payment
    const capture = {
      id: this.newId(),
      amount: amount ?? uncapturedOf(before),
      createdAt: this.now(),
    }
    return this.#announce(this.payments.capture(before, capture, isFinal), { refundFailed: false })
  }

  /** `status`: undefined if it has ended already. */
  #endLater({ id }: Payment, refund: Refund, status: Refund['status'] | undefined): void {
    if (status === undefined) return
    this.#clock.after(this.settings.refundMs, () => {
      const now = this.payments.find(id)
      const current = now?.refunds?.find((each) => each.id === refund.id)
      // The staff of the gateway may have ended it otherwise.
      if (now && current?.status === refund.status) this.#setRefund(now, { ...refund, status })
    })
  }

  /** A refund of a part that was made, or that waits, ends otherwise. Undefined: there is none. */
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
  #announce(moved: Moved, of: Pick<Transition, 'refundFailed' | 'refund' | 'dispute'>): Acted {
    if (!moved.ok) return moved
    const { before, after } = moved
    const { gateway } = after
    const format = this.traitsOf(gateway).webhooks
    const transition: Transition = { before, after, now: this.now(), ...of }
    const newEventId = () => this.#newIdOf(gateway, 'event')
    const eventId = newEventId()
    const batches = format.isSilent?.(transition)
      ? []
      : batchesOf(transition, eventId, this.faultsOf(after), newEventId, format.content)
    return {
      ok: true,
      payment: after,
      webhooksDone: this.#send(eventId, batches),
      returnToken: () =>
        format.returnToken?.(format.content(transition, eventId), this.#signingSecret(gateway)),
    }
  }

  async #send(eventId: string, batches: readonly Batch[]): Promise<void> {
    if (batches.length === 0) return
    this.#book.write({ sending: eventId, batches })
    await this.webhooks.send(batches)
    this.#book.write({ sent: eventId })
  }

  #newIdOf(gateway: string, kind: Parameters<NonNullable<Traits['idOf']>>[0]): string {
    const id = this.newId()
    return this.traitsOf(gateway).idOf?.(kind, id) ?? id
  }

  /** Empty for a gateway that does not sign. */
  #signingSecret(gateway: string): string {
    const { signsWith } = this.traitsOf(gateway).webhooks
    return this.merchantOf(gateway).settings[signsWith ?? ''] ?? ''
  }
}
