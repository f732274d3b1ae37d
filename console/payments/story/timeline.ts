// The timeline of a payment. Pure.

import type {
  Alert,
  Paid,
  Refund,
  StoredEvent,
  Transaction,
  WebhookEvent,
} from '../../../api/types.ts'
import type { Story } from '../feed/story.ts'

/** `at`: ISO 8601. */
export type Entry = { key: string; at: string } & (
  | { kind: 'initiated'; transaction: Transaction }
  | { kind: 'refused'; error: NonNullable<Transaction['error']> }
  | { kind: 'webhook'; event: WebhookEvent }
  | { kind: 'refund'; refund: Refund; currency: string }
  | { kind: 'event'; event: StoredEvent }
  | { kind: 'alert'; alert: Alert }
)

/** Entries of the same time: causes come before effects. */
const ORDER: readonly Entry['kind'][] = [
  'initiated',
  'refund',
  'refused',
  'webhook',
  'event',
  'alert',
]

export function timeline(story: Story): Entry[] {
  const { transaction, webhookEvents, refunds, events, alerts } = story
  // Only the row of the payment has the currency.
  const currency = transaction ? (transaction.paid ?? transaction).currency : ''
  const entries: Entry[] = [
    ...(transaction ? [initiated(transaction), ...refusal(transaction, story)] : []),
    ...webhookEvents.map((event): Entry => {
      return { key: event.id, at: event.receivedAt, kind: 'webhook', event }
    }),
    ...refunds.map((refund): Entry => {
      return { key: refund.id, at: refund.createdAt, kind: 'refund', refund, currency }
    }),
    ...events.map((event): Entry => {
      return { key: event.id, at: event.createdAt, kind: 'event', event }
    }),
    ...alerts.map((alert): Entry => {
      return { key: alert.id, at: alert.createdAt, kind: 'alert', alert }
    }),
  ]
  return entries.sort((a, b) => Date.parse(a.at) - Date.parse(b.at) || rankOf(a) - rankOf(b))
}

const rankOf = (entry: Entry): number =>
  entry.kind === 'event' && entry.event.type.startsWith('Alert')
    ? ORDER.length
    : ORDER.indexOf(entry.kind)

const initiated = (transaction: Transaction): Entry => {
  return { key: 'initiated', at: transaction.createdAt, kind: 'initiated', transaction }
}

/** The gateway refused the charge at once. There is no webhook for this. */
function refusal({ error, updatedAt }: Transaction, { webhookEvents, events }: Story): Entry[] {
  const isInWebhook = webhookEvents.some((event) => event.error && event.outcome === 'applied')
  if (!error || isInWebhook) return []
  const failed = events.find(({ type }) => type === 'PaymentFailed')
  return [{ key: 'refused', at: failed?.createdAt ?? updatedAt, kind: 'refused', error }]
}

/** This event is the answer to a status check of ours, not a webhook. */
export const isRecheck = ({ eventId }: WebhookEvent): boolean => eventId.startsWith('recheck:')

/** What the gateway sent, as text with line breaks. */
export const rawText = (raw: unknown): string =>
  typeof raw === 'string' ? raw : JSON.stringify(raw, undefined, 2)

/** What came in. Late money is only in its alert, until it is to be refunded. */
export function moneyOf({ transaction, alerts }: Story): Paid | undefined {
  const { paid, alert } = transaction ?? {}
  if (paid || alert?.kind !== 'late_payment') return paid
  const { amount, currency } = alerts.find(({ id }) => id === alert.id)?.detail ?? {}
  return amount === undefined || currency === undefined ? undefined : { amount, currency }
}

/** The refundable amount in minor units; 0 while a refund is in progress. */
export function refundable(story: Story): number {
  const { transaction, refunds, hasUnreadableRefund } = story
  if (!transaction) return 0
  const { status, refundedAmount, alert } = transaction
  const isLate = alert?.kind === 'late_payment'
  const isInProgress = refunds.some((refund) => ['claimed', 'accepted'].includes(refund.status))
  if (isInProgress || hasUnreadableRefund) return 0
  if (status !== 'Paid' && status !== 'PartiallyRefunded' && !isLate) return 0
  return Math.max(0, (moneyOf(story)?.amount ?? 0) - refundedAmount)
}
