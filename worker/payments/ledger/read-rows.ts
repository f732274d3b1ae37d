// Reads rows of the payment tables into the types of the ports.

import { reasonOf } from '../../shared/log.ts'
import type { PendingEvent, ReadablePendingEvent } from '../domain/events.ts'
import type { DeliveryRow, OutboxRow } from '../domain/rows.ts'
import type { Listed, Metadata, Transaction } from '../domain/schemas.ts'
import type { PaymentStatus } from '../domain/status.ts'

/** Columns by name. A whole number past 2^53 is text, so that only code that reads it fails. */
export type Row = Readonly<Record<string, string | number | null>>

/** Of a row, or of a transaction in a stored payload. */
export function toTransaction(row: Row): Transaction {
  return {
    id: text(row.id),
    gateway: text(row.gateway),
    reference: text(row.reference),
    attempt: Number(row.attempt),
    externalReferenceId: text(row.external_reference_id),
    status: text(row.status) as PaymentStatus,
    amount: wholeOf(row, 'amount'),
    currency: text(row.currency),
    refundedAmount: wholeOf(row, 'refunded_amount'),
    createdAt: isoTime(row, 'created_at'),
    updatedAt: isoTime(row, 'updated_at'),
    ...present({
      gatewayTransactionId: row.gateway_transaction_id,
      description: row.description,
      redirectUrl: row.redirect_url,
      correlationId: row.correlation_id,
    }),
    ...presentJson<{ metadata: Metadata }>('metadata', row.metadata),
    ...presentJson<Pick<Transaction, 'error'>>('error', row.error),
    ...presentJson<Pick<Transaction, 'alert'>>('alert', row.alert),
    ...presentTime('expiresAt', row, 'expires_at'),
    ...presentTime('paidAt', row, 'paid_at'),
    ...presentPaid(row),
    ...(row.is_repeat === 1 && { isRepeat: true as const }),
  }
}

/** An event that is older than these columns has what was requested. */
function presentPaid(row: Row): Pick<Transaction, 'paid'> {
  if (row.paid_at == null) return {}
  const amount = wholeOf(row, row.paid_amount == null ? 'amount' : 'paid_amount')
  return { paid: { amount, currency: text(row.paid_currency ?? row.currency) } }
}

/** Reads a row of a list: if one cannot be read, the others still are. */
export const listed =
  <Item>(read: (row: Row) => Item) =>
  (row: Row): Listed<Item> =>
    readable(text(row.id), () => read(row))

/** The result of `read`, or why the row with this id cannot be read. */
export function readable<Item>(id: string, read: () => Item): Listed<Item> {
  try {
    return read()
  } catch (error) {
    return { id, code: 'unreadable', invalid: whyUnreadable(error) }
  }
}

/** The JSON parser quotes its input, which may be the payer's own data. */
function whyUnreadable(error: unknown): string {
  if (error instanceof SyntaxError) return 'The row cannot be read: a value is not JSON.'
  const why = error instanceof RangeError ? error.message : reasonOf(error)
  return `The row cannot be read: ${why}.`
}

/**
 * The parts of a stored event that are to be dispatched: to listeners, to the endpoint, or none. An
 * event that cannot be read is returned, too, so that it is given up.
 */
export function pendingEvent(
  outbox: OutboxRow,
  listeners: boolean,
  delivery: DeliveryRow | undefined,
): PendingEvent[] {
  if (!listeners && !delivery) return []
  const event = {
    outboxId: outbox.id,
    type: outbox.type,
    ...payloadIn(outbox),
    ...present({ correlationId: outbox.correlation_id }),
    createdAt: Number(outbox.created_at),
    ...(listeners && { listeners: { attempts: outbox.attempts } }),
    ...(delivery && {
      delivery: { id: delivery.id, endpoint: delivery.endpoint, attempts: delivery.attempts },
    }),
  }
  return [event]
}

function payloadIn({
  created_at,
  payload,
}: OutboxRow): { payload: ReadablePendingEvent['payload'] } | { invalid: string } {
  try {
    isoTime({ created_at }, 'created_at')
    return { payload: toPayload(payload ?? '') }
  } catch (error) {
    return { invalid: whyUnreadable(error) }
  }
}

/** A stored payload. That of PaymentInitiated has the request as well. */
export function toPayload(stored: string): ReadablePendingEvent['payload'] {
  const payload = JSON.parse(stored) as { transaction: Row }
  return { ...payload, transaction: toTransaction(payload.transaction) }
}

export const text = (value: Row[string] | undefined): string => String(value ?? '')

/** Throws RangeError for a value that cannot be an amount. */
export function wholeOf(row: Row, column: string): number {
  const whole = Number(row[column] ?? Number.NaN)
  if (Number.isSafeInteger(whole)) return whole
  throw new RangeError(`${column} is ${row[column] ?? 'missing'}, which is not an amount`)
}

/** Throws RangeError for an impossible time. */
export function isoTime(row: Row, column: string): string {
  const date = new Date(Number(row[column] ?? Number.NaN))
  if (!Number.isNaN(date.getTime())) return date.toISOString()
  throw new RangeError(`${column} is ${row[column] ?? 'missing'}, which is not a time`)
}

/** The texts that are not NULL; the other properties are left out. */
export function present<Name extends string>(
  values: Record<Name, Row[string] | undefined>,
): { [Key in Name]?: string } {
  const there: { [Key in Name]?: string } = {}
  for (const name in values) {
    const value = values[name]
    if (value !== null && value !== undefined) there[name] = String(value)
  }
  return there
}

export function presentTime<Name extends string>(
  name: Name,
  row: Row,
  column: string,
): { [Key in Name]?: string } {
  const time = row[column] == null ? null : isoTime(row, column)
  return present({ [name]: time } as Record<Name, string | null>)
}

export function presentJson<Holder>(
  name: keyof Holder & string,
  json: Row[string] | undefined,
): Partial<Holder> {
  return typeof json === 'string' ? ({ [name]: JSON.parse(json) } as Partial<Holder>) : {}
}
