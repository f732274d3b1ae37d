// The JSON of First Iraqi Bank for a payment, as the SDK of the bank expects it. Pure.

import { amountOf, type Payment, type State } from './payment.ts'

export function statusOf(state: State): string {
  switch (state) {
    case 'open':
    case 'processing':
      return 'UNPAID'
    case 'paid':
      return 'PAID'
    case 'failed':
    case 'cancelled':
    case 'expired':
      return 'DECLINED'
    case 'refund_requested':
      return 'REFUND_REQUESTED'
    case 'refunded':
      return 'REFUNDED'
  }
}

function decliningReason(state: State): string | null {
  switch (state) {
    case 'failed':
      return 'SERVER_FAILURE'
    case 'cancelled':
      return 'PAYMENT_CANCELLATION'
    case 'expired':
      return 'PAYMENT_EXPIRATION'
    default:
      return null
  }
}

/** A single pixel: codes of the simulator are not scanned. */
const QR_CODE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA' +
  '60e6kgAAAABJRU5ErkJggg=='

/** `payUrl` replaces the links that open the app of the bank. */
export const paymentAnswer = (payment: Payment, payUrl: string) => ({
  paymentId: payment.id,
  readableCode: readableCode(payment.id),
  qrCode: QR_CODE,
  validUntil: time(payment.expiresAt),
  personalAppLink: payUrl,
  businessAppLink: payUrl,
  corporateAppLink: payUrl,
})

/** The code that a payer types into the app, like `5B1E-0C94-D27A`. */
export const readableCode = (id: string): string =>
  (id.replaceAll('-', '').slice(0, 12).toUpperCase().match(/.{4}/g) ?? []).join('-')

export const statusAnswer = (payment: Payment) => ({
  paymentId: payment.id,
  status: statusOf(payment.state),
  paidAt: payment.paidAt === undefined ? null : time(payment.paidAt),
  amount: amountOf(payment),
  decliningReason: decliningReason(payment.state),
  declinedAt: payment.declinedAt === undefined ? null : time(payment.declinedAt),
  paidBy:
    payment.paidAt === undefined
      ? null
      : { name: 'Sara Ahmed', iban: 'IQ98FIQB004095000000000001' },
})

/** The whole callback. It is not signed, so the merchant must check the status with the bank. */
export const callbackOf = (payment: Payment) => ({
  id: payment.id,
  status: statusOf(payment.state),
})

export const errorAnswer = (traceId: string, code: string, title: string, detail: string) => ({
  traceId,
  errors: [{ code, title, detail }],
})

/** `PT12H`, `P7D`, … in ms, with 30 days for a month. Undefined: not a duration. */
export function durationMs(text: string): number | undefined {
  const match =
    /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/.exec(
      text,
    )
  if (!match || /[PT]$/.test(text)) return undefined
  const units = [365 * DAY_MS, 30 * DAY_MS, 7 * DAY_MS, DAY_MS, 3_600_000, 60_000, 1_000]
  return units.reduce((sum, unit, at) => sum + unit * Number(match[at + 1] ?? 0), 0)
}

const DAY_MS = 24 * 60 * 60 * 1_000

const time = (ms: number): string => new Date(ms).toISOString()
