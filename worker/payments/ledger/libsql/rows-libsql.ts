// Rows of the payment tables as what the ports speak of.

import type { PendingEvent, ReadablePendingEvent } from '../../domain/events.ts'
import type { PaymentStatus } from '../../domain/status.ts'
import type { Metadata, Transaction } from '../../domain/transaction.ts'
import { reasonOf } from '../../outbox/reason.ts'
import type { Listed } from '../../queries/queries.ts'
import type { Row } from './database-libsql.ts'

const TRANSACTION_COLUMNS = [
  'id',
  'gateway',
  'reference',
  'attempt',
  'gateway_transaction_id',
  'external_reference_id',
  'status',
  'amount',
  'currency',
  'refunded_amount',
  'description',
  'metadata',
  'redirect_url',
  'expires_at',
  'correlation_id',
  'error',
  'created_at',
  'updated_at',
  'paid_at',
  'paid_amount',
  'paid_currency',
] as const

/** The columns of a transaction, of the table's alias. */
export const transactionColumns = (alias: string): string =>
  TRANSACTION_COLUMNS.map((name) => `${alias}.${name}`).join(', ')

/** The same as one JSON text: a transaction as it is at this moment of its batch. */
export const transactionJson = (alias: string): string =>
  `json_object(${TRANSACTION_COLUMNS.map((name) => `'${name}', ${alias}.${name}`).join(', ')})`

/** Of a row with `transactionColumns`, or of a parsed `transactionJson`. */
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
    ...presentTime('expiresAt', row, 'expires_at'),
    ...presentTime('paidAt', row, 'paid_at'),
    ...presentPaid(row),
  }
}

/** An event that was stored before these columns were tells of a payment as it was asked for. */
function presentPaid(row: Row): Pick<Transaction, 'paid'> {
  if (row.paid_at == null) return {}
  const amount = wholeOf(row, row.paid_amount == null ? 'amount' : 'paid_amount')
  return { paid: { amount, currency: text(row.paid_currency ?? row.currency) } }
}

/** Reads a row of a list: one that cannot be read must not take the others with it. */
export const listed =
  <Item>(read: (row: Row) => Item) =>
  (row: Row): Listed<Item> => {
    try {
      return read(row)
    } catch (error) {
      return { id: text(row.id), code: 'unreadable', invalid: whyUnreadable(error) }
    }
  }

/** The JSON parser quotes what it read, and that may be the payer's own. */
function whyUnreadable(error: unknown): string {
  if (error instanceof SyntaxError) return 'The row cannot be read: it holds what is no JSON.'
  const why = error instanceof RangeError ? error.message : reasonOf(error)
  return `The row cannot be read: ${why}.`
}

/** Of an outbox row `o` and its delivery `d`. `doneAt`: when the listeners were through with it. */
export const untoldColumns = (doneAt: string): string => `o.id AS outbox_id, o.type, o.payload,
  o.correlation_id AS told_correlation_id, o.created_at AS told_created_at,
  o.attempts AS listener_attempts, ${doneAt} AS done_at,
  d.id AS delivery_id, d.endpoint, d.attempts AS delivery_attempts`

export const UNTOLD_COLUMNS = untoldColumns('o.done_at')

export const UNTOLD_DELIVERY = `LEFT JOIN payment_deliveries d
  ON d.outbox_id = o.id AND d.status = 'pending'`

/** One, or none when the row holds no event, or one that everybody has. */
export function toPending(row: Row | undefined): PendingEvent[] {
  if (typeof row?.outbox_id !== 'string') return []
  const { delivery_id: deliveryId, endpoint } = row
  const hasDelivery = typeof deliveryId === 'string'
  if (row.done_at !== null && !hasDelivery) return []
  const event = {
    outboxId: row.outbox_id,
    type: text(row.type) as PendingEvent['type'],
    ...toldIn(row),
    ...present({ correlationId: row.told_correlation_id }),
    createdAt: Number(row.told_created_at),
    ...(row.done_at === null && { listeners: { attempts: Number(row.listener_attempts) } }),
    ...(hasDelivery && {
      delivery: {
        id: deliveryId,
        endpoint: text(endpoint),
        attempts: Number(row.delivery_attempts),
      },
    }),
  }
  return [event]
}

/** An event that cannot be read is handed out all the same, so that it is given up. */
function toldIn(row: Row): { payload: ReadablePendingEvent['payload'] } | { invalid: string } {
  try {
    isoTime(row, 'told_created_at')
    return { payload: toPayload(text(row.payload)) }
  } catch (error) {
    return { invalid: whyUnreadable(error) }
  }
}

/** A stored payload: PaymentInitiated's holds the request as well. */
export function toPayload(stored: string): ReadablePendingEvent['payload'] {
  const payload = JSON.parse(stored) as { transaction: Row }
  return { ...payload, transaction: toTransaction(payload.transaction) }
}

export const text = (value: Row[string] | undefined): string => String(value ?? '')

/** Throws RangeError for what no amount can be. */
export function wholeOf(row: Row, column: string): number {
  const whole = Number(row[column] ?? Number.NaN)
  if (Number.isSafeInteger(whole)) return whole
  throw new RangeError(`${column} is ${row[column] ?? 'missing'}, which is no amount`)
}

/** Throws RangeError for what no date can have. */
export function isoTime(row: Row, column: string): string {
  const date = new Date(Number(row[column] ?? Number.NaN))
  if (!Number.isNaN(date.getTime())) return date.toISOString()
  throw new RangeError(`${column} is ${row[column] ?? 'missing'}, which is no time`)
}

/** The texts that are there; NULL leaves its property out. */
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
