// The port of the queries of payments. They read the database directly, not through the ledger.

import type { RaisedAlert } from '../domain/alerts.ts'
import type { PaymentEvents } from '../domain/events.ts'
import type { PaymentError } from '../domain/exceptions.ts'
import type { Listed } from '../domain/listed.ts'
import type { DurableEvent, Outcome, PaymentStatus } from '../domain/status.ts'
import type { Transaction } from '../domain/transaction.ts'

export interface PaymentQueries {
  /** Newest first. */
  transactions(filter: TransactionFilter, page: Page): Promise<Listed<Transaction>[]>
  /** By our id or the gateway's, among the gateway's payments. */
  find(gateway: string, transactionId: string): Promise<Transaction | undefined>
  /** By our id. `now`, in ms: a charge that is still in progress is not stranded. */
  story(transactionId: string, now: number): Promise<ListedStory | undefined>
  /** Newest first. */
  webhookEvents(
    filter: { outcome?: Outcome; gateway?: string },
    page: Page,
  ): Promise<Listed<EventRecord>[]>
  /** Newest first; without `all` only those that are not acknowledged. */
  alerts(filter: { all?: boolean }, page: Page): Promise<Listed<AlertRecord>[]>
  /** Events received from `from` and before `to`, both the start of a minute, in ms. */
  webhookRates(span: { from: number; to: number }): Promise<WebhookRate[]>
  /** Whether anything is due now: the sweeper calls the ledger only then. */
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
  /** The beginning of our id, the gateway's or the reference; case-sensitive. */
  startsWith?: string
}

/** One payment with its webhook events, refunds, events and alerts. Oldest first. */
export interface Story {
  transaction: Transaction
  /** It is open but cannot be paid: a charge with `replace` resolves it. */
  isStranded: boolean
  webhookEvents: EventRecord[]
  refunds: RefundRecord[]
  events: StoredEvent[]
  alerts: AlertRecord[]
}

/** A story in which any part may be an unreadable row. */
export type ListedStory = {
  [Part in keyof Story]: Story[Part] extends (infer Item)[]
    ? Listed<Item>[]
    : Story[Part] extends boolean
      ? boolean
      : Listed<Story[Part]>
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
  /** The end of the last minute, which is not over yet. */
  to: string
  /** Oldest first; a minute without an event is not listed. */
  minutes: WebhookRate[]
}

export interface WebhookRate {
  /** The start of the minute. */
  at: string
  /** The number of events in this minute, by their current outcome. */
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

/** A durable event with its deliveries. */
export interface StoredEvent {
  id: string
  type: DurableEvent
  payload: PaymentEvents[DurableEvent]
  createdAt: string
  /** When the listeners in process had accepted it. */
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
