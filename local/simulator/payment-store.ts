// All payments of the gateways, in memory only. No I/O, no clock.

import {
  type Action,
  type GatewayName,
  type Moved,
  type MoveTerms,
  movePayment,
  type Order,
  openPayment,
  type Payment,
  type Refund,
  withRefund,
} from './payment.ts'

export type Opened = { ok: true; payment: Payment } | { ok: false; existing: Payment }

export class PaymentStore {
  readonly #newId: (gateway: GatewayName) => string
  readonly #payments = new Map<string, Payment>()
  /** Ids by external reference, of the redirect gateway. */
  readonly #external = new Map<string, string>()

  constructor(newId: (gateway: GatewayName) => string) {
    this.#newId = newId
  }

  /** Refuses a second payment with the same external reference. */
  open(order: Order, now: number): Opened {
    const unique = order.gateway === 'redirect' ? order.externalReference : undefined
    const known = unique === undefined ? undefined : this.#external.get(unique)
    const existing = known === undefined ? undefined : this.#payments.get(known)
    if (existing) return { ok: false, existing }
    const payment = openPayment(order, this.#newId(order.gateway), now)
    this.#payments.set(payment.id, payment)
    if (unique !== undefined) this.#external.set(unique, payment.id)
    return { ok: true, payment }
  }

  /** `gateway`: a gateway does not find payments of others. */
  find(id: string, gateway?: GatewayName): Payment | undefined {
    const payment = this.#payments.get(id)
    return gateway === undefined || payment?.gateway === gateway ? payment : undefined
  }

  move(payment: Payment, action: Action, terms: MoveTerms): Moved {
    const moved = movePayment(this.#payments.get(payment.id) ?? payment, action, terms)
    if (moved.ok) this.#payments.set(payment.id, moved.after)
    return moved
  }

  /** Adds a refund of Stripe, or changes its status. The caller has checked that it is possible. */
  setRefund(payment: Payment, refund: Refund, now: number): Moved {
    const before = this.#payments.get(payment.id) ?? payment
    const after = withRefund(before, refund, now)
    this.#payments.set(after.id, after)
    return { ok: true, before, after }
  }

  /** Newest first. */
  all(): Payment[] {
    return [...this.#payments.values()].reverse()
  }
}
