// The port of the queries of payments, which read the database directly, not through the ledger,
// and what they answer. The types are derived from the schemas, which describe the answers in the
// OpenAPI document; at run time nothing else loads them.

import * as z from 'zod'
import { raisedAlertSchema, settledAlertSchema } from '../domain/alerts.ts'
import { EVENT_PAYLOADS } from '../domain/events.ts'
import {
  type Listed,
  listedSchema,
  paymentErrorSchema,
  statusSchema,
  type Transaction,
  timeSchema,
  transactionSchema,
  type Unreadable,
  unreadableSchema,
} from '../domain/schemas.ts'
import { DURABLE_EVENTS, OUTCOMES, type Outcome, type PaymentStatus } from '../domain/status.ts'

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
  /** What waits at `now`, in ms: each sweep begins with it. */
  waiting(now: number): Promise<Waiting>
}

export interface WaitingEvents {
  count: number
  /** ms */
  oldestAt?: number
}

export interface Waiting {
  /** Something is due: the sweeper calls the ledger only then. */
  isDue: boolean
  /** Stored events that they have not accepted yet. */
  events: Readonly<Record<'listeners' | 'endpoint', WaitingEvents>>
  /** Open alerts, by kind. */
  alerts: Readonly<Record<string, number>>
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

export const eventRecordSchema = z
  .object({
    id: z.string(),
    gateway: z.string(),
    eventId: z.string().describe('The gateway’s: the same for every delivery of one event.'),
    gatewayTransactionId: z.string().exactOptional(),
    externalReferenceId: z.string().exactOptional(),
    reference: z.string().exactOptional(),
    transactionId: z.string().describe('Ours. Missing while it is parked.').exactOptional(),
    fromStatus: statusSchema.exactOptional(),
    toStatus: statusSchema,
    amount: z.int(),
    currency: z.string(),
    isMismatch: z.boolean(),
    outcome: z.enum(OUTCOMES),
    error: paymentErrorSchema.exactOptional(),
    raw: z.unknown().describe('What the gateway sent, masked.').exactOptional(),
    correlationId: z.string().exactOptional(),
    occurredAt: timeSchema,
    receivedAt: timeSchema,
  })
  .describe('A verified webhook of a gateway.')

export const refundRecordSchema = z.object({
  id: z.string(),
  amount: z.int(),
  reason: z.string(),
  status: z.enum(['claimed', 'accepted', 'succeeded', 'failed']),
  gatewayRefundId: z.string().exactOptional(),
  error: paymentErrorSchema.exactOptional(),
  correlationId: z.string().exactOptional(),
  createdAt: timeSchema,
  updatedAt: timeSchema,
})

export const deliveryRecordSchema = z.object({
  id: z.string(),
  endpoint: z.string(),
  status: z.enum(['pending', 'delivered', 'dead']),
  attempts: z.int(),
  lastStatus: z.int().exactOptional(),
  lastError: z.string().exactOptional(),
  nextAttemptAt: timeSchema.exactOptional(),
  deliveredAt: timeSchema.exactOptional(),
})

const { PaymentInitiated, PaymentSucceeded, AlertRaised, AlertSettled } = EVENT_PAYLOADS

export const storedEventSchema = z
  .object({
    id: z.string(),
    type: z.enum(DURABLE_EVENTS),
    payload: z
      .union([PaymentInitiated, AlertSettled, AlertRaised, PaymentSucceeded])
      .describe('Of all other types: the transaction alone.'),
    createdAt: timeSchema,
    listenersDoneAt: timeSchema
      .describe('When the listeners in process had accepted it.')
      .exactOptional(),
    deliveries: z.array(deliveryRecordSchema),
  })
  .describe('A durable event with its deliveries.')

const { acknowledgedAt, acknowledgedBy, gatewayReference } = settledAlertSchema.shape

export const alertRecordSchema = raisedAlertSchema.extend({
  transactionId: z.string().describe('Ours.').exactOptional(),
  acknowledgedAt: acknowledgedAt.exactOptional(),
  acknowledgedBy: acknowledgedBy.exactOptional(),
  gatewayReference,
})

const storyParts = z.object({
  isStranded: z
    .boolean()
    .describe('It is open but cannot be paid: a charge with `replace` resolves it.'),
  webhookEvents: listedSchema(eventRecordSchema),
  refunds: listedSchema(refundRecordSchema),
  events: listedSchema(storedEventSchema),
  alerts: listedSchema(alertRecordSchema),
})

export const storySchema = z
  .union([transactionSchema.extend(storyParts.shape), unreadableSchema.extend(storyParts.shape)])
  .describe('One payment with its webhook events, refunds, events and alerts. Oldest first.')

const rateSchema = z.object({
  at: timeSchema.describe('The start of the minute.'),
  outcomes: z
    .partialRecord(z.enum(OUTCOMES), z.int())
    .describe('The number of events in this minute, by their current outcome.'),
})

export const webhookRatesSchema = z.object({
  from: timeSchema.describe('The start of the first minute.'),
  to: timeSchema.describe('The end of the last minute, which is not over yet.'),
  minutes: z.array(rateSchema).describe('Oldest first; a minute without an event is not listed.'),
})

/** `cursor`: there may be another page, which begins after it. */
const pageOf = <Name extends string, Item extends z.ZodType>(name: Name, item: Item) =>
  z.object({
    [name]: listedSchema(item),
    cursor: z.string().describe('Of the next page, if there may be one.').exactOptional(),
  })

export const transactionsPageSchema = pageOf('transactions', transactionSchema)
export const eventsPageSchema = pageOf('webhookEvents', eventRecordSchema)
export const alertsPageSchema = pageOf('alerts', alertRecordSchema)

export type EventRecord = z.infer<typeof eventRecordSchema>
export type RefundRecord = z.infer<typeof refundRecordSchema>
/** A durable event with its deliveries. */
export type StoredEvent = z.infer<typeof storedEventSchema>
export type DeliveryRecord = z.infer<typeof deliveryRecordSchema>
export type AlertRecord = z.infer<typeof alertRecordSchema>
/** What `GET /api/payments/webhook-rates` answers. */
export type WebhookRates = z.infer<typeof webhookRatesSchema>
export type WebhookRate = z.infer<typeof rateSchema>

type StoryParts = z.infer<typeof storyParts>

/** A story in which any part may be an unreadable row. */
export type ListedStory = { transaction: Listed<Transaction> } & StoryParts

/** One payment with its webhook events, refunds, events and alerts. Oldest first. */
export type Story = { transaction: Transaction } & {
  [Part in keyof StoryParts]: StoryParts[Part] extends (infer Item)[]
    ? Exclude<Item, Unreadable>[]
    : StoryParts[Part]
}
