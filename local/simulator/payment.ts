// A payment as either gateway keeps it, and the moves it can make. Pure: times and ids come in.

export type GatewayName = 'redirect' | 'fib'

export type State =
  | 'open'
  | 'paid'
  | 'failed'
  | 'cancelled'
  | 'expired'
  | 'refund_requested'
  | 'refunded'

/** What the merchant asked for. */
export interface Order {
  gateway: GatewayName
  /** The order's name to whoever sets faults; of FIB, which is told no other, the description. */
  reference: string
  /** Unique within its gateway; FIB knows none. */
  externalReference?: string
  /** In whole units, as it was sent. */
  amount: number
  currency: string
  /** Shown to the payer. */
  description: string
  serviceType?: string
  phone?: string
  successUrl?: string
  failureUrl?: string
  /** Where its webhooks go; without one nobody is told. */
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
  /** What the payer really gave, where that differs. */
  paid?: { amount: number; currency: string }
  /** The gateway's name for the refund. */
  refundId?: string
}

/** What a payer, the time, the merchant or the gateway's own staff may do. */
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
  /** With `pay` and `pay_late`: what is given instead of what was asked for. */
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

/** What it says it is worth: what was paid, else what was asked for. */
export const worth = ({ amount, currency, paid }: Payment) => paid ?? { amount, currency }

/** A move, as a webhook tells it. */
export interface Told {
  before: Payment
  after: Payment
  /** The one move that says something else than its new state. */
  refundFailed: boolean
  /** ms */
  now: number
}
