// Rows as the API, the events and the host application see them. Pure. Throws for what no code
// writes: a time that no date has, a text that is not JSON.

import { reasonOf } from '../../shared/log.ts'
import type { PaymentError } from './exceptions.ts'
import { majorText } from './money.ts'
import type {
  AlertRow,
  AuditRow,
  DeliveryRow,
  MovementRow,
  OutboxRow,
  RefundRow,
  TransactionRow,
  WebhookEventRow,
} from './rows.ts'
import { isTime } from './time.ts'
import type {
  AlertDetail,
  AuditRecord,
  CheckTimes,
  DeliveryRecord,
  EventRecord,
  Listed,
  Metadata,
  Movement,
  OpenAlert,
  PauseRecord,
  RaisedAlert,
  RefundRecord,
  SettledAlert,
  StoredEvent,
  Transaction,
} from './types.ts'

export function toTransaction(row: TransactionRow): Transaction {
  const { paid_at, paid_amount: amount, paid_currency: currency } = row
  return {
    id: row.id,
    gateway: row.gateway,
    reference: row.reference,
    attempt: row.attempt,
    externalReferenceId: row.external_reference_id ?? '',
    status: row.status,
    amount: row.amount,
    currency: row.currency,
    refundedAmount: row.refunded_amount,
    refundRevision: row.refund_revision,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
    ...present({
      gatewayTransactionId: row.gateway_transaction_id,
      description: row.description,
      redirectUrl: row.redirect_url,
      correlationId: row.correlation_id,
      metadata: json<Metadata>(row.metadata),
      error: json<PaymentError>(row.error),
      alert: json<OpenAlert>(row.alert),
      expiresAt: timeIn(row.expires_at),
      paidAt: timeIn(paid_at),
      paid: paid_at === null || amount === null || currency === null ? null : { amount, currency },
      isRepeat: row.is_repeat === 1 ? true : null,
    }),
  }
}

/** A time that no date has is left out: the rest of the payment is shown. */
export function toCheck(row: TransactionRow): CheckTimes {
  const { last_check_at: last, last_check_status: lastStatus, next_check_at: next } = row
  const possible = (ms: number | null) => (ms !== null && isTime(ms) ? isoTime(ms) : null)
  return present({ lastAt: possible(last), lastStatus, nextAt: possible(next) })
}

export function toAlert(row: AlertRow): RaisedAlert | SettledAlert {
  const raised: RaisedAlert = {
    id: row.id,
    kind: row.kind,
    gateway: row.gateway,
    transactionId: row.transaction_id ?? '',
    detail: json<AlertDetail>(row.detail) ?? {},
    createdAt: isoTime(row.created_at),
  }
  if (row.acknowledged_at === null) return raised
  return {
    ...raised,
    acknowledgedAt: isoTime(row.acknowledged_at),
    acknowledgedBy: row.acknowledged_by ?? '',
    ...present({ gatewayReference: row.gateway_reference }),
  }
}

/** `raw_bytes`: of what the gateway sent, where that was left out. */
export type ReadEventRow = WebhookEventRow & { raw_bytes?: number | null }

export const toEventRecord = (row: ReadEventRow): EventRecord => ({
  id: row.id,
  gateway: row.gateway,
  eventId: row.event_id,
  toStatus: row.to_status,
  amount: row.amount,
  currency: row.currency,
  isMismatch: row.mismatch === 1,
  outcome: row.outcome,
  occurredAt: isoTime(row.occurred_at),
  receivedAt: isoTime(row.received_at),
  ...present({
    fromStatus: row.from_status,
    gatewayTransactionId: row.gateway_transaction_id,
    externalReferenceId: row.external_reference_id,
    reference: row.reference,
    transactionId: row.transaction_id,
    correlationId: row.correlation_id,
    error: json<PaymentError>(row.error),
    raw: json<unknown>(row.raw),
    rawBytes: row.raw_bytes ?? null,
  }),
})

export const toRefund = (row: RefundRow): RefundRecord => ({
  id: row.id,
  amount: row.amount,
  reason: row.reason,
  status: row.status,
  createdAt: isoTime(row.created_at),
  updatedAt: isoTime(row.updated_at),
  ...present({
    gatewayRefundId: row.gateway_refund_id,
    askedBy: row.asked_by,
    correlationId: row.correlation_id,
    error: json<PaymentError>(row.error),
  }),
})

/** `deliveries`: those of all events of the payment. */
export const toStoredEvent = (
  row: OutboxRow & { was_given_up: 0 | 1 },
  deliveries: readonly DeliveryRow[],
): StoredEvent => ({
  id: row.id,
  type: row.type,
  payload: json<StoredEvent['payload']>(row.payload) as StoredEvent['payload'],
  createdAt: isoTime(row.created_at),
  ...present({ listenersDoneAt: row.was_given_up === 1 ? null : timeIn(row.done_at) }),
  deliveries: deliveries.filter((each) => each.outbox_id === row.id).map(toDelivery),
})

const toDelivery = (row: DeliveryRow): DeliveryRecord => ({
  id: row.id,
  endpoint: row.endpoint,
  status: row.status,
  attempts: row.attempts,
  ...present({
    lastStatus: row.last_status,
    lastError: row.last_error,
    nextAttemptAt: row.status === 'pending' ? isoTime(row.next_attempt_at) : null,
    deliveredAt: timeIn(row.delivered_at),
  }),
})

/** With columns of its payment. */
export type AuditedRow = AuditRow & {
  [Name in 'gateway' | 'reference' | 'currency']: string | null
}

export const toAct = (row: AuditedRow): AuditRecord => ({
  id: row.id,
  at: isoTime(row.at),
  action: row.action,
  subject: row.subject,
  ...present({
    transactionId: row.transaction_id,
    gateway: row.gateway,
    reference: row.reference,
    about: row.about,
    amount: row.amount,
    currency: row.amount === null ? null : row.currency,
    detail: row.detail,
  }),
})

export const toPause = ({ since, by }: { since: number; by: string }): PauseRecord => ({
  since: isoTime(since),
  by,
})

/** With columns of its payment and of its refund. */
export type BookedRow = MovementRow &
  Pick<TransactionRow, 'reference' | 'gateway_transaction_id'> &
  Pick<RefundRow, 'gateway_refund_id'>

export const toMovement = (row: BookedRow): Movement => ({
  id: row.id,
  kind: row.kind,
  transactionId: row.transaction_id,
  reference: row.reference,
  gateway: row.gateway,
  ...present({
    gatewayTransactionId: row.gateway_transaction_id,
    refundId: row.gateway_refund_id ?? row.refund_id,
  }),
  amount: majorText(row.amount, row.currency),
  amountMinor: row.amount,
  currency: row.currency,
  bookedAt: isoTime(row.booked_at),
  occurredAt: isoTime(row.occurred_at),
  ...(row.estimated === 1 && { estimated: true as const }),
})

/** Reads a row of a list: if one cannot be read, the others still are. */
export const listed =
  <Stored extends { id: string }, Item>(read: (row: Stored) => Item) =>
  (row: Stored): Listed<Item> => {
    try {
      return read(row)
    } catch (error) {
      const why = unreadableReason(error)
      return { id: row.id, code: 'unreadable', invalid: `The row cannot be read: ${why}.` }
    }
  }

type Present<Values> = { [Name in keyof Values]?: Exclude<Values[Name], null> }

/** The values that are not NULL; the other properties are left out. */
export function present<Values extends object>(values: Values): Present<Values> {
  const there: Partial<Record<keyof Values, unknown>> = {}
  for (const name in values) {
    if (values[name] !== null) there[name] = values[name]
  }
  return there as Present<Values>
}

export const json = <Value>(text: string | null): Value | null =>
  text === null ? null : (JSON.parse(text) as Value)

/** Why it cannot be read. The JSON parser quotes its input, which may be the payer's own data. */
export const unreadableReason = (error: unknown): string =>
  error instanceof SyntaxError ? 'a value is not JSON' : reasonOf(error)

/** Throws RangeError for an impossible time. */
export const isoTime = (ms: number): string => new Date(ms).toISOString()

const timeIn = (ms: number | null): string | null => (ms === null ? null : isoTime(ms))
