// The port of what is read back. Reads go straight to the database, never through the ledger.

import type { RaisedAlert } from '../domain/alerts.ts'
import type { PaymentEvents } from '../domain/events.ts'
import type { PaymentError } from '../domain/exceptions.ts'
import type { DurableEvent, Outcome, PaymentStatus } from '../domain/status.ts'
import type { Transaction } from '../domain/transaction.ts'

export interface PaymentRecords {
  /** Newest first. */
  transactions(filter: TransactionFilter, page: Page): Promise<Listed<Transaction>[]>
  /** By our id or, within the gateway, by the gateway's. */
  named(gateway: string, transactionId: string): Promise<Transaction | undefined>
  /** By our id. */
  story(transactionId: string): Promise<ListedStory | undefined>
  /** Newest first. */
  webhookEvents(
    filter: { outcome?: Outcome; gateway?: string },
    page: Page,
  ): Promise<Listed<EventRecord>[]>
  /** Newest first; without `all` only those that nobody has acknowledged. */
  alerts(filter: { all?: boolean }, page: Page): Promise<Listed<AlertRecord>[]>
  /** Events received from `from` and before `to`, both the start of a minute, in ms. */
  webhookRates(span: { from: number; to: number }): Promise<WebhookRate[]>
  /** Whether anything is due now: the sweeper wakes the ledger only then. */
  anythingDue(now: number): Promise<boolean>
}

/** Only what is older than `before`, an id. */
export interface Page {
  before?: string
  limit: number
}

export interface TransactionFilter {
  status?: PaymentStatus
  gateway?: string
  reference?: string
  /** What our id, the gateway's or the reference begins with; upper and lower case differ. */
  startsWith?: string
}

/**
 * What a list shows for a row that cannot be read, such as one with a time that no date can have:
 * it fails alone, and whoever looks sees that there is something.
 */
export interface Unreadable {
  id: string
  code: 'unreadable'
  /** A sentence that says what cannot be read. */
  invalid: string
}

export type Listed<Item> = Item | Unreadable

/** Everything that is known of one payment. Oldest first. */
export interface Story {
  transaction: Transaction
  webhookEvents: EventRecord[]
  refunds: RefundRecord[]
  events: StoredEvent[]
  alerts: AlertRecord[]
}

/** A story in which any part may be a row that cannot be read. */
export type ListedStory = {
  [Part in keyof Story]: Story[Part] extends (infer Item)[] ? Listed<Item>[] : Listed<Story[Part]>
}

export interface EventRecord {
  id: string
  gateway: string
  eventId: string
  gatewayTransactionId?: string
  reference?: string
  transactionId?: string
  fromStatus?: PaymentStatus
  toStatus: PaymentStatus
  amount: number
  currency: string
  isMismatch: boolean
  outcome: Outcome
  error?: PaymentError
  /** What the gateway sent, masked. */
  raw?: unknown
  correlationId?: string
  occurredAt: string
  receivedAt: string
}

/** What `GET /api/payments/webhook-rates` answers. Times are ISO 8601. */
export interface WebhookRates {
  /** The start of the first minute. */
  from: string
  /** The end of the last one, which is under way. */
  to: string
  /** Oldest first; a minute without an event is not listed. */
  minutes: WebhookRate[]
}

export interface WebhookRate {
  /** The start of the minute. */
  at: string
  /** How many events came in it, by what became of them until now. */
  outcomes: Partial<Record<Outcome, number>>
}

export interface RefundRecord {
  id: string
  amount: number
  reason: string
  status: 'claimed' | 'accepted' | 'succeeded' | 'failed'
  gatewayRefundId?: string
  error?: PaymentError
  correlationId?: string
  createdAt: string
  updatedAt: string
}

/** A durable event, and how its delivery goes. */
export interface StoredEvent {
  id: string
  type: DurableEvent
  payload: PaymentEvents[DurableEvent]
  createdAt: string
  /** When the listeners in process had taken it. */
  toldAt?: string
  deliveries: DeliveryRecord[]
}

export interface DeliveryRecord {
  id: string
  endpoint: string
  status: 'pending' | 'delivered' | 'dead'
  attempts: number
  lastStatus?: number
  lastError?: string
  nextAttemptAt?: string
  deliveredAt?: string
}

export interface AlertRecord extends Omit<RaisedAlert, 'transactionId'> {
  transactionId?: string
  acknowledgedAt?: string
  acknowledgedBy?: string
}
