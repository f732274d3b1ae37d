// One payment's story in the order of time. Pure.

import type {
  AlertRecord,
  EventRecord,
  EventTold,
  RefundRecord,
} from '../../../../payments/ledger/records.ts'
import type { Transaction } from '../../../../payments/transaction.ts'
import type { TransactionStory } from '../feed/reads.ts'

/** `at`: ISO 8601. */
export type Entry = { key: string; at: string } & (
  | { kind: 'initiated'; transaction: Transaction }
  | { kind: 'refused'; error: NonNullable<Transaction['error']> }
  | { kind: 'webhook'; event: EventRecord }
  | { kind: 'refund'; refund: RefundRecord; currency: string }
  | { kind: 'told'; event: EventTold }
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

export function timeline(story: TransactionStory): Entry[] {
  const { webhookEvents, refunds, events, alerts, createdAt, currency } = story
  const entries: Entry[] = [
    { key: 'initiated', at: createdAt, kind: 'initiated', transaction: story },
    ...refusal(story),
    ...webhookEvents.map((event): Entry => {
      return { key: event.id, at: event.receivedAt, kind: 'webhook', event }
    }),
    ...refunds.map((refund): Entry => {
      return { key: refund.id, at: refund.createdAt, kind: 'refund', refund, currency }
    }),
    ...events.map((event): Entry => {
      return { key: event.id, at: event.createdAt, kind: 'told', event }
    }),
    ...alerts.map((alert): Entry => {
      return { key: alert.id, at: alert.createdAt, kind: 'alert', alert }
    }),
  ]
  return entries.sort(
    (a, b) => Date.parse(a.at) - Date.parse(b.at) || ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind),
  )
}

/** A charge that the gateway refused at once: no webhook tells of it. */
function refusal({ error, webhookEvents, events, updatedAt }: TransactionStory): Entry[] {
  if (!error || webhookEvents.some((event) => event.error && event.outcome === 'applied')) return []
  const told = events.find(({ type }) => type === 'PaymentFailed')
  return [{ key: 'refused', at: told?.createdAt ?? updatedAt, kind: 'refused', error }]
}

/** Found by asking, not told by a webhook. */
export const isRecheck = ({ eventId }: EventRecord): boolean => eventId.startsWith('recheck:')

/** What the gateway sent, in lines. */
export const legible = (raw: unknown): string =>
  typeof raw === 'string' ? raw : JSON.stringify(raw, undefined, 2)

/** What can still be given back, in minor units; nothing while a refund is under way. */
export function refundable({ status, amount, refundedAmount, refunds }: TransactionStory): number {
  const isUnderWay = refunds.some((refund) => ['claimed', 'accepted'].includes(refund.status))
  if (isUnderWay || (status !== 'Paid' && status !== 'PartiallyRefunded')) return 0
  return Math.max(0, amount - refundedAmount)
}
