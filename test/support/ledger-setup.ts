// Short ways to make charges, webhooks and refunds in a ledger. They use only the ports, and no
// adapter.

import { monotonicFactory } from 'ulid'
import type { DueClaim } from '../../worker/payments/acts/act.ts'
import type { ChargeBegun, ChargeStart } from '../../worker/payments/acts/begin-charge.ts'
import type { Check } from '../../worker/payments/acts/check.ts'
import type { ChargeEnd } from '../../worker/payments/acts/finish-charge.ts'
import type { RefundBegun, RefundEnd, RefundStart } from '../../worker/payments/acts/refund.ts'
import type { Arrival, Recorded } from '../../worker/payments/acts/webhook.ts'
import { NEVER_CALLED } from '../../worker/payments/domain/open-charge.ts'
import {
  json,
  present,
  type TransactionRow,
  toTransaction,
} from '../../worker/payments/domain/rows.ts'
import type { AlertKind, PaymentStatus } from '../../worker/payments/domain/status.ts'
import type {
  ChargeRequest,
  OpenedPayment,
  Story,
  Transaction,
  VerifiedWebhook,
} from '../../worker/payments/domain/types.ts'
import type { Ledger, openLedger } from '../../worker/payments/ledger/ledger.ts'
import type { PaymentQueries } from '../../worker/payments/queries/queries-libsql.ts'
import type { Fields, Level } from '../../worker/shared/log.ts'
import { type DispatchedEvent, type FakeDeliverer, readPayload } from './ledger-fakes.ts'
import { type ReadableQueries, readable } from './sqlite-database.ts'

/** A ledger over an empty store. */
export interface OpenedLedger {
  ledger: Ledger
  outbox: Pick<ReturnType<typeof openLedger>, 'claimPending' | 'settleDispatched'>
  queries: PaymentQueries
}

export const T0 = Date.parse('2026-01-05T10:00:00Z')
export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const iso = (ms: number): string => new Date(ms).toISOString()

/** An answer of the ledger, with the events that it caused. */
export type Caused<Answer> = Answer & { pending: DispatchedEvent[] }

type Payload = Partial<{ -readonly [Name in keyof VerifiedWebhook]: VerifiedWebhook[Name] }>
type ChargeWish = Partial<Omit<ChargeStart, 'request'>> & {
  request?: Partial<ChargeRequest>
}
export type EventWish = Payload & Partial<Omit<Arrival, 'payload'>>

export class LedgerSetup {
  readonly ledger: ShownLedger
  readonly outbox: {
    claimPending(claim: DueClaim): Promise<DispatchedEvent[]>
    settleDispatched: OpenedLedger['outbox']['settleDispatched']
  }
  readonly queries: ReadableQueries
  readonly deliverer: FakeDeliverer
  /** Whether the guard admits calls of gateways. */
  mayCall = true
  /** The logged lines. */
  readonly logged: [event: string, fields: Fields, level: Level][]
  readonly #next: (seedTime: number) => string

  /** With the same `random`, the same ids. */
  constructor(
    { ledger, outbox, queries }: OpenedLedger,
    deliverer: FakeDeliverer,
    { random, logged = [] }: { random?: () => number; logged?: LedgerSetup['logged'] } = {},
  ) {
    this.#next = monotonicFactory(random)
    this.logged = logged
    this.ledger = shownLedger(ledger)
    this.outbox = {
      claimPending: async (claim) => (await outbox.claimPending(claim)).map(readPayload),
      settleDispatched: outbox.settleDispatched,
    }
    this.deliverer = deliverer
    this.queries = readable(queries)
  }

  /** A ULID, greater than all before. */
  id = (): string => this.#next(T0)

  /** A charge of 25,000 IQD for order-1, unless `wish` has other fields. */
  start(wish: ChargeWish = {}): ChargeStart {
    const request: ChargeRequest = {
      gateway: 'redirect',
      reference: 'order-1',
      amount: 25_000,
      currency: 'IQD',
      description: 'Three books',
      ...wish.request,
    }
    const now = wish.now ?? T0
    return {
      id: this.id(),
      requestHash: JSON.stringify(request),
      correlationId: 'correlation-1',
      chargeRepeatableForMs: Number.MAX_SAFE_INTEGER,
      mayCall: this.mayCall,
      now,
      until: now + MINUTE,
      ...wish,
      request,
    }
  }

  begin = (wish: ChargeWish = {}) => this.ledger.beginCharge(this.start(wish))

  /** The answer, with the events that it caused. */
  async caused<Answer>(call: Promise<Answer>): Promise<Caused<Answer>> {
    const answer = await call
    return { ...answer, pending: this.deliverer.take() }
  }

  /** Begins a charge that must be new. */
  async pending(wish: ChargeWish = {}): Promise<Transaction> {
    const begun = await this.caused(this.begin(wish))
    if (begun.state !== 'begun') throw new Error(`the charge is ${begun.state}`)
    return begun.transaction
  }

  answerOf = (transaction: Transaction, more: Partial<OpenedPayment> = {}): OpenedPayment => ({
    status: 'Pending',
    gateway: transaction.gateway,
    reference: transaction.reference,
    transactionId: transaction.id,
    gatewayTransactionId: `gateway-${transaction.id}`,
    redirectUrl: 'https://pay.example/hosted/1',
    expiresAt: iso(T0 + HOUR),
    ...more,
  })

  finish(
    transaction: Transaction,
    result: ChargeEnd['result'],
    more: Partial<ChargeEnd> = {},
  ): Promise<Caused<Finished>> {
    const { id: transactionId } = transaction
    const eventId = this.id()
    const end = { transactionId, eventId, now: T0 + 1_000, ...more, result }
    return this.caused(this.ledger.finishCharge(end))
  }

  /** A charge that the gateway has answered. */
  async charged(wish: ChargeWish = {}): Promise<Transaction> {
    return (await this.answer(await this.pending(wish))).transaction
  }

  /** Stores the gateway's answer to a charge. */
  answer(transaction: Transaction, nextCheckAt = T0 + 5 * MINUTE): Promise<Caused<Finished>> {
    const answer = this.answerOf(transaction)
    return this.finish(transaction, { kind: 'answered', answer, expiresAt: T0 + HOUR, nextCheckAt })
  }

  /** A charge that reached this status by webhooks. */
  async reached(status: PaymentStatus, wish: ChargeWish = {}): Promise<Transaction> {
    const transaction = await this.charged(wish)
    if (status === 'Pending') return transaction
    const isRefund = status === 'Refunded' || status === 'PartiallyRefunded'
    if (isRefund) await this.webhook(transaction, { status: 'Paid' })
    const amount = status === 'PartiallyRefunded' ? 5_000 : transaction.amount
    const { outcome } = await this.webhook(transaction, { status, amount })
    if (outcome !== 'applied') throw new Error(`${status} was ${outcome}`)
    return this.read(transaction)
  }

  /** An event of the gateway for this transaction. By default it was paid. */
  arrival(of: Transaction, wish: EventWish = {}): Arrival {
    const { id, onMismatch, correlationId, receivedAt = T0 + 10_000, ...payload } = wish
    return {
      id: id ?? this.id(),
      onMismatch: onMismatch ?? 'log',
      correlationId: correlationId ?? 'correlation-2',
      receivedAt,
      payload: {
        gateway: of.gateway,
        gatewayTransactionId: of.gatewayTransactionId ?? `gateway-${of.id}`,
        reference: of.reference,
        status: 'Paid',
        amount: of.amount,
        currency: of.currency,
        eventId: `event-${this.id()}`,
        occurredAt: receivedAt,
        raw: { a: ['body', 1, null] },
        ...payload,
      },
    }
  }

  webhook = (of: Transaction, wish: EventWish = {}): Promise<Caused<Recorded>> =>
    this.caused(this.ledger.webhook(this.arrival(of, wish)))

  refundStart(of: Transaction, wish: Partial<RefundStart> = {}): RefundStart {
    const amount = wish.amount ?? of.amount
    const now = wish.now ?? T0 + 20_000
    return {
      id: this.id(),
      gateway: of.gateway,
      transactionId: of.id,
      amount,
      reason: 'Returned',
      fullOnly: false,
      requestHash: `refund of ${amount}`,
      correlationId: 'correlation-3',
      mayCall: this.mayCall,
      now,
      until: now + MINUTE,
      ...wish,
    }
  }

  refund = (of: Transaction, wish: Partial<RefundStart> = {}) =>
    this.ledger.beginRefund(this.refundStart(of, wish))

  /** Claims a refund that must be possible, and returns its id. */
  async claimed(of: Transaction, wish: Partial<RefundStart> = {}): Promise<string> {
    const start = this.refundStart(of, wish)
    const begun = await this.ledger.beginRefund(start)
    if (begun.state !== 'begun') throw new Error(`the refund is ${begun.state}`)
    return start.id
  }

  endRefund = (refundId: string, result: RefundEnd['result'], now = T0 + 21_000) =>
    this.caused(this.ledger.finishRefund({ refundId, now, result }))

  async story(of: Transaction | string): Promise<Story> {
    const id = typeof of === 'string' ? of : of.id
    const found = await this.queries.story(id)
    if (!found) throw new Error(`there is no payment ${id}`)
    const { payment: _, installation: _own, ...story } = found
    return story
  }

  read = async (of: Transaction): Promise<Transaction> => (await this.story(of)).transaction

  /** The types of a payment's events, in order. */
  eventsOf = async (of: Transaction): Promise<string[]> =>
    (await this.story(of)).events.map(({ type }) => type)

  /** The kinds of the open alerts, newest first. */
  alerts = async (): Promise<AlertKind[]> =>
    (await this.queries.alerts({}, { limit: 100 })).map(({ kind }) => kind)
}

// Payments as the API shows them, which is what the contract is about.

interface Finished {
  transaction: Transaction
}

type ShownLedger = ReturnType<typeof shownLedger>

function shownLedger(ledger: Ledger) {
  const finished = async (ending: Promise<TransactionRow>): Promise<Finished> => ({
    transaction: toTransaction(await ending),
  })
  return {
    ...ledger,
    beginCharge: async (start: ChargeStart) => shownCharge(await ledger.beginCharge(start)),
    finishCharge: (end: ChargeEnd) => finished(ledger.finishCharge(end)),
    beginRefund: async (start: RefundStart) => shownRefund(await ledger.beginRefund(start)),
    finishRefund: (end: RefundEnd) => finished(ledger.finishRefund(end)),
    claimChecks: async (claim: Parameters<Ledger['claimChecks']>[0]) =>
      (await ledger.claimChecks(claim)).map(shownCheck),
    async claimCheck(claim: Parameters<Ledger['claimCheck']>[0]) {
      const claimed = await ledger.claimCheck(claim)
      return 'check' in claimed ? { ...claimed, check: shownCheck(claimed.check) } : claimed
    },
  }
}

function shownCharge(begun: ChargeBegun) {
  if (!('transaction' in begun)) return begun
  const { state, transaction: row } = begun
  if (state === 'conflict') return { state, over: begun.over, fields: begun.fields }
  const opened = json<OpenedPayment>(row.charge_answer)
  return {
    state,
    transaction: toTransaction(row),
    ...(state === 'answered' && present({ opened })),
    ...(state === 'unknown' && present({ nextCheckAt: row.next_check_at })),
  }
}

const shownRefund = (begun: RefundBegun) =>
  'transaction' in begun ? { ...begun, transaction: toTransaction(begun.transaction) } : begun

const shownCheck = ({ transaction: asked }: Check) => ({
  asked,
  transaction: toTransaction(asked),
  request: json<ChargeRequest>(asked.request),
  isUnsent: asked.called_until === NEVER_CALLED,
})
