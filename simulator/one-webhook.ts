// One webhook as its gateway writes and signs it, about a payment that no simulator has: for
// `signalbox payments simulate`, the doctor and tests. No I/O.

import {
  type Action,
  movePayment,
  type Order,
  openPayment,
  type Payment,
  remainderOf,
  type Transition,
  withRefund,
} from './payments.ts'
import { SIMULATIONS } from './simulations.ts'
import type { SimulatedStatus, Traits } from './traits.ts'
import type { EncodedWebhook } from './webhooks.ts'

export type { SimulatedStatus, Traits }

/** Undefined: nothing simulates this driver. */
export const simulationOf = (driver: string): Traits | undefined =>
  (SIMULATIONS as Readonly<Record<string, Traits>>)[driver]

export interface WebhookTerms {
  /** The payment's id at the gateway. */
  id: string
  eventId: string
  /** Signs the webhook; empty for a gateway that does not sign. */
  secret: string
  /** ms */
  now: number
}

/** It is about the last of these actions. */
export function webhookOf(
  order: Order,
  actions: readonly Action[],
  { id, eventId, secret, now }: WebhookTerms,
): Promise<EncodedWebhook> {
  const traits = simulationOf(order.gateway)
  if (!traits) throw new TypeError(`There is no gateway ${order.gateway}.`)
  const { content, encode } = traits.webhooks
  const last = transitionOf(traits, openPayment(order, id, now), actions)
  return encode({ eventId, content: content(last, eventId) }, secret, now)
}

/**
 * The last of these actions on a payment that is open. `part`: of a refund, where it may be one; by
 * default all.
 * @forTests The contract of drivers holds such payments.
 */
export function transitionOf(
  traits: Traits,
  opened: Payment,
  actions: readonly Action[],
  part?: number,
): Transition {
  const { createdAt: now } = opened
  const start: Transition = { before: opened, after: opened, refundFailed: false, now }
  return actions.reduce((step, action) => after(traits, step, action, part), start)
}

/** An action that the state of the payment does not allow changes nothing. */
function after(traits: Traits, last: Transition, action: Action, part?: number): Transition {
  const { after: before, now } = last
  if (action === 'refund' && traits.hasPartialRefunds) {
    const made = { id: `re_${before.id}`, status: 'succeeded', metadata: {} } as const
    const refund = { ...made, amount: part ?? remainderOf(before), createdAt: now }
    return { ...last, before, after: withRefund(before, refund, now), refund }
  }
  const moved = movePayment(traits, before, action, { now })
  return moved.ok ? { ...last, before, after: moved.after } : last
}
