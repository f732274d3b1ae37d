// The ledger's maps, and what all of its parts do with them: match a payment, move it, fire its
// event, raise an alert. Each call is one synchronous turn, and so atomic.

import type { Log } from '../../shared/log.ts'
import type { AlertKind } from '../domain/alerts.ts'
import type { PaymentEvents, PendingEvent, Subscribers } from '../domain/events.ts'
import { eventOf, type LifecycleEvent } from '../domain/status.ts'
import type { Transaction } from '../domain/transaction.ts'
import type { AlertRecord, EventRecord } from '../queries/queries.ts'
import { type EventNames, LEASE_MS } from './ledger.ts'
import {
  type AlertRow,
  type EventRow,
  iso,
  isRefund,
  isUnderWay,
  type Move,
  newestFirst,
  type OutboxRow,
  type PaymentRow,
  type RefundRow,
  untoldOf,
} from './rows-memory.ts'

export class Book {
  readonly payments = new Map<string, PaymentRow>()
  readonly events = new Map<string, EventRow>()
  readonly refunds = new Map<string, RefundRow>()
  readonly outbox = new Map<string, OutboxRow>()
  readonly alerts = new Map<string, AlertRow>()
  readonly #subscribers: Subscribers

  readonly #log: Log

  constructor(subscribers: Subscribers, log: Log) {
    this.#subscribers = subscribers
    this.#log = log
  }

  /** Of an event that was parked; of any other its receiver logs it. */
  logMismatch({ eventId, toStatus: status, ...record }: EventRecord): void {
    const { gateway, correlationId, transactionId, outcome, amount, currency } = record
    const about = { gateway, correlationId, eventId, status, transactionId }
    this.#log('warn', 'payments.webhook.amount_mismatch', { ...about, outcome, amount, currency })
  }

  payment(id: string): PaymentRow {
    const row = this.payments.get(id)
    if (!row) throw new Error(`there is no payment ${id}`)
    return row
  }

  /** By our id or, within the gateway, by the gateway's. */
  find(gateway: string, transactionId: string): PaymentRow | undefined {
    return this.#newest(
      ({ transaction }) =>
        transaction.gateway === gateway &&
        (transaction.id === transactionId || transaction.gatewayTransactionId === transactionId),
    )
  }

  /** By the gateway's name, then by ours, then by the order's newest row that has no name yet. */
  match(gateway: string, names: EventNames): PaymentRow | undefined {
    const { gatewayTransactionId, externalReferenceId, reference } = names
    const newest = (isIt: (transaction: Transaction) => boolean) =>
      this.#newest(({ transaction }) => transaction.gateway === gateway && isIt(transaction))
    return (
      newest((of) => of.gatewayTransactionId === gatewayTransactionId) ??
      newest((of) => of.externalReferenceId === externalReferenceId) ??
      newest((of) => of.reference === reference && of.gatewayTransactionId === undefined)
    )
  }

  #newest(isIt: (row: PaymentRow) => boolean): PaymentRow | undefined {
    return newestFirst(this.payments).find(isIt)
  }

  /** Attempts to pay an order, newest first. */
  attempts(gateway: string, reference: string): PaymentRow[] {
    return [...this.payments.values()]
      .filter(({ transaction: of }) => of.gateway === gateway && of.reference === reference)
      .sort((a, b) => b.transaction.attempt - a.transaction.attempt)
  }

  refundUnderWay(transactionId: string): RefundRow | undefined {
    return [...this.refunds.values()].find(
      (row) => row.transactionId === transactionId && isUnderWay(row),
    )
  }

  /** A refund came before its payment, and was illegal then: only the gateway knows what holds. */
  hasEarlyRefund(transactionId: string): boolean {
    return [...this.events.values()].some(
      ({ record }) =>
        record.transactionId === transactionId &&
        record.outcome === 'illegal' &&
        isRefund(record.toStatus),
    )
  }

  /** The caller has asked the graph. What is not a change of status fires nothing. */
  move(row: PaymentRow, move: Move): PendingEvent[] {
    const { transaction } = row
    const isChange = transaction.status !== move.to
    transaction.status = move.to
    transaction.updatedAt = iso(move.now)
    if (move.refundedAmount !== undefined) transaction.refundedAmount = move.refundedAmount
    if (move.paid) {
      const { at, ...paid } = move.paid
      transaction.paidAt = iso(at)
      transaction.paid = paid
    }
    if (move.error) transaction.error = move.error
    this.#settleRefund(transaction, move.now)
    const isDoubtful = move.to === 'Paid' && this.hasEarlyRefund(transaction.id)
    if (isDoubtful) row.nextCheckAt = move.now
    else if (!this.refundUnderWay(transaction.id)) row.nextCheckAt = undefined
    if (!isChange || move.to === 'Pending') return []
    const payload = { transaction: structuredClone(transaction) }
    return this.fire(row, eventOf(move.to), payload, move)
  }

  #settleRefund(transaction: Transaction, now: number): void {
    const refund = this.refundUnderWay(transaction.id)
    if (!refund) return
    const { record, refundedBefore } = refund
    if (transaction.refundedAmount < refundedBefore + record.amount) return
    record.status = 'succeeded'
    record.updatedAt = iso(now)
  }

  /** Stores an event, leased to whoever calls; nothing where nobody is to be told. */
  fire(
    { transaction }: PaymentRow,
    type: LifecycleEvent,
    payload: PaymentEvents[LifecycleEvent],
    { eventId, now, correlationId }: Pick<Move, 'eventId' | 'now' | 'correlationId'>,
  ): PendingEvent[] {
    const turn = { attempts: 0, nextAttemptAt: now, leasedUntil: now + LEASE_MS }
    const isOpen = this.#subscribers.hasListeners(type)
    const endpoint = this.#subscribers.endpointFor(type)
    const id = `delivery of ${eventId}`
    const row: OutboxRow = {
      id: eventId,
      transactionId: transaction.id,
      type,
      payload,
      correlationId: correlationId ?? transaction.correlationId,
      createdAt: now,
      listeners: { ...turn, isOpen, toldAt: isOpen ? undefined : now },
      delivery:
        endpoint === undefined
          ? undefined
          : { ...turn, record: { id, endpoint, status: 'pending', attempts: 0 } },
    }
    this.outbox.set(eventId, row)
    return this.untold(eventId)
  }

  /** What of an event is not told yet, whoever holds it. */
  untold(eventId: string): PendingEvent[] {
    const row = this.outbox.get(eventId)
    return row ? untoldOf(row, () => true) : []
  }

  /** Once for each kind and subject; one that somebody had acknowledged is open again. */
  raise(
    kind: AlertKind,
    subject: string,
    of: { gateway: string; transactionId: string; detail: AlertRecord['detail']; now: number },
  ): void {
    const { now, ...about } = of
    const known = [...this.alerts.values()].find(
      (row) => row.subject === subject && row.record.kind === kind,
    )?.record
    if (known && known.acknowledgedAt === undefined) return
    const id = known?.id ?? `alert-${String(this.alerts.size).padStart(9, '0')}`
    this.alerts.set(id, { subject, record: { id, kind, ...about, createdAt: iso(now) } })
  }
}
