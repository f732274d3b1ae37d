// A payment of either gateway, and its transitions. Pure: times and ids are parameters.

export type GatewayName = 'redirect' | 'fib'

export type State =
  | 'open'
  | 'paid'
  | 'failed'
  | 'cancelled'
  | 'expired'
  | 'refund_requested'
  | 'refunded'

/** The request of the merchant. */
export interface Order {
  gateway: GatewayName
  /**
   * The name of the order when faults are set. For FIB, which gets no reference, the description.
   */
  reference: string
  /** Unique within its gateway. FIB has none. */
  externalReference?: string
  /** In major units, as sent. */
  amount: number
  currency: string
  /** Shown to the payer. */
  description: string
  serviceType?: string
  phone?: string
  successUrl?: string
  failureUrl?: string
  /** The URL for webhooks. Without one, none is sent. */
  callbackUrl?: string
  expiresInMs: number
}

export interface Payment extends Omit<Order, 'expiresInMs'> {
  /** UUID. */
  id: string
  state: State
  /** Times in ms. */
  createdAt: number
  updatedAt: number
  expiresAt: number
  paidAt?: number
  declinedAt?: number
  /** The paid amount, if it differs. */
  paid?: { amount: number; currency: string }
  /** The gateway's id of the refund. */
  refundId?: string
}

/** An action of the payer, the merchant, the staff of the gateway, or expiry. */
export type Action =
  | 'pay'
  | 'pay_late'
  | 'fail'
  | 'cancel'
  | 'expire'
  | 'request_refund'
  | 'refuse_refund'
  | 'refund'

const MOVES: Readonly<Record<Action, { from: readonly State[]; to: State }>> = {
  pay: { from: ['open'], to: 'paid' },
  // The money arrives although the gateway had said that it would not.
  pay_late: { from: ['failed', 'cancelled', 'expired'], to: 'paid' },
  fail: { from: ['open'], to: 'failed' },
  cancel: { from: ['open'], to: 'cancelled' },
  expire: { from: ['open'], to: 'expired' },
  request_refund: { from: ['paid'], to: 'refund_requested' },
  refuse_refund: { from: ['refund_requested'], to: 'paid' },
  refund: { from: ['paid', 'refund_requested'], to: 'refunded' },
}

export function openPayment(order: Order, id: string, now: number): Payment {
  const { expiresInMs, ...rest } = order
  return {
    ...rest,
    id,
    state: 'open',
    createdAt: now,
    updatedAt: now,
    expiresAt: now + expiresInMs,
  }
}

export type Moved = { ok: true; before: Payment; after: Payment } | { ok: false; state: State }

export interface MoveTerms {
  now: number
  /** With `pay` and `pay_late`: the paid amount, if it differs from the requested one. */
  paid?: { amount: number; currency: string }
  /** With a refund. */
  refundId?: string
}

export function movePayment(before: Payment, action: Action, terms: MoveTerms): Moved {
  const { from, to } = MOVES[action]
  if (!from.includes(before.state)) return { ok: false, state: before.state }
  const { now, paid, refundId } = terms
  const isPaying = action === 'pay' || action === 'pay_late'
  const isDeclined = to === 'failed' || to === 'cancelled' || to === 'expired'
  const after: Payment = {
    ...before,
    state: to,
    updatedAt: now,
    ...(isPaying && { paidAt: now }),
    ...(isPaying && paid !== undefined && { paid }),
    ...(isDeclined && { declinedAt: now }),
    ...(refundId !== undefined && { refundId }),
  }
  return { ok: true, before, after }
}

/** The paid amount, else the requested one. */
export const amountOf = ({ amount, currency, paid }: Payment) => paid ?? { amount, currency }

/** A transition, as a webhook reports it. */
export interface Transition {
  before: Payment
  after: Payment
  /** The refund failed. The new state alone does not show this. */
  refundFailed: boolean
  /** ms */
  now: number
}
