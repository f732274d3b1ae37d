// The public types of the client of payments: options, operations, errors.

import type {
  Acknowledgement,
  AlertsPage,
  AuditPage,
  AuditRecord,
  ChargeRequest,
  FailureCodes,
  Gateway,
  MovementDays,
  Movements,
  Note,
  Pause,
  PaymentResponse,
  PaymentStatus,
  RefundRequest,
  RefundResult,
  TransactionStory,
  TransactionsPage,
} from '../api/types.ts'

export interface PaymentsOptions {
  /** URL of the edge, such as `https://signalbox.example`. */
  url: string | undefined
  /**
   * A token with the scope `payments:write` or `payments:read`, or a function that returns one,
   * which is called for each request. Keep it on the server.
   */
  token: string | (() => string | Promise<string>) | undefined
  /**
   * After this time a request fails with the code `unreachable`. Default: 30 s. The edge answers a
   * charge or a refund within 20 s, so a shorter time would give up on answers that still come.
   */
  timeoutMs?: number
  fetch?: typeof fetch
}

/** The same key with the same request is the same charge or refund, however often it is sent. */
export type WithKey<Request> = Request & { idempotencyKey?: string | undefined }

export interface TransactionFilter {
  status?: PaymentStatus | undefined
  /** Key of the configuration. */
  gateway?: string | undefined
  reference?: string | undefined
  /** Only payments with an open alert about their money. */
  needs?: 'person' | undefined
  /**
   * From three letters or digits on any part of the reference, the description or a value of the
   * metadata, however it is written; the beginning or the end of an id; an amount (`20,00`).
   */
  q?: string | undefined
  /** In minor units: of what was requested, or of what was paid. */
  amount?: number | undefined
  currency?: string | undefined
  /** The time that `after` and `before` are about. Default: `created`. */
  by?: 'created' | 'paid' | 'updated' | undefined
  /** From that day (UTC), or time of RFC 3339, on. */
  after?: string | undefined
  /** Before that one. */
  before?: string | undefined
  /** The one that the page before has. */
  cursor?: string | undefined
  /** 1 to 200. Default: 50. */
  limit?: number | undefined
}

export interface MovementFilter {
  /** From that day, or time of RFC 3339, on. */
  after?: string | undefined
  /** Before that one. */
  before?: string | undefined
  /** Key of the configuration. */
  gateway?: string | undefined
  /** An IANA name, at whose midnight a day begins. Default: `UTC`. */
  zone?: string | undefined
}

export interface AlertFilter {
  /** Those that are closed, too. */
  all?: boolean | undefined
  /** The one that the page before has. */
  cursor?: string | undefined
  /** 1 to 200. Default: 50. */
  limit?: number | undefined
}

export interface AuditFilter {
  reference?: string | undefined
  /** Our id of a payment. */
  transaction?: string | undefined
  /** Who asked. */
  subject?: string | undefined
  action?: AuditRecord['action'] | undefined
  /** From that day (UTC), or time of RFC 3339, on. */
  after?: string | undefined
  /** Before that one. */
  before?: string | undefined
  /** The one that the page before has. */
  cursor?: string | undefined
  /** 1 to 200. Default: 50. */
  limit?: number | undefined
}

/** Every operation rejects with a PaymentsError. */
export interface Payments {
  charges: {
    /**
     * Charges an order: send the payer to `redirectUrl`. Safe to repeat: the same order, or the
     * same `idempotencyKey`, is never charged twice. With `replace`, an open charge is replaced
     * whose page was lost or has expired, or that is for another cart, where its gateway can
     * cancel. With `repeat` and another key, a paid order is charged again.
     */
    create(request: WithKey<ChargeRequest>): Promise<PaymentResponse>
  }
  refunds: {
    /** Give each refund its own `idempotencyKey`: then it is safe to repeat. */
    create(request: WithKey<RefundRequest>): Promise<RefundResult>
  }
  transactions: {
    /** One page, newest first. With `cursor`, there may be another page. */
    list(filter?: TransactionFilter): Promise<TransactionsPage>
    /** One transaction with its webhooks, refunds, events and alerts. */
    get(id: string): Promise<TransactionStory>
    /** Asks the gateway now, and returns the updated transaction. Call it once, not in a loop. */
    check(id: string): Promise<TransactionStory>
    /**
     * Ends an open payment at its gateway, and returns it. Fails with `not_cancellable` if it was
     * paid or its gateway cannot, with `gateway_unavailable` if it may still be paid.
     */
    cancel(id: string): Promise<TransactionStory>
    /** For those who look at it next. Sent again, it is another note. */
    note(id: string, text: string): Promise<Note>
  }
  alerts: {
    /** What a person should look at, newest first: without `all` what is open. */
    list(filter?: AlertFilter): Promise<AlertsPage>
    /** A person has seen it. Safe to repeat. */
    acknowledge(id: string, done?: Acknowledgement): Promise<void>
    /** Takes that back within a minute, else it fails with `too_late`. */
    reopen(id: string): Promise<void>
  }
  deliveries: {
    /** Sends an event to the endpoint again. The id is in the payment's `events`. */
    redeliver(id: string): Promise<void>
  }
  audit: {
    /** Who asked for what, newest first. */
    list(filter?: AuditFilter): Promise<AuditPage>
  }
  movements: {
    /**
     * The books of a span of days or times, oldest first, with their sums. It is one answer: ask
     * for a day at a time where a month is long.
     */
    list(filter?: MovementFilter): Promise<Movements>
    /** The sums of each day: of 100 at most. */
    days(span: MovementFilter & { after: string; before: string }): Promise<MovementDays>
  }
  gateways: {
    /** The configured gateways, what they support, and whether they work. */
    list(): Promise<Gateway[]>
  }
  /**
   * Until `resume`, charges, refunds, cancellations and replacements fail with `paused`. Webhooks,
   * checks and deliveries go on. Paused before, it is that pause.
   */
  pause(): Promise<Pause>
  resume(): Promise<void>
}

/** The operations of this client, by their names in the document. */
type Operations =
  | 'createCharge'
  | 'createRefund'
  | 'listTransactions'
  | 'getTransaction'
  | 'checkTransaction'
  | 'cancelTransaction'
  | 'createNote'
  | 'listAlerts'
  | 'acknowledgeAlert'
  | 'reopenAlert'
  | 'redeliver'
  | 'listAudit'
  | 'listMovements'
  | 'listMovementDays'
  | 'listGateways'
  | 'pausePayments'
  | 'resumePayments'

/** A code of the edge, or one of the client. */
export type PaymentsErrorCode =
  | FailureCodes[Operations]
  /** There was no answer in time. The request may have arrived: send the same one again. */
  | 'unreachable'
  /** What answered is no Signalbox edge, but for example a proxy. */
  | 'invalid_answer'
  /** `url` or `token` is missing, or the `token` function failed. Nothing was sent. */
  | 'invalid_options'

/** Match `code`, never the message. */
export class PaymentsError extends Error {
  override readonly name = 'PaymentsError'
  readonly code: PaymentsErrorCode
  /** The HTTP status; 0: there was no answer. */
  readonly status: number
  /** Our id of a payment that is stored, although its charge or refund failed. */
  readonly transactionId: string | undefined
  /** Seconds after which the same request is worth sending again. */
  readonly retryAfterS: number | undefined
  /** For the operator: the request is in the log under this id. */
  readonly correlationId: string | undefined

  constructor(code: PaymentsErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause })
    this.code = code
    this.status = details.status ?? 0
    this.transactionId = details.transactionId
    this.retryAfterS = details.retryAfterS
    this.correlationId = details.correlationId
  }
}

interface ErrorDetails {
  status?: number
  transactionId?: string | undefined
  retryAfterS?: number | undefined
  correlationId?: string | undefined
  cause?: unknown
}
