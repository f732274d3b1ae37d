// The JSON and the callback claims of the redirect gateway for a payment, as the public
// documentation of ZainCash Payment Gateway v2 describes them. Pure.

import { amountOf, type Payment, type State, type Transition } from './payment.ts'

export function statusOf(state: State): string {
  switch (state) {
    case 'open':
    case 'processing':
      return 'PENDING'
    case 'paid':
    // A refund in progress does not show in the status.
    case 'refund_requested':
      return 'SUCCESS'
    case 'failed':
    // The gateway has no status for a cancelled payment.
    case 'cancelled':
      return 'FAILED'
    case 'expired':
      return 'EXPIRED'
    case 'refunded':
      return 'REFUNDED'
  }
}

function errorOf(state: State): string | null {
  switch (state) {
    case 'failed':
      return 'Insufficient balance.'
    case 'cancelled':
      return 'The customer cancelled the payment.'
    case 'expired':
      return 'The payment session has expired.'
    default:
      return null
  }
}

const time = (ms: number): string => new Date(ms).toISOString()

const details = (payment: Payment) => {
  const { amount: value, currency } = amountOf(payment)
  return {
    transactionId: payment.id,
    externalReferenceId: payment.externalReference,
    orderId: payment.reference,
    serviceType: payment.serviceType,
    amount: { value, currency },
  }
}

export const initAnswer = (payment: Payment, payUrl: string) => ({
  status: statusOf(payment.state),
  transactionDetails: details(payment),
  redirectUrl: payUrl,
  expiryTime: time(payment.expiresAt),
})

/** Without the redirectUrl, which is only in the response to the charge. */
export const inquiryAnswer = (payment: Payment) => ({
  status: statusOf(payment.state),
  transactionDetails: details(payment),
  timeStamps: {
    createdAt: time(payment.createdAt),
    updatedAt: time(payment.updatedAt),
    expiryTime: time(payment.expiresAt),
    ...(payment.paidAt !== undefined && { completedAt: time(payment.paidAt) }),
  },
})

export const reverseAnswer = (payment: Payment, isDone: boolean) => ({
  status: isDone ? 'COMPLETED' : 'FAILED',
  transactionId: payment.id,
  ...(isDone && { reversalReferenceId: payment.refundId }),
})

/** The claims of a callback, and of the token in the return URL. */
export function claimsOf({ before, after, refundFailed, now }: Transition, eventId: string) {
  const { amount: value, currency } = amountOf(after)
  const ofRefund = after.state === 'refunded' ? 'REFUND_COMPLETED' : 'STATUS_CHANGED'
  return {
    eventType: refundFailed ? 'REFUND_FAILED' : ofRefund,
    eventId,
    timestamp: time(now),
    data: {
      transactionId: after.id,
      merchantReferenceId: after.externalReference,
      orderId: after.reference,
      customerMsisdn: after.phone ?? null,
      errorMessage: refundFailed ? 'The refund could not be made.' : errorOf(after.state),
      previousStatus: statusOf(before.state),
      currentStatus: statusOf(after.state),
      amount: { currency, value },
    },
  }
}
