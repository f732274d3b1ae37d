// The control API of a running simulator.

import type { Faults } from '../../simulator/faults.ts'
import type { Action, Payment, Refund } from '../../simulator/payments.ts'
import type { DisputeTerms } from '../../simulator/simulator.ts'
import type { Sent } from '../../simulator/webhooks.ts'

export class SimulatorControl {
  readonly url: string
  #orders: Record<string, Faults> = {}
  #set: Promise<unknown> = Promise.resolve()

  constructor(url: string) {
    this.url = url
  }

  /** Sets the faults of one order. Those of other orders stay. */
  async faults(order: string, faults: Faults): Promise<void> {
    this.#orders[order] = faults
    await this.#put(() => ({ orders: this.#orders }))
  }

  /** Sets the faults for all orders, and removes all others. */
  async everywhere(faults: Faults): Promise<void> {
    this.#orders = {}
    await this.#put(() => ({ all: faults }))
  }

  /** One after the other: each replaces those before. */
  #put(plan: () => object): Promise<unknown> {
    const put = () => this.#ask('PUT', '/faults', JSON.stringify(plan()))
    this.#set = this.#set.then(put, put)
    return this.#set
  }

  /** Resolves when all webhooks are accepted or given up. */
  act(paymentId: string, action: Action): Promise<Payment> {
    return this.#ask('POST', `/payments/${paymentId}/${action}?wait`)
  }

  /** Resolves at once. */
  begin(paymentId: string, action: Action): Promise<Payment> {
    return this.#ask('POST', `/payments/${paymentId}/${action}`)
  }

  /** By the merchant's staff, at Stripe: a new one, or another status of the one with this id. */
  refund(
    paymentId: string,
    refund: Partial<Pick<Refund, 'amount' | 'status'>> & { refundId?: string },
  ): Promise<Payment> {
    return this.#ask('POST', `/payments/${paymentId}/refunds`, JSON.stringify(refund))
  }

  /** By the payer's bank: a new one of all, or how the one with its id goes on. */
  dispute(paymentId: string, dispute: DisputeTerms = {}): Promise<Payment> {
    return this.#ask('POST', `/payments/${paymentId}/disputes`, JSON.stringify(dispute))
  }

  payment(paymentId: string): Promise<Payment> {
    return this.#ask('GET', `/payments/${paymentId}`)
  }

  /** Newest first. Absent: of all orders. */
  async payments(order?: string): Promise<Payment[]> {
    const path = `/payments${order === undefined ? '' : `?order=${encodeURIComponent(order)}`}`
    return (await this.#ask<{ payments: Payment[] }>('GET', path)).payments
  }

  /** Every attempt at a webhook of this payment, with its response. */
  async webhooks(paymentId: string): Promise<Sent[]> {
    return (await this.#ask<{ webhooks: Sent[] }>('GET', `/webhooks?payment=${paymentId}`)).webhooks
  }

  async #ask<Answer>(method: string, path: string, body?: string): Promise<Answer> {
    const answer = await fetch(`${this.url}/_control${path}`, { method, ...(body && { body }) })
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
    return (await answer.json()) as Answer
  }
}
