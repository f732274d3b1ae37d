// Rows that the edge could not read, and the story of a payment sorted by readable and unreadable
// rows. Pure.

import type { Listed, Transaction, Unreadable } from '../../../worker/payments/domain/schemas.ts'
import type {
  AlertRecord,
  EventRecord,
  ListedStory,
  RefundRecord,
  StoredEvent,
} from '../../../worker/payments/queries/queries.ts'

export const isUnreadable = <Item extends object>(row: Listed<Item>): row is Unreadable =>
  'invalid' in row

export const isReadable = <Item extends object>(row: Listed<Item>): row is Item =>
  !isUnreadable(row)

/** The answer of `GET /api/payments/transactions/{id}`. Each row in it may be unreadable. */
export type StoryAnswer = Listed<Transaction> & Omit<ListedStory, 'transaction'>

/** A story with readable rows only, and the unreadable ones apart. */
export interface Story {
  /** The payment is open but cannot be paid. */
  isStranded: boolean
  /** Undefined: the row of the payment itself is unreadable, and `invalid` says why. */
  transaction: Transaction | undefined
  invalid: string | undefined
  webhookEvents: readonly EventRecord[]
  refunds: readonly RefundRecord[]
  events: readonly StoredEvent[]
  alerts: readonly AlertRecord[]
  /** The unreadable rows, without that of the payment. Their times are unknown. */
  unreadable: readonly Unreadable[]
  /** Such a refund may be in progress. */
  hasUnreadableRefund: boolean
}

export function storyOf(answer: StoryAnswer): Story {
  const { isStranded, webhookEvents, refunds, events, alerts, ...row } = answer
  const transaction = row as Listed<Transaction>
  return {
    isStranded,
    transaction: isReadable(transaction) ? transaction : undefined,
    invalid: isUnreadable(transaction) ? transaction.invalid : undefined,
    webhookEvents: webhookEvents.filter(isReadable),
    refunds: refunds.filter(isReadable),
    events: events.filter(isReadable),
    alerts: alerts.filter(isReadable),
    unreadable: [...webhookEvents, ...refunds, ...events, ...alerts].filter(isUnreadable),
    hasUnreadableRefund: refunds.some(isUnreadable),
  }
}
