// How First Iraqi Bank puts a payment into JSON. Pure. True to what its own SDK expects.

import { type Payment, type State, worth } from './payment.ts'

export function statusOf(state: State): string {
  switch (state) {
    case 'open':
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

/** One dot: an app would show the code, and nobody scans the simulator. */
const QR_CODE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA' +
  '60e6kgAAAABJRU5ErkJggg=='

/** `payUrl` stands in for the links that open the bank's app. */
export const paymentAnswer = (payment: Payment, payUrl: string) => ({
  paymentId: payment.id,
  readableCode: readableCode(payment.id),
  qrCode: QR_CODE,
  validUntil: time(payment.expiresAt),
  personalAppLink: payUrl,
  businessAppLink: payUrl,
  corporateAppLink: payUrl,
})

/** What a payer types into the app, like `5B1E-0C94-D27A`. */
export const readableCode = (id: string): string =>
  (id.replaceAll('-', '').slice(0, 12).toUpperCase().match(/.{4}/g) ?? []).join('-')

export const statusAnswer = (payment: Payment) => ({
  paymentId: payment.id,
  status: statusOf(payment.state),
  paidAt: payment.paidAt === undefined ? null : time(payment.paidAt),
  amount: worth(payment),
  decliningReason: decliningReason(payment.state),
  declinedAt: payment.declinedAt === undefined ? null : time(payment.declinedAt),
  paidBy:
    payment.paidAt === undefined
      ? null
      : { name: 'Sara Ahmed', iban: 'IQ98FIQB004095000000000001' },
})

/** The whole callback: it is not signed, so whoever gets it asks the bank. */
export const callbackOf = (payment: Payment) => ({
  id: payment.id,
  status: statusOf(payment.state),
})

export const errorAnswer = (traceId: string, code: string, title: string, detail: string) => ({
  traceId,
  errors: [{ code, title, detail }],
})

/** `PT12H`, `P7D`, … in ms; a month counts 30 days. Undefined: it is no duration. */
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
