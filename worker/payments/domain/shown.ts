// Rows as the API, the events and the host application see them. Pure. Throws for what no code
// writes: a time that no date has, a text that is not JSON.

import { reasonOf } from '../../shared/log.ts'
import { majorText } from './money.ts'
import {
  ALERTS,
  type AlertRow,
  AUDIT,
  type AuditRow,
  DELIVERIES,
  type DeliveryRow,
  MOVEMENTS,
  type MovementRow,
  OUTBOX,
  type OutboxRow,
  REFUNDS,
  type RefundRow,
  TRANSACTIONS,
  type TransactionRow,
  WEBHOOK_EVENTS,
  type WebhookEventRow,
} from './rows.ts'
import { isoTime, isTime } from './time.ts'
import type {
  AlertDetail,
  AuditRecord,
  CheckTimes,
  DeliveryRecord,
  EventRecord,
  Listed,
  Movement,
  PauseRecord,
  RaisedAlert,
  RefundRecord,
  SettledAlert,
  StoredEvent,
  Transaction,
} from './types.ts'

export function toTransaction(row: TransactionRow): Transaction {
  const { paid_at, paid_amount: amount, paid_currency: currency } = row
  const isPaid = paid_at !== null && amount !== null && currency !== null
  return {
    ...TRANSACTIONS.show(row),
    externalReferenceId: row.external_reference_id ?? '',
    ...(isPaid && { paid: { amount, currency } }),
    ...(row.is_repeat === 1 && { isRepeat: true as const }),
  }
}

/** A time that no date has is left out: the rest of the payment is shown. */
export function toCheck(row: TransactionRow): CheckTimes {
  const { last_check_at: last, last_check_status: lastStatus, next_check_at: next } = row
  const possible = (ms: number | null) => (ms !== null && isTime(ms) ? isoTime(ms) : null)
  return present({ lastAt: possible(last), lastStatus, nextAt: possible(next) })
}

export function toAlert(row: AlertRow): RaisedAlert | SettledAlert {
  const { acknowledgedAt, ...raised } = {
    ...ALERTS.show(row),
    transactionId: row.transaction_id ?? '',
    detail: json<AlertDetail>(row.detail) ?? {},
  }
  if (acknowledgedAt === undefined) return raised
  return {
    ...raised,
    acknowledgedAt,
    acknowledgedBy: row.acknowledged_by ?? '',
    ...present({ gatewayReference: row.gateway_reference }),
  }
}

/** `raw_bytes`: of what the gateway sent, where that was left out. */
export type ReadEventRow = WebhookEventRow & { raw_bytes?: number | null }

export const toEventRecord = (row: ReadEventRow): EventRecord => ({
  ...WEBHOOK_EVENTS.show(row),
  isMismatch: row.mismatch === 1,
  ...present({ rawBytes: row.raw_bytes ?? null }),
})

export const toRefund = (row: RefundRow): RefundRecord => REFUNDS.show(row)

/** `deliveries`: those of all events of the payment. */
export const toStoredEvent = (
  row: OutboxRow & { was_given_up: 0 | 1 },
  deliveries: readonly DeliveryRow[],
): StoredEvent => ({
  ...OUTBOX.show(row),
  payload: json<StoredEvent['payload']>(row.payload) as StoredEvent['payload'],
  ...present({ listenersDoneAt: row.was_given_up === 1 ? null : timeIn(row.done_at) }),
  deliveries: deliveries.filter((each) => each.outbox_id === row.id).map(toDelivery),
})

const toDelivery = (row: DeliveryRow): DeliveryRecord => ({
  ...DELIVERIES.show(row),
  ...(row.status === 'pending' && { nextAttemptAt: isoTime(row.next_attempt_at) }),
})

/** With columns of its payment. */
export type AuditedRow = AuditRow & {
  [Name in 'gateway' | 'reference' | 'currency']: string | null
}

export const toAct = (row: AuditedRow): AuditRecord => ({
  ...AUDIT.show(row),
  ...present({
    gateway: row.gateway,
    reference: row.reference,
    currency: row.amount === null ? null : row.currency,
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
  ...MOVEMENTS.show(row),
  reference: row.reference,
  ...present({
    gatewayTransactionId: row.gateway_transaction_id,
    refundId: row.gateway_refund_id ?? row.refund_id,
  }),
  amount: majorText(row.amount, row.currency),
  amountMinor: row.amount,
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

const timeIn = (ms: number | null): string | null => (ms === null ? null : isoTime(ms))
