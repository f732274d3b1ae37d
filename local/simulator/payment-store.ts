// All payments of both gateways, in memory only. No I/O, no clock.

import {
  type Action,
  type GatewayName,
  type Moved,
  type MoveTerms,
  movePayment,
  type Order,
  openPayment,
  type Payment,
} from './payment.ts'

export type Opened = { ok: true; payment: Payment } | { ok: false; existing: Payment }

export class PaymentStore {
  readonly #newId: () => string
  readonly #payments = new Map<string, Payment>()
  /** Ids by gateway and external reference. */
  readonly #external = new Map<string, string>()

  constructor(newId: () => string) {
    this.#newId = newId
  }

  /** Refuses a second payment with the same external reference. */
  open(order: Order, now: number): Opened {
    const key = `${order.gateway} ${order.externalReference}`
    const known = order.externalReference === undefined ? undefined : this.#external.get(key)
    const existing = known === undefined ? undefined : this.#payments.get(known)
    if (existing) return { ok: false, existing }
    const payment = openPayment(order, this.#newId(), now)
    this.#payments.set(payment.id, payment)
    if (order.externalReference !== undefined) this.#external.set(key, payment.id)
    return { ok: true, payment }
  }

  /** `gateway`: a gateway does not find payments of the other one. */
  find(id: string, gateway?: GatewayName): Payment | undefined {
    const payment = this.#payments.get(id)
    return gateway === undefined || payment?.gateway === gateway ? payment : undefined
  }

  move(payment: Payment, action: Action, terms: MoveTerms): Moved {
    const moved = movePayment(this.#payments.get(payment.id) ?? payment, action, terms)
    if (moved.ok) this.#payments.set(payment.id, moved.after)
    return moved
  }

  /** Newest first. */
  all(): Payment[] {
    return [...this.#payments.values()].reverse()
  }
}
