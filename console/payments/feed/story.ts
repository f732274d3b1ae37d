// Rows that the edge could not read, and the story of a payment sorted by readable and unreadable
// rows. Pure.

import type {
  Alert,
  Refund,
  StoredEvent,
  Transaction,
  TransactionStory,
  Unreadable,
  WebhookEvent,
} from '../../../api/types.ts'

/** A row of a list, which the edge may have been unable to read. */
export type Listed<Row> = Row | Unreadable

export const isUnreadable = <Item extends object>(row: Listed<Item>): row is Unreadable =>
  'invalid' in row

export const isReadable = <Item extends object>(row: Listed<Item>): row is Item =>
  !isUnreadable(row)

/** A story with readable rows only, and the unreadable ones apart. */
export interface Story {
  /** The payment is open but cannot be paid. */
  isStranded: boolean
  /** Undefined: the row of the payment itself is unreadable, and `invalid` says why. */
  transaction: Transaction | undefined
  invalid: string | undefined
  webhookEvents: readonly WebhookEvent[]
  refunds: readonly Refund[]
  events: readonly StoredEvent[]
  alerts: readonly Alert[]
  /** The unreadable rows, without that of the payment. Their times are unknown. */
  unreadable: readonly Unreadable[]
  /** Such a refund may be in progress. */
  hasUnreadableRefund: boolean
}

export function storyOf(answer: TransactionStory): Story {
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
