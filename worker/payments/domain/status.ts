// The names that a payment goes by: its statuses, and those of its outcomes, events and alerts.
// Imports nothing, because the package for receivers of events has it too.

export const PAYMENT_STATUSES = [
  'Pending',
  'Paid',
  'Failed',
  'Cancelled',
  'Expired',
  'Refunded',
  'PartiallyRefunded',
] as const

export type PaymentStatus = (typeof PAYMENT_STATUSES)[number]

/**
 * What a gateway answered when it was asked about a payment. `unknown`: that it does not have it.
 * `unreachable`: nothing.
 */
export const CHECK_STATUSES = [...PAYMENT_STATUSES, 'unknown', 'unreachable'] as const

export type CheckStatus = (typeof CHECK_STATUSES)[number]

/** Ends without money: the order may be paid again, and a late `Paid` is an alert. */
export const UNPAID_ENDS: readonly PaymentStatus[] = ['Failed', 'Cancelled', 'Expired']

/** The result of an event: by the graph, and by the rules around it. */
export const OUTCOMES = [
  'applied',
  'unchanged',
  'illegal',
  'rejected',
  'parked',
  'late_payment',
] as const
export type Outcome = (typeof OUTCOMES)[number]

/** A webhook that is not stored: a wrong signature, an old event, a failure while it was read. */
export const REFUSED = ['invalid', 'stale', 'error'] as const
export type RefusedReason = (typeof REFUSED)[number]

export const LIFECYCLE_EVENTS = [
  'PaymentInitiated',
  'PaymentSucceeded',
  'PaymentFailed',
  'PaymentCancelled',
  'PaymentRefunded',
] as const
export type LifecycleEvent = (typeof LIFECYCLE_EVENTS)[number]

/** Stored with what caused them, and delivered at least once. */
export const DURABLE_EVENTS = [
  ...LIFECYCLE_EVENTS,
  'RefundAmountChanged',
  'AlertRaised',
  'AlertSettled',
] as const
export type DurableEvent = (typeof DURABLE_EVENTS)[number]

/** Passed on as they happen, at most once. */
const PASSING_EVENTS = [
  'WebhookReceived',
  'WebhookVerificationFailed',
  'GatewayTimeout',
  'CircuitOpened',
] as const
export type PassingEvent = (typeof PASSING_EVENTS)[number]

export const EVENT_NAMES = [...DURABLE_EVENTS, ...PASSING_EVENTS] as const
export type EventName = (typeof EVENT_NAMES)[number]

export const isEventName = (name: string): name is EventName =>
  EVENT_NAMES.some((known) => known === name)

/** Why a person should look at a payment. The most urgent first: a payment shows one. */
export const ALERT_KINDS = [
  'late_payment',
  'double_payment',
  'amount_mismatch',
  'id_mismatch',
  'refund_failed',
  'dispute',
  'unsettled',
  'refund_unsettled',
  'unreadable',
  'endpoint_gone',
  'listener_dead',
  'delivery_dead',
] as const
export type AlertKind = (typeof ALERT_KINDS)[number]

/** What a person or a program may ask for, and the audit trail has. */
export const ACTIONS = [
  'charge',
  'replace',
  'cancel',
  'refund',
  'late_refund',
  'check',
  'redeliver',
  'acknowledge',
  'reopen',
  'note',
  'forget',
  'pause',
  'resume',
] as const
export type Action = (typeof ACTIONS)[number]

/** What the books have. */
export const MOVEMENT_KINDS = [
  'paid',
  'late_paid',
  'refunded',
  'refund_failed',
  'refused_paid',
  'disputed',
  'dispute_returned',
] as const
export type MovementKind = (typeof MOVEMENT_KINDS)[number]

/** Those of money that no payment counts: it is in no sum of one. */
export const BESIDE_SUMS: readonly MovementKind[] = ['refused_paid', 'disputed', 'dispute_returned']

/** Those about an event, and not about the money of the payment: the payment does not name them. */
export const DELIVERY_ALERTS: readonly AlertKind[] = [
  'endpoint_gone',
  'listener_dead',
  'delivery_dead',
]

/** The event that a change to this status fires. */
export const EVENT_OF: Readonly<Record<PaymentStatus, LifecycleEvent>> = {
  Pending: 'PaymentInitiated',
  Paid: 'PaymentSucceeded',
  Failed: 'PaymentFailed',
  Cancelled: 'PaymentCancelled',
  Expired: 'PaymentCancelled',
  Refunded: 'PaymentRefunded',
  PartiallyRefunded: 'PaymentRefunded',
}

/** What a gateway is called for. Each has its own circuit: failed checks must not stop charges. */
export const CALL_KINDS = ['charge', 'refund', 'status'] as const
export type CallKind = (typeof CALL_KINDS)[number]
