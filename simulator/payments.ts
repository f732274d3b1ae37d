// The payments of the gateways: their states, which action is possible when, and all of them in
// memory. No I/O: times and ids are parameters, and a callback gets each change.

export type State =
  | 'open'
  /** Stripe: paid by a method that takes days, and the bank may still refuse. */
  | 'processing'
  /** Mollie: promised by its payer, until the merchant captures it, in parts or as a whole. */
  | 'authorized'
  | 'paid'
  | 'failed'
  | 'cancelled'
  | 'expired'
  | 'refund_requested'
  | 'refunded'

export type Metadata = Readonly<Record<string, string>>

/** The request of the merchant. */
export interface Order {
  gateway: string
  /**
   * The name of the order when faults are set. For FIB, which gets no reference, the description.
   */
  reference: string
  /** For redirect unique. FIB has none. Stripe keeps what the merchant wrote into the metadata. */
  externalReference?: string
  /** As sent: in minor units, or in whole ones. */
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
  /** Stripe: of the session, and of its payment. */
  metadata?: Metadata
  paymentMetadata?: Metadata
  expiresInMs: number
}

export interface Payment extends Omit<Order, 'expiresInMs'> {
  /** In the gateway's form. */
  id: string
  state: State
  /** Times in ms. */
  createdAt: number
  updatedAt: number
  expiresAt: number
  paidAt?: number
  /** At Stripe, an open payment was declined and can be tried again. */
  declinedAt?: number
  /** The paid amount, if it differs. */
  paid?: { amount: number; currency: string }
  /** What its payer asks back through the bank: a dispute, or a chargeback. */
  disputes?: readonly Dispute[]
  /** The gateway's id of the refund. */
  refundId?: string
  /** How many refunds that were requested have failed; those of parts are in `refunds`. */
  refusedRefunds?: number
  /** The parts that were refunded, the oldest first. */
  refunds?: readonly Refund[]
  /** What was captured of an authorized one, the oldest first. */
  captures?: readonly Capture[]
  /** ms */
  authorizedAt?: number
}

export interface Capture {
  /** A UUID. */
  id: string
  amount: number
  /** ms */
  createdAt: number
}

export const REFUND_STATUSES = ['pending', 'succeeded', 'failed', 'canceled'] as const

/** A refund of any part. It succeeds at once or waits, and may fail later. */
export interface Refund {
  id: string
  amount: number
  status: (typeof REFUND_STATUSES)[number]
  metadata: Metadata
  /** ms */
  createdAt: number
}

/** A dispute or a chargeback of any part. */
export interface Dispute {
  id: string
  amount: number
  /** The gateway's word. */
  status: string
  /** How often money has moved for it: taken by the first time, given back by the second. */
  moves: number
  /** ms */
  createdAt: number
  updatedAt: number
}

/** An action of the payer, the merchant, the staff of the gateway, or expiry. */
export type Action =
  | 'pay'
  | 'pay_late'
  | 'transfer'
  | 'authorize'
  | 'fail'
  | 'cancel'
  | 'expire'
  | 'request_refund'
  | 'refuse_refund'
  | 'refund'
  | 'charge_back'

/** To which state an action leads, from each state that allows it. */
export type Moves = Readonly<Partial<Record<Action, Readonly<Partial<Record<State, State>>>>>>

/** What a payment may do at a gateway. */
export interface Rules {
  moves: Moves
  /** Refunds may be of any part, and have states of their own: withRefund(). */
  hasPartialRefunds?: true
  /** A refund is accepted first, and made after `SIMULATOR_REFUND_MS`. */
  refundsTakeTime?: true
  /** Payers may ask their bank for the money. The status of a new dispute. */
  disputedAs?: string
  /** There is one payment for each external reference. */
  isUnique?: true
  /** Missing: a UUID. */
  idOf?(kind: 'payment' | 'refund' | 'dispute' | 'event', uuid: string): string
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

export type Moved = { ok: true; before: Payment; after: Payment } | Refused

/** `left`: what can be refunded, of a refund of more. */
export interface Refused {
  ok: false
  state: State
  left?: number
}

export interface MoveTerms {
  now: number
  /** With `pay` and `pay_late`: the paid amount, if it differs from the requested one. */
  paid?: { amount: number; currency: string }
  /** With a refund. */
  refundId?: string
}

export function movePayment(
  { moves }: Rules,
  before: Payment,
  action: Action,
  terms: MoveTerms,
): Moved {
  const to = moves[action]?.[before.state]
  if (to === undefined) return { ok: false, state: before.state }
  const { now, paid, refundId } = terms
  const isPaying = action === 'pay' || action === 'pay_late'
  const isDeclined = action === 'fail' || action === 'cancel' || action === 'expire'
  const after: Payment = {
    ...before,
    state: to,
    updatedAt: now,
    ...(isPaying && { paidAt: now }),
    ...(isPaying && paid !== undefined && { paid }),
    ...(action === 'authorize' && { authorizedAt: now }),
    ...(isDeclined && { declinedAt: now }),
    ...(refundId !== undefined && { refundId }),
    ...(action === 'refuse_refund' && { refusedRefunds: (before.refusedRefunds ?? 0) + 1 }),
  }
  return { ok: true, before, after }
}

/** `refund`: a new one, or one of this payment with another status. */
export function withRefund(before: Payment, refund: Refund, now: number): Payment {
  const known = before.refunds ?? []
  const isKnown = known.some(({ id }) => id === refund.id)
  const refunds = isKnown
    ? known.map((each) => (each.id === refund.id ? refund : each))
    : [...known, refund]
  const after = { ...before, refunds, updatedAt: now }
  // The rest may still be captured.
  if (before.state === 'authorized') return after
  return { ...after, state: remainderOf(after) === 0 ? 'refunded' : 'paid' }
}

/** `isFinal`: the rest is released. */
function withCapture(before: Payment, capture: Capture, isFinal: boolean): Payment {
  const captures = [...(before.captures ?? []), capture]
  const after = { ...before, captures, paidAt: capture.createdAt, updatedAt: capture.createdAt }
  if (!isFinal && uncapturedOf(after) > 0) return after
  return { ...after, state: remainderOf(after) === 0 ? 'refunded' : 'paid' }
}

const capturedOf = ({ captures = [] }: Payment): number =>
  captures.reduce((sum, { amount }) => sum + amount, 0)

/** What can still be captured of an authorized payment. */
export const uncapturedOf = (payment: Payment): number => payment.amount - capturedOf(payment)

/** `dispute`: a new one, or one of this payment as it goes on. */
function withDispute(before: Payment, dispute: Dispute, now: number): Payment {
  const others = (before.disputes ?? []).filter(({ id }) => id !== dispute.id)
  return { ...before, disputes: [...others, dispute], updatedAt: now }
}

/** What can still be refunded of a paid payment. */
export const remainderOf = (payment: Payment): number =>
  amountOf(payment).amount - refundedOf(payment)

export const refundedOf = ({ refunds = [] }: Payment): number =>
  refunds.reduce(
    (sum, { amount, status }) =>
      status === 'failed' || status === 'canceled' ? sum : sum + amount,
    0,
  )

/** What was captured, else the paid amount, else the requested one. */
export const amountOf = (payment: Payment): { amount: number; currency: string } => {
  const { amount, currency, paid, captures } = payment
  if (captures) return { amount: capturedOf(payment), currency }
  return paid ?? { amount, currency }
}

/** A transition, as a webhook reports it. */
export interface Transition {
  before: Payment
  after: Payment
  /** The refund failed. The new state alone does not show this. */
  refundFailed: boolean
  /** The part that was refunded, or failed to be. */
  refund?: Refund
  dispute?: Dispute
  /** ms */
  now: number
}

/** The names under which faults of this order can be set. */
export const namesOf = (of: Payment | Order): (string | undefined)[] => [
  of.reference,
  of.externalReference,
  'id' in of ? of.id : undefined,
]

export type Opened = { ok: true; payment: Payment } | { ok: false; existing: Payment }

export interface PaymentStoreDeps {
  rulesOf(gateway: string): Rules
  newId(gateway: string): string
  booked?: readonly Payment[]
  changed?(payment: Payment): void
}

export class PaymentStore {
  readonly #deps: PaymentStoreDeps
  readonly #payments = new Map<string, Payment>()
  /** Ids by gateway and external reference, where that is unique. */
  readonly #external = new Map<string, string>()

  constructor(deps: PaymentStoreDeps) {
    this.#deps = deps
    for (const payment of deps.booked ?? []) this.#hold(payment)
  }

  /** Refuses a second payment with the same external reference, where that is unique. */
  open(order: Order, now: number): Opened {
    const unique = this.#uniqueIn(order)
    const known = unique === undefined ? undefined : this.#external.get(unique)
    const existing = known === undefined ? undefined : this.#payments.get(known)
    if (existing) return { ok: false, existing }
    const payment = openPayment(order, this.#deps.newId(order.gateway), now)
    this.#change(payment)
    return { ok: true, payment }
  }

  /** `gateway`: a gateway does not find payments of others. */
  find(id: string, gateway?: string): Payment | undefined {
    const payment = this.#payments.get(id)
    return gateway === undefined || payment?.gateway === gateway ? payment : undefined
  }

  move(payment: Payment, action: Action, terms: MoveTerms): Moved {
    const rules = this.#deps.rulesOf(payment.gateway)
    const moved = movePayment(rules, this.#payments.get(payment.id) ?? payment, action, terms)
    if (moved.ok) this.#change(moved.after)
    return moved
  }

  /** Adds a refund of a part, or changes its status. Refuses more than is left of the payment. */
  setRefund(payment: Payment, refund: Refund, now: number): Moved {
    const before = this.#payments.get(payment.id) ?? payment
    const after = withRefund(before, refund, now)
    if (refund.amount <= 0 || remainderOf(after) < 0) {
      return { ok: false, state: before.state, left: remainderOf(before) }
    }
    this.#change(after)
    return { ok: true, before, after }
  }

  /** Refuses more than can still be captured of an authorized payment. */
  capture(payment: Payment, capture: Capture, isFinal: boolean): Moved {
    const before = this.#payments.get(payment.id) ?? payment
    const isPossible = before.state === 'authorized' && capture.amount <= uncapturedOf(before)
    if (!isPossible) return { ok: false, state: before.state }
    const after = withCapture(before, capture, isFinal)
    this.#change(after)
    return { ok: true, before, after }
  }

  /** Adds a dispute, or replaces it by its next state. */
  setDispute(payment: Payment, dispute: Dispute, now: number): Moved {
    const before = this.#payments.get(payment.id) ?? payment
    const after = withDispute(before, dispute, now)
    this.#change(after)
    return { ok: true, before, after }
  }

  /** Newest first. */
  all(): Payment[] {
    return [...this.#payments.values()].reverse()
  }

  #change(payment: Payment): void {
    this.#hold(payment)
    this.#deps.changed?.(payment)
  }

  #hold(payment: Payment): void {
    this.#payments.set(payment.id, payment)
    const unique = this.#uniqueIn(payment)
    if (unique !== undefined) this.#external.set(unique, payment.id)
  }

  #uniqueIn({ gateway, externalReference }: Payment | Order): string | undefined {
    if (externalReference === undefined || !this.#deps.rulesOf(gateway).isUnique) return undefined
    return `${gateway} ${externalReference}`
  }
}
