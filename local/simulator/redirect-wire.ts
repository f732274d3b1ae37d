// How the redirect gateway puts a payment into JSON and into the claims of a callback. Pure.
// True to the public documentation of ZainCash Payment Gateway v2.

import { type Payment, type State, type Told, worth } from './payment.ts'

export function statusOf(state: State): string {
  switch (state) {
    case 'open':
      return 'PENDING'
    case 'paid':
    // A refund that is still under way has changed nothing that it tells.
    case 'refund_requested':
      return 'SUCCESS'
    case 'failed':
    // It has no word for a payer who changed their mind.
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
  const { amount: value, currency } = worth(payment)
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

/** Without the redirectUrl, which only the first answer holds. */
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

/** Claims of a callback, and of the token that the payer brings back to the shop. */
export function claimsOf({ before, after, refundFailed, now }: Told, eventId: string) {
  const { amount: value, currency } = worth(after)
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
