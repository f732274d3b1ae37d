// One payment's story in the order of time. Pure.

import type { Transaction } from '../../../worker/payments/domain/transaction.ts'
import type {
  AlertRecord,
  EventRecord,
  RefundRecord,
  StoredEvent,
  Unreadable,
} from '../../../worker/payments/queries/queries.ts'
import type { StoryAnswer, TransactionStory } from '../feed/reads.ts'
import { isReadable, isUnreadable } from '../feed/unreadable.ts'

/** `at`: ISO 8601. */
export type Entry = { key: string; at: string } & (
  | { kind: 'initiated'; transaction: Transaction }
  | { kind: 'refused'; error: NonNullable<Transaction['error']> }
  | { kind: 'webhook'; event: EventRecord }
  | { kind: 'refund'; refund: RefundRecord; currency: string }
  | { kind: 'told'; event: StoredEvent }
  | { kind: 'alert'; alert: AlertRecord }
)

/** Of one moment: what came first, then what it caused. */
const ORDER: readonly Entry['kind'][] = [
  'initiated',
  'refund',
  'refused',
  'webhook',
  'told',
  'alert',
]

export function timeline(story: StoryAnswer): Entry[] {
  const { webhookEvents, refunds, events, alerts } = story
  // Only the payment's own row tells it.
  const currency = isUnreadable(story) ? '' : (story.paid ?? story).currency
  const entries: Entry[] = [
    ...(isUnreadable(story) ? [] : [initiated(story), ...refusal(story)]),
    ...webhookEvents.filter(isReadable).map((event): Entry => {
      return { key: event.id, at: event.receivedAt, kind: 'webhook', event }
    }),
    ...refunds.filter(isReadable).map((refund): Entry => {
      return { key: refund.id, at: refund.createdAt, kind: 'refund', refund, currency }
    }),
    ...events.filter(isReadable).map((event): Entry => {
      return { key: event.id, at: event.createdAt, kind: 'told', event }
    }),
    ...alerts.filter(isReadable).map((alert): Entry => {
      return { key: alert.id, at: alert.createdAt, kind: 'alert', alert }
    }),
  ]
  return entries.sort(
    (a, b) => Date.parse(a.at) - Date.parse(b.at) || ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind),
  )
}

/** What of it cannot be read, the payment's own row aside: when it happened is not known. */
export const unreadable = ({ webhookEvents, refunds, events, alerts }: StoryAnswer): Unreadable[] =>
  [...webhookEvents, ...refunds, ...events, ...alerts].filter(isUnreadable)

const initiated = (story: TransactionStory): Entry => {
  return { key: 'initiated', at: story.createdAt, kind: 'initiated', transaction: story }
}

/** A charge that the gateway refused at once: no webhook tells of it. */
function refusal({ error, webhookEvents, events, updatedAt }: TransactionStory): Entry[] {
  const known = webhookEvents.filter(isReadable)
  if (!error || known.some((event) => event.error && event.outcome === 'applied')) return []
  const told = events.filter(isReadable).find(({ type }) => type === 'PaymentFailed')
  return [{ key: 'refused', at: told?.createdAt ?? updatedAt, kind: 'refused', error }]
}

/** Found by asking, not told by a webhook. */
export const isRecheck = ({ eventId }: EventRecord): boolean => eventId.startsWith('recheck:')

/** What the gateway sent, in lines. */
export const legible = (raw: unknown): string =>
  typeof raw === 'string' ? raw : JSON.stringify(raw, undefined, 2)

/** What can still be given back, in minor units; nothing while a refund is under way. */
export function refundable(story: TransactionStory): number {
  const { status, paid, refundedAmount, refunds } = story
  // One that cannot be read may be under way.
  const isUnderWay = refunds.some(
    (refund) => isUnreadable(refund) || ['claimed', 'accepted'].includes(refund.status),
  )
  if (isUnderWay || (status !== 'Paid' && status !== 'PartiallyRefunded')) return 0
  return Math.max(0, (paid?.amount ?? 0) - refundedAmount)
}
