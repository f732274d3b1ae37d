// Queries that fail for unreadable rows, so that most tests need not check for them.

import type {
  AlertRecord,
  AuditRecord,
  EventRecord,
  Listed,
  ListedStory,
  Story,
  Transaction,
} from '../../worker/payments/domain/types.ts'
import type { PaymentQueries } from '../../worker/payments/queries/queries-libsql.ts'

export interface ReadableQueries extends PaymentQueries {
  transactions(...given: Parameters<PaymentQueries['transactions']>): Promise<Transaction[]>
  story(transactionId: string, now?: number): Promise<Story | undefined>
  webhookEvents(...given: Parameters<PaymentQueries['webhookEvents']>): Promise<EventRecord[]>
  alerts(...given: Parameters<PaymentQueries['alerts']>): Promise<AlertRecord[]>
  audit(...given: Parameters<PaymentQueries['audit']>): Promise<AuditRecord[]>
}

/** Rejects when a row cannot be read. */
export const readable = (queries: PaymentQueries): ReadableQueries => ({
  ...queries,
  transactions: async (...given) => (await queries.transactions(...given)).map(read),
  webhookEvents: async (...given) => (await queries.webhookEvents(...given)).map(read),
  alerts: async (...given) => (await queries.alerts(...given)).map(read),
  audit: async (...given) => (await queries.audit(...given)).map(read),
  async story(id, now = Date.now()) {
    const story = await queries.story(id, now)
    return story && readStory(story)
  },
})

const readStory = (story: ListedStory): Story => ({
  transaction: read(story.transaction),
  isStranded: story.isStranded,
  check: story.check,
  webhookEvents: story.webhookEvents.map(read),
  refunds: story.refunds.map(read),
  events: story.events.map(read),
  alerts: story.alerts.map(read),
  audit: story.audit.map(read),
})

function read<Item extends object>(item: Listed<Item>): Item {
  if ('invalid' in item) throw new Error(`${item.id}: ${item.invalid}`)
  return item
}
