// The rows of the ledger in memory, and what is asked of a row alone.

import type { PaymentEvents, PendingEvent } from '../domain/events.ts'
import type { PaymentError } from '../domain/exceptions.ts'
import type { LifecycleEvent, PaymentStatus } from '../domain/status.ts'
import type { ChargeRequest, OpenedPayment, Paid, Transaction } from '../domain/transaction.ts'
import type { AlertRecord, DeliveryRecord, EventRecord, RefundRecord } from '../queries/queries.ts'
import type { Arrival } from './ledger.ts'

export interface PaymentRow {
  transaction: Transaction
  /** Without the payer's phone. */
  request: ChargeRequest
  idempotencyKey: string | undefined
  requestHash: string
  /** Id of the call that talks to the gateway, and until when others wait for it. */
  calledBy: string
  calledUntil: number
  /** It was begun, and never sent to its gateway. */
  isUnsent: boolean
  answer: OpenedPayment | undefined
  nextCheckAt: number | undefined
}

export interface EventRow {
  arrival: Arrival
  record: EventRecord
}

export interface RefundRow {
  transactionId: string
  refundedBefore: number
  idempotencyKey: string | undefined
  requestHash: string
  createdAt: number
  record: RefundRecord
}

/** When to try next, and who tries now. */
export interface Turn {
  attempts: number
  nextAttemptAt: number
  leasedUntil: number | undefined
}

export interface OutboxRow {
  id: string
  transactionId: string
  type: LifecycleEvent
  payload: PaymentEvents[LifecycleEvent]
  correlationId: string | undefined
  createdAt: number
  /** `isOpen`: the listeners are still to be told. */
  listeners: Turn & { isOpen: boolean; toldAt: number | undefined }
  delivery: (Turn & { record: DeliveryRecord }) | undefined
}

export interface AlertRow {
  subject: string
  record: AlertRecord
}

/** One change of a payment. */
export interface Move {
  to: PaymentStatus
  /** The outbox's id, if it fires an event. */
  eventId: string
  now: number
  correlationId: string | undefined
  refundedAmount?: number
  paid?: Paid & { at: number }
  error?: PaymentError
}

export const iso = (ms: number): string => new Date(ms).toISOString()

export const isRefund = (status: PaymentStatus): boolean =>
  status === 'Refunded' || status === 'PartiallyRefunded'

/** What can be given back at most. A gateway may tell less than nothing. */
export const paidAmount = ({ paid }: Transaction): number => Math.max(0, paid?.amount ?? 0)

export const isUnderWay = ({ record }: RefundRow): boolean =>
  record.status === 'claimed' || record.status === 'accepted'

/** Ids are ordered by time. */
export const newestFirst = <Row>(rows: ReadonlyMap<string, Row>): Row[] =>
  [...rows].sort(([a], [b]) => (a < b ? 1 : -1)).map(([, row]) => row)

/** The parts of an event that are still to be told, as far as they pass. */
export function untoldOf(row: OutboxRow, passes: (turn: Turn) => boolean): PendingEvent[] {
  const { listeners, delivery } = row
  const tellsListeners = listeners.isOpen && passes(listeners)
  const delivers = delivery?.record.status === 'pending' && passes(delivery)
  if (!tellsListeners && !delivers) return []
  const untold: PendingEvent = {
    outboxId: row.id,
    type: row.type,
    payload: structuredClone(row.payload),
    createdAt: row.createdAt,
  }
  if (row.correlationId !== undefined) untold.correlationId = row.correlationId
  if (tellsListeners) untold.listeners = { attempts: listeners.attempts }
  if (delivers) {
    const { id, endpoint } = delivery.record
    untold.delivery = { id, endpoint, attempts: delivery.attempts }
  }
  return [untold]
}
