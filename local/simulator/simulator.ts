// The logic of the gateways: payments, their transitions and webhooks. Clock and network are
// parameters.

import type { Clock } from '../../worker/shared/clock.ts'
import { AccessTokens } from './access-tokens.ts'
import type { Settings } from './config.ts'
import { ActiveFaults, type Faults } from './faults.ts'
import {
  type Action,
  type GatewayName,
  type Moved,
  type Order,
  type Payment,
  type Refund,
  remainderOf,
  type State,
  type Transition,
} from './payment.ts'
import { type Opened, PaymentStore } from './payment-store.ts'
import { batchesOf, contentOf, encodeWebhook, tokenOf } from './webhook.ts'
import { WebhookSender, type WebhookSenderDeps } from './webhook-sender.ts'

export interface SimulatorDeps {
  settings: Settings
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
      returnToken: Promise<string | undefined>
    }
  | { ok: false; state: State }

const REDIRECT_SCOPES = ['payment:read', 'payment:write', 'reverse:write']
/** The response to a charge waits at most this long for a webhook that is never accepted. */
const MAX_BEFORE_ANSWER_MS = 5_000
/** A longer timer would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

export class Simulator {
  readonly settings: Settings
  readonly faults = new ActiveFaults()
  readonly webhooks: WebhookSender
  readonly payments: PaymentStore
  readonly tokens: Readonly<Record<'redirect' | 'fib', AccessTokens>>
  readonly newId: () => string
  readonly #clock: SimulatorDeps['clock']
  readonly #timers = new Set<() => void>()

  constructor({ settings, clock, newId, post }: SimulatorDeps) {
    const { redirect, fib, stripe, retriesMs } = settings
    this.settings = settings
    this.newId = newId
    this.#clock = clock
    this.payments = new PaymentStore((gateway) => this.#newIdOf(gateway, 'cs_test'))
    const secrets = { redirect: redirect.apiKey, stripe: stripe.webhookSecret }
    const encode: WebhookSenderDeps['encode'] = (webhook) =>
      encodeWebhook(webhook, secrets, clock.now())
    this.webhooks = new WebhookSender({ clock, encode, post, retriesMs })
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
    const opened = this.payments.open(order, this.now())
    if (!opened.ok) return opened
    const { payment } = opened
    this.#later(payment.expiresAt - this.now(), () => this.act(payment, 'expire'))
    if (!this.faultsOf(payment).beforeAnswer) return opened
    const acted = this.act(payment, 'pay')
    if (!acted.ok) return opened
    const timeout = new Promise<void>((resolve) => this.#later(MAX_BEFORE_ANSWER_MS, resolve))
    await Promise.race([acted.webhooksDone, timeout])
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
    return this.#announce(moved, { refundFailed: action === 'refuse_refund' }, action)
  }

  /** FIB accepts a refund first and executes it later; redirect does both in one call. */
  refund(payment: Payment): Acted {
    const requested = this.act(payment, 'request_refund')
    if (!requested.ok) return requested
    const outcome: Action = this.faultsOf(payment).refundFails ? 'refuse_refund' : 'refund'
    if (payment.gateway === 'redirect') return this.act(payment, outcome)
    this.#later(this.settings.fibRefundMs, () => this.act(payment, outcome))
    return requested
  }

  /**
   * A refund of Stripe. Without `part` it is made by its staff, of all that is left. The caller has
   * checked the amount. It is the last one of the returned payment.
   */
  refundPart(payment: Payment, part?: Pick<Refund, 'amount' | 'metadata'>): Acted {
    const before = this.payments.find(payment.id) ?? payment
    if (before.state !== 'paid') return { ok: false, state: before.state }
    const refund: Refund = {
      amount: remainderOf(before),
      metadata: {},
      ...part,
      id: this.#newIdOf('stripe', 're'),
      status: 'succeeded',
      createdAt: this.now(),
    }
    const make = (made: Refund) =>
      this.#announce(this.payments.setRefund(before, made, this.now()), {
        refundFailed: made.status === 'failed',
        refund: made,
      })
    if (this.faultsOf(before).refundFails) {
      this.#later(this.settings.fibRefundMs, () => make({ ...refund, status: 'failed' }))
    }
    return make(refund)
  }

  /** Cancels everything that still waits. */
  close(): void {
    for (const cancel of this.#timers) cancel()
    this.#timers.clear()
    this.webhooks.close()
  }

  /** Starts to send the webhooks of a transition. `action`: what caused it, if it is known. */
  #announce(moved: Moved, of: Pick<Transition, 'refundFailed' | 'refund'>, action?: Action): Acted {
    if (!moved.ok) return moved
    const { before, after } = moved
    const { gateway } = after
    const transition: Transition = { before, after, now: this.now(), ...of }
    const newEventId = () => this.#newIdOf(gateway, 'evt')
    const eventId = newEventId()
    const batches = batchesOf(transition, eventId, this.faultsOf(after), newEventId)
    return {
      ok: true,
      payment: after,
      webhooksDone: this.webhooks.send(sendsWebhook(moved, action) ? batches : []),
      returnToken: this.#returnToken(transition, eventId),
    }
  }

  /** Stripe's ids have a prefix. */
  #newIdOf(gateway: GatewayName, prefix: string): string {
    const id = this.newId()
    return gateway === 'stripe' ? `${prefix}_${id.replaceAll('-', '')}` : id
  }

  async #returnToken(transition: Transition, eventId: string): Promise<string | undefined> {
    const { id: paymentId, gateway } = transition.after
    if (gateway !== 'redirect') return undefined
    const content = contentOf(transition, eventId)
    return tokenOf({ eventId, paymentId, gateway, url: '', content }, this.settings.redirect.apiKey)
  }

  #later(ms: number, call: () => void): void {
    const cancel = this.#clock.after(Math.min(ms, MAX_TIMER_MS), () => {
      this.#timers.delete(cancel)
      call()
    })
    this.#timers.add(cancel)
  }
}

/**
 * The redirect gateway sends no webhook for a requested refund. Stripe's event for a declined card
 * is not one of those that this merchant selected.
 */
const sendsWebhook = (
  { before, after }: { before: Payment; after: Payment },
  action: Action | undefined,
): boolean => {
  if (after.gateway === 'stripe') return before.state !== 'open' || after.state !== 'open'
  return after.gateway === 'fib' || action !== 'request_refund'
}

/** The names under which faults of this order can be set. */
export const namesOf = (of: Payment | Order): (string | undefined)[] => [
  of.reference,
  of.externalReference,
  'id' in of ? of.id : undefined,
]
