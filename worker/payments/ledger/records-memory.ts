// What is read back of the maps. Every answer is a copy: whoever reads cannot move a payment.

import type {
  DeliveryRecord,
  Page,
  PaymentRecords,
  StoredEvent,
  WebhookRate,
} from '../queries/queries.ts'
import type { Book } from './book-memory.ts'
import { iso, newestFirst, type OutboxRow } from './rows-memory.ts'
import { dueChecks, dueToTell } from './sweeps-memory.ts'
import { hasParked } from './webhooks-memory.ts'

export const memoryRecords = (book: Book) =>
  ({
    async transactions({ status, gateway, reference, startsWith }, page) {
      const rows = newestFirst(book.payments).map(({ transaction }) => transaction)
      const wanted = rows.filter(
        (of) =>
          (status === undefined || of.status === status) &&
          (gateway === undefined || of.gateway === gateway) &&
          (reference === undefined || of.reference === reference) &&
          (startsWith === undefined ||
            [of.id, of.gatewayTransactionId, of.reference].some((name) =>
              name?.startsWith(startsWith),
            )),
      )
      return paged(wanted, page)
    },
    async named(gateway, transactionId) {
      return structuredClone(book.find(gateway, transactionId)?.transaction)
    },
    async story(transactionId) {
      const row = book.payments.get(transactionId)
      if (!row) return undefined
      const isOurs = (of: { transactionId?: string }) => of.transactionId === transactionId
      return structuredClone({
        transaction: row.transaction,
        // As they were stored: two Workers' ids of the same moment are in no order.
        webhookEvents: [...book.events.values()].map(({ record }) => record).filter(isOurs),
        refunds: [...book.refunds.values()].filter(isOurs).map(({ record }) => record),
        events: [...book.outbox.values()].filter(isOurs).map(toldOf),
        alerts: [...book.alerts.values()].map(({ record }) => record).filter(isOurs),
      })
    },
    async webhookEvents({ outcome, gateway }, page) {
      const rows = newestFirst(book.events).map(({ record }) => record)
      const wanted = rows.filter(
        (of) =>
          (outcome === undefined || of.outcome === outcome) &&
          (gateway === undefined || of.gateway === gateway),
      )
      return paged(wanted, page)
    },
    async alerts({ all = false }, page) {
      const rows = newestFirst(book.alerts).map(({ record }) => record)
      return paged(
        rows.filter((of) => all || of.acknowledgedAt === undefined),
        page,
      )
    },
    async webhookRates({ from, to }) {
      const rates = new Map<number, WebhookRate>()
      for (const { arrival, record } of book.events.values()) {
        const { receivedAt } = arrival
        if (receivedAt < from || receivedAt >= to) continue
        const minute = receivedAt - (receivedAt % 60_000)
        const rate = rates.get(minute) ?? { at: iso(minute), outcomes: {} }
        rate.outcomes[record.outcome] = (rate.outcomes[record.outcome] ?? 0) + 1
        rates.set(minute, rate)
      }
      return [...rates].sort(([a], [b]) => a - b).map(([, rate]) => rate)
    },
    async anythingDue(now) {
      return dueChecks(book, now).length > 0 || dueToTell(book, now).length > 0 || hasParked(book)
    },
  }) satisfies PaymentRecords

const paged = <Row extends { id: string }>(rows: Row[], { before, limit }: Page): Row[] =>
  structuredClone(rows.filter(({ id }) => before === undefined || id < before).slice(0, limit))

function toldOf({ id, type, payload, createdAt, listeners, delivery }: OutboxRow): StoredEvent {
  const { toldAt } = listeners
  const deliveries: DeliveryRecord[] = []
  if (delivery) {
    const isPending = delivery.record.status === 'pending'
    const next = isPending ? { nextAttemptAt: iso(delivery.nextAttemptAt) } : {}
    deliveries.push({ ...delivery.record, ...next })
  }
  return {
    id,
    type,
    payload,
    createdAt: iso(createdAt),
    ...(toldAt !== undefined && { toldAt: iso(toldAt) }),
    deliveries,
  }
}
