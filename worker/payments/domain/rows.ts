// The tables of payments, each once: see schema.sql for what each column means. Times are ms,
// amounts minor units. From here follow the types of their rows, what is read and written of them,
// what a new row has where nothing is given, and what the API and the events show of it. Pure.

import { reasonOf } from '../../shared/log.ts'
import type { PaymentError } from './exceptions.ts'
import type {
  Action,
  AlertKind,
  CheckStatus,
  DurableEvent,
  MovementKind,
  Outcome,
  PaymentStatus,
} from './status.ts'
import { isoTime } from './time.ts'
import type {
  AlertDetail,
  Metadata,
  OpenAlert,
  RaisedAlert,
  SettledAlert,
  Transaction,
} from './types.ts'

/** The number of this schema: that of schema.sql, and the highest in migrations/. */
export const SCHEMA_VERSION = 7

const text = plain<string>()
const hidden = inner<string>()
const whole = plain<number>()
const hiddenWhole = inner<number>()
const flag = inner<0 | 1>()

export const TRANSACTIONS = table('payment_transactions', {
  id: text,
  gateway: text,
  reference: text,
  attempt: whole,
  gateway_transaction_id: text.orNull(),
  external_reference_id: hidden.orNull(),
  idempotency_key: hidden.orNull(),
  request_hash: hidden.orNull(),
  status: plain<PaymentStatus>(),
  amount: whole,
  currency: text,
  refunded_amount: whole,
  refund_revision: whole,
  refunds_read_at: hiddenWhole.orNull(),
  description: text.orNull(),
  metadata: asJson<Metadata>().orNull(),
  request: hidden.orNull(),
  redirect_url: text.orNull(),
  charge_answer: hidden.orNull(),
  expires_at: time().orNull(),
  called_by: hidden.orNull(),
  called_until: hiddenWhole.orNull(),
  next_check_at: hiddenWhole.orNull(),
  correlation_id: text.orNull(),
  error: asJson<PaymentError>().orNull(),
  created_at: time(),
  updated_at: time(),
  paid_at: time().orNull(),
  paid_amount: hiddenWhole.orNull(),
  paid_currency: hidden.orNull(),
  is_repeat: flag,
  unreadable_event: hidden.orNull(),
  alert: asJson<OpenAlert>().orNull(),
  installation: hidden.orNull(),
  last_check_at: hiddenWhole.orNull(),
  last_check_status: inner<CheckStatus>().orNull(),
})
export type TransactionRow = RowOf<typeof TRANSACTIONS>

export const CHARGE_KEYS = table('payment_charge_keys', {
  id: hidden,
  gateway: hidden,
  idempotency_key: hidden,
  transaction_id: hidden,
})
export type ChargeKeyRow = RowOf<typeof CHARGE_KEYS>

export const WEBHOOK_EVENTS = table('payment_webhook_events', {
  id: text,
  gateway: text,
  event_id: text,
  gateway_transaction_id: text.orNull(),
  external_reference_id: text.orNull(),
  reference: text.orNull(),
  transaction_id: text.orNull(),
  from_status: plain<PaymentStatus>().orNull(),
  to_status: plain<PaymentStatus>(),
  amount: whole,
  currency: text,
  on_mismatch: inner<'log' | 'reject'>(),
  mismatch: flag,
  outcome: plain<Outcome>(),
  alert: inner<'refund_failed' | 'dispute'>().orNull(),
  error: asJson<PaymentError>().orNull(),
  /** A RefundSet. */
  refunds: hidden.orNull(),
  paid_amount: hiddenWhole.orNull(),
  /** A DisputeSet. */
  disputes: hidden.orNull(),
  raw: asJson<unknown>().orNull(),
  correlation_id: text.orNull(),
  occurred_at: time(),
  received_at: time(),
})
export type WebhookEventRow = RowOf<typeof WEBHOOK_EVENTS>

export const REFUNDS = table('payment_refunds', {
  id: text,
  transaction_id: hidden,
  amount: whole,
  reason: text,
  status: plain<'claimed' | 'accepted' | 'succeeded' | 'failed'>(),
  gateway_refund_id: text.orNull(),
  idempotency_key: hidden.orNull(),
  request_hash: hidden.orNull(),
  asked_by: text.orNull(),
  correlation_id: text.orNull(),
  error: asJson<PaymentError>().orNull(),
  created_at: time(),
  updated_at: time(),
})
export type RefundRow = RowOf<typeof REFUNDS>

export const DISPUTES = table('payment_disputes', {
  id: hidden,
  transaction_id: hidden,
  dispute: hidden,
  part: hidden.orNull(),
  amount: hiddenWhole,
  currency: hidden,
  out_amount: hiddenWhole,
  is_inquiry: flag,
  outcome: hidden.orNull(),
  ended_at: hiddenWhole.orNull(),
  read_at: hiddenWhole,
  created_at: hiddenWhole,
  updated_at: hiddenWhole,
})
export type DisputeRow = RowOf<typeof DISPUTES>

export const OUTBOX = table('payment_outbox', {
  id: text,
  transaction_id: hidden,
  type: plain<DurableEvent>(),
  payload: hidden.orNull(),
  correlation_id: hidden.orNull(),
  created_at: time(),
  leased_until: hiddenWhole.orNull(),
  attempts: hiddenWhole,
  next_attempt_at: hiddenWhole,
  done_at: hiddenWhole.orNull(),
})
export type OutboxRow = RowOf<typeof OUTBOX>

export const DELIVERIES = table('payment_deliveries', {
  id: text,
  outbox_id: hidden,
  endpoint: text,
  status: plain<'pending' | 'delivered' | 'dead'>(),
  attempts: whole,
  leased_until: hiddenWhole.orNull(),
  next_attempt_at: hiddenWhole,
  last_status: whole.orNull(),
  last_error: text.orNull(),
  created_at: hiddenWhole,
  delivered_at: time().orNull(),
})
export type DeliveryRow = RowOf<typeof DELIVERIES>

export const ALERTS = table('payment_alerts', {
  id: text,
  kind: plain<AlertKind>(),
  subject: hidden,
  gateway: text,
  transaction_id: hidden.orNull(),
  detail: hidden.orNull(),
  created_at: time(),
  acknowledged_at: time().orNull(),
  acknowledged_by: hidden.orNull(),
  gateway_reference: hidden.orNull(),
})
export type AlertRow = RowOf<typeof ALERTS>

export const AUDIT = table('payment_audit', {
  id: text,
  at: time(),
  action: plain<Action>(),
  subject: text,
  transaction_id: text.orNull(),
  about: text.orNull(),
  amount: whole.orNull(),
  detail: text.orNull(),
})
export type AuditRow = RowOf<typeof AUDIT>

export const MOVEMENTS = table('payment_movements', {
  id: text,
  kind: plain<MovementKind>(),
  transaction_id: text,
  gateway: text,
  refund_id: hidden.orNull(),
  amount: hiddenWhole,
  currency: text,
  booked_at: time(),
  occurred_at: time(),
  estimated: flag,
})
export type MovementRow = RowOf<typeof MOVEMENTS>

export const NOTES = table('payment_notes', {
  id: text,
  transaction_id: hidden,
  text,
  by: text,
  created_at: time(),
})
export type NoteRow = RowOf<typeof NOTES>

/** Written in this order, so that a row comes after those that it refers to. */
export const TABLES = {
  transactions: TRANSACTIONS,
  chargeKeys: CHARGE_KEYS,
  webhookEvents: WEBHOOK_EVENTS,
  refunds: REFUNDS,
  disputes: DISPUTES,
  outbox: OUTBOX,
  deliveries: DELIVERIES,
  alerts: ALERTS,
  /** The rest is never loaded: no decision looks back at it. */
  audit: AUDIT,
  movements: MOVEMENTS,
  notes: NOTES,
} as const satisfies Record<keyof Rows, unknown>

export interface Rows {
  transactions: TransactionRow[]
  chargeKeys: ChargeKeyRow[]
  webhookEvents: WebhookEventRow[]
  refunds: RefundRow[]
  disputes: DisputeRow[]
  outbox: OutboxRow[]
  deliveries: DeliveryRow[]
  alerts: AlertRow[]
  audit: AuditRow[]
  movements: MovementRow[]
  notes: NoteRow[]
}

export type TableName = keyof Rows
export type TableRow = Rows[TableName][number]
export const TABLE_NAMES = Object.keys(TABLES) as readonly TableName[]

/** As the API, the events and the host application see it; so is `toAlert`. */
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

export function toAlert(row: AlertRow): RaisedAlert | SettledAlert {
  const { acknowledgedAt, ...raised } = {
    ...ALERTS.show(row),
    transactionId: row.transaction_id ?? '',
    detail: json<AlertDetail>(row.detail) ?? {},
  }
  if (acknowledgedAt === undefined) return raised
  const { acknowledged_by, gateway_reference: gatewayReference } = row
  const acknowledged = { acknowledgedAt, acknowledgedBy: acknowledged_by ?? '' }
  return { ...raised, ...acknowledged, ...present({ gatewayReference }) }
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

/** `Shown`: what the API has of it, under the column's name in camel case; never: nothing. */
interface Column<Value, Shown = never> {
  /** The value, as it is read and written. Only its type is of use. */
  readonly value?: Value
  readonly isNullable: boolean
  readonly show: ((value: never) => Shown) | undefined
  /** NULL is stored where nothing is given, and is not shown. */
  orNull(): Column<Value | null, Shown>
}

function column<Value, Shown>(
  show: ((value: never) => Shown) | undefined,
  isNullable = false,
): Column<Value, Shown> {
  return { isNullable, show, orNull: () => column<Value | null, Shown>(show, true) }
}

/** Is not shown, or not as it is. */
function inner<Value extends string | number>() {
  return column<Value, never>(undefined)
}

/** Is shown as it is. */
function plain<Value extends string | number>() {
  return column<Value, Value>((value: Value) => value)
}

/** In ms; shown in ISO 8601. */
function time() {
  return column<number, string>(isoTime)
}

/** A text, which stays text in its row: one whose JSON is broken fails only what reads it. */
function asJson<Value>() {
  return column<string, Value>((text: string) => JSON.parse(text) as Value)
}

type Columns = Readonly<Record<string, Column<unknown, unknown>>>

type Row<Of> = { [Name in keyof Of]: Of[Name] extends Column<infer Value, unknown> ? Value : never }
type RowOf<Of extends { columns: Columns }> = Row<Of['columns']>

type Nullable<Of> = {
  [Name in keyof Of]: null extends Row<Of>[Name] ? Name : never
}[keyof Of]
/** A new row: what may be NULL may be left out. */
type Given<Of> = Omit<Row<Of>, Nullable<Of>> & Partial<Row<Of>>

type Camel<Name> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name
type ShownNames<Of> = {
  [Name in keyof Of]: Of[Name] extends Column<unknown, infer Shown>
    ? [Shown] extends [never]
      ? never
      : Name
    : never
}[keyof Of]
type ShownValue<Of> = Of extends Column<unknown, infer Shown> ? Shown : never
type Shown<Of> = {
  [Name in Exclude<ShownNames<Of>, Nullable<Of>> as Camel<Name>]: ShownValue<Of[Name]>
} & {
  [Name in Extract<ShownNames<Of>, Nullable<Of>> as Camel<Name>]?: ShownValue<Of[Name]>
}

/** `name`: the table's own, in the database. */
function table<const Of extends Columns>(name: string, columns: Of) {
  const names = Object.keys(columns) as (keyof Of & string)[]
  // Read from JSON, since the runtime gives such an object a shape, which all of its copies share.
  // Made key by key, one of so many columns would be a dictionary, and its copies twice as slow.
  const empty = JSON.parse(`{${names.map((column) => `"${column}":null`).join()}}`) as Row<Of>
  const shown = Object.entries(columns).flatMap(([column, { show }]) => {
    const as = column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    return show ? [{ column, as, show: show as (value: unknown) => unknown }] : []
  })
  return {
    name,
    columns,
    names: names as readonly (keyof Of & string)[],
    row: (given: Given<Of>): Row<Of> => ({ ...empty, ...given }),
    /** `values`: of all columns, in their order. */
    rowOf(values: readonly unknown[]): Row<Of> {
      const row: Record<string, unknown> = { ...empty }
      for (const [at, column] of names.entries()) row[column] = values[at]
      return row as Row<Of>
    },
    /** Throws for what no code writes: a time that no date has, a text that is not JSON. */
    show(row: Row<Of>): Shown<Of> {
      const values = row as Readonly<Record<string, unknown>>
      const out: Record<string, unknown> = {}
      for (const { column, as, show } of shown) {
        const value = values[column]
        if (value !== null) out[as] = show(value)
      }
      return out as Shown<Of>
    },
  }
}
