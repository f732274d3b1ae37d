// The objects of Stripe that the simulator shows, as its API and its events have them: sessions,
// PaymentIntents, charges and refunds. The types are those of Stripe's own package.

import type Stripe from 'stripe'
import { amountOf, type Dispute, type Payment, type Refund, refundedOf } from './payments.ts'

export const seconds = (ms: number): number => Math.floor(ms / 1_000)
const moneyOf = (payment: Payment) => {
  const { amount, currency } = amountOf(payment)
  return { amount, currency: currency.toLowerCase() }
}
/** The ids of a session, its intent and its charge differ in their prefix only. */
const idOf = (prefix: 'pi' | 'ch', { id }: Payment): string => id.replace(/^cs_test/, prefix)
export const sessionIdOf = (id: string): string => id.replace(/^(pi|ch)_/, 'cs_test_')

const isPaid = ({ state }: Payment): boolean => state === 'paid' || state === 'refunded'
const isComplete = (payment: Payment): boolean =>
  isPaid(payment) || payment.state === 'processing' || payment.state === 'failed'

/** Once the session is complete. */
const PAYER = {
  address: null,
  business_name: null,
  email: 'sara@example.com',
  individual_name: null,
  name: 'Sara Ahmed',
  phone: null,
  tax_exempt: 'none',
  tax_ids: null,
} as const

/** `url`: of the hosted page. */
export function sessionAnswer(payment: Payment, url: string, expand: readonly string[] = []) {
  const { amount, currency } = moneyOf(payment)
  const isOpen = payment.state === 'open'
  const ended = payment.state === 'expired' ? 'expired' : 'complete'
  const intent = intentAnswer(payment, expand.includes('payment_intent.latest_charge'))
  const isExpanded = expand.some((path) => path.startsWith('payment_intent'))
  return {
    id: payment.id,
    object: 'checkout.session',
    amount_subtotal: amount,
    amount_total: amount,
    cancel_url: payment.failureUrl ?? null,
    client_reference_id: payment.reference === '' ? null : payment.reference,
    created: seconds(payment.createdAt),
    currency,
    customer: null,
    customer_details: isComplete(payment) ? PAYER : null,
    customer_email: null,
    expires_at: seconds(payment.expiresAt),
    livemode: false,
    metadata: { ...payment.metadata },
    mode: 'payment',
    payment_intent: isExpanded ? (intent ?? null) : (intent?.id ?? null),
    payment_method_types: ['card'],
    payment_status: isPaid(payment) ? 'paid' : 'unpaid',
    status: isOpen ? 'open' : ended,
    success_url: payment.successUrl ?? null,
    url: isOpen ? url : null,
  } satisfies Partial<Omit<Stripe.Checkout.Session, 'payment_intent'>> & { payment_intent: unknown }
}

/** Undefined: there was no attempt to pay yet. */
export function intentAnswer(payment: Payment, withCharge: boolean) {
  const isTried = isComplete(payment) || payment.declinedAt !== undefined
  if (!isTried || payment.state === 'expired') return undefined
  const { amount, currency } = moneyOf(payment)
  const charge = isPaid(payment) ? chargeAnswer(payment) : undefined
  const unpaid = payment.state === 'processing' ? 'processing' : 'requires_payment_method'
  return {
    id: idOf('pi', payment),
    object: 'payment_intent',
    amount,
    amount_received: charge ? amount : 0,
    created: seconds(payment.createdAt),
    currency,
    customer: null,
    description: payment.description,
    last_payment_error: charge || unpaid === 'processing' ? null : DECLINED,
    latest_charge: withCharge ? (charge ?? null) : (charge?.id ?? null),
    livemode: false,
    metadata: { ...payment.paymentMetadata },
    payment_method_types: ['card'],
    status: charge ? 'succeeded' : unpaid,
  } satisfies Partial<Omit<Stripe.PaymentIntent, 'latest_charge'>> & { latest_charge: unknown }
}

const DECLINED = {
  code: 'card_declined',
  decline_code: 'generic_decline',
  message: 'Your card was declined.',
  type: 'card_error',
} as const

export function chargeAnswer(payment: Payment) {
  const { email, name } = PAYER
  const { amount, currency } = moneyOf(payment)
  const refunded = refundedOf(payment)
  return {
    id: idOf('ch', payment),
    object: 'charge',
    amount,
    amount_captured: amount,
    amount_refunded: refunded,
    billing_details: { address: null, email, name, phone: null, tax_id: null },
    captured: true,
    created: seconds(payment.paidAt ?? payment.updatedAt),
    currency,
    description: payment.description,
    disputed: (payment.disputes ?? []).length > 0,
    failure_code: null,
    livemode: false,
    metadata: { ...payment.paymentMetadata },
    paid: true,
    payment_intent: idOf('pi', payment),
    refunded: refunded === amount,
    status: 'succeeded',
  } satisfies Partial<Stripe.Charge>
}

export function refundAnswer(refund: Refund, payment: Payment) {
  const isFailed = refund.status === 'failed'
  return {
    id: refund.id,
    object: 'refund',
    amount: refund.amount,
    charge: idOf('ch', payment),
    created: seconds(refund.createdAt),
    currency: moneyOf(payment).currency,
    ...(isFailed && { failure_reason: 'expired_or_canceled_card' }),
    metadata: { ...refund.metadata },
    payment_intent: idOf('pi', payment),
    reason: null,
    status: refund.status,
  } satisfies Partial<Stripe.Refund>
}

export function disputeAnswer(dispute: Dispute, payment: Payment) {
  const { id, amount, status, moves, createdAt } = dispute
  const { currency } = moneyOf(payment)
  return {
    id,
    object: 'dispute',
    amount,
    // Taken by the first, given back by the second.
    balance_transactions: Array.from({ length: moves }, (_, at) => ({
      id: `txn_${id}_${at}`,
      object: 'balance_transaction',
      amount: at % 2 === 0 ? -amount : amount,
      currency,
      type: 'adjustment',
    })),
    charge: idOf('ch', payment),
    created: seconds(createdAt),
    currency,
    is_charge_refundable: false,
    livemode: false,
    metadata: {},
    payment_intent: idOf('pi', payment),
    reason: 'fraudulent',
    status,
  }
}
