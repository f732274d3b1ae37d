// The story of a payment: its rows, and the timeline of them. Pure. The edge may have been unable
// to read a row.

import type {
  Alert,
  AuditRecord,
  Delivery,
  Note,
  Refund,
  StoredEvent,
  Transaction,
  TransactionStory,
  Unreadable,
  WebhookEvent,
} from '../../libraries/api/types.ts'
import { money } from './format.ts'

export const isUnreadable = <Row extends object>(row: Row | Unreadable): row is Unreadable =>
  'invalid' in row

export const isReadable = <Row extends object>(row: Row | Unreadable): row is Row =>
  !isUnreadable(row)

export type Story = ReturnType<typeof storyOf>

/** A story with readable rows only, and the unreadable ones apart. */
export function storyOf(answer: TransactionStory) {
  const { isStranded, can, check, ...parts } = answer
  const { webhookEvents, refunds, events, alerts, audit, notes, ...row } = parts
  const transaction: Transaction | Unreadable = row
  return {
    /** The payment is open but cannot be paid. */
    isStranded,
    /** What may be asked for of it now. */
    can,
    /** When the gateway was last asked, what it said, and when it is asked next. */
    check,
    /** Undefined: the row of the payment itself is unreadable, and `invalid` says why. */
    transaction: isReadable(transaction) ? transaction : undefined,
    invalid: isUnreadable(transaction) ? transaction.invalid : undefined,
    webhookEvents: webhookEvents.filter(isReadable),
    refunds: refunds.filter(isReadable),
    events: events.filter(isReadable),
    alerts: alerts.filter(isReadable),
    audit: audit.filter(isReadable),
    notes: notes.filter(isReadable),
    /** The unreadable rows, without that of the payment. Their times are unknown. */
    unreadable: [webhookEvents, refunds, events, alerts, audit, notes].flat().filter(isUnreadable),
  }
}

/** `at`: ISO 8601. `events`: those for the shop that followed from it. */
export type Entry = { key: string; at: string; events: StoredEvent[] } & (
  | { kind: 'initiated'; transaction: Transaction; by: string | undefined }
  | { kind: 'refused'; error: NonNullable<Transaction['error']> }
  | { kind: 'webhook'; event: WebhookEvent }
  | { kind: 'refund'; refund: Refund; currency: string; by: string | undefined }
  | { kind: 'alert'; alert: Alert }
  | { kind: 'act'; act: Act }
  | { kind: 'note'; note: Note }
  /** What it was about cannot be read. */
  | { kind: 'unknown' }
)
type Cause = Entry extends infer Of ? (Of extends Entry ? Omit<Of, 'events'> : never) : never

/** Entries of the same time: causes come before effects. */
const ORDER: readonly Entry['kind'][] = [
  'initiated',
  'act',
  'refund',
  'refused',
  'webhook',
  'alert',
  'note',
]

/** Entries of their own kinds name who asked for the first four; the last are of no payment. */
const ELSEWHERE = ['refund', 'late_refund', 'acknowledge', 'note', 'pause', 'resume'] as const

/** An entry of its own. */
export type Act = AuditRecord & {
  action: Exclude<AuditRecord['action'], (typeof ELSEWHERE)[number]>
}

const isAct = (record: AuditRecord): record is Act =>
  !ELSEWHERE.some((action) => action === record.action)

/** What the payer and the money did, the oldest first. */
export function timeline(story: Story): Entry[] {
  const { transaction, webhookEvents, refunds, alerts, notes, audit } = story
  const first = audit.find(({ action }) => action === 'charge')
  // Its entry names who asked.
  const acts = audit.filter((act) => act !== first).filter(isAct)
  const causes: Cause[] = [
    ...webhookEvents.map((event) => {
      return { key: event.id, at: event.receivedAt, kind: 'webhook', event } as const
    }),
    ...alerts.map((alert) => {
      return { key: alert.id, at: alert.createdAt, kind: 'alert', alert } as const
    }),
    ...acts.map((act) => ({ key: `act ${act.id}`, at: act.at, kind: 'act', act }) as const),
    ...notes.map((note) => ({ key: note.id, at: note.createdAt, kind: 'note', note }) as const),
  ]
  // Only the row of the payment has the currency.
  const { currency } = transaction?.paid ?? transaction ?? { currency: '' }
  for (const refund of refunds) {
    const by = audit.find(({ about }) => about === refund.id)?.subject
    causes.push({ key: refund.id, at: refund.createdAt, kind: 'refund', refund, currency, by })
  }
  if (transaction) {
    const { createdAt: at } = transaction
    causes.push({ key: 'initiated', at, kind: 'initiated', transaction, by: first?.subject })
    causes.push(...refusal(transaction, story))
  }
  causes.sort((a, b) => Date.parse(a.at) - Date.parse(b.at) || rankOf(a) - rankOf(b))
  return withEvents(causes, story.events)
}

const rankOf = ({ kind }: Cause): number => ORDER.indexOf(kind)

/** Each event follows from the last that had happened by then. */
function withEvents(causes: readonly Cause[], events: readonly StoredEvent[]): Entry[] {
  const entries = causes.map((cause): Entry => ({ ...cause, events: [] }))
  for (const event of events) {
    const isBefore = ({ at }: Entry) => Date.parse(at) <= Date.parse(event.createdAt)
    const about = entries.findLast(isBefore) ?? entries[0]
    if (about) about.events.push(event)
    else entries.push({ key: 'unknown', at: event.createdAt, kind: 'unknown', events: [event] })
  }
  return entries
}

/** The gateway refused the charge at once. There is no webhook for this. */
function refusal({ error, updatedAt }: Transaction, { webhookEvents, events }: Story): Cause[] {
  const isInWebhook = webhookEvents.some((event) => event.error && event.outcome === 'applied')
  if (!error || isInWebhook) return []
  const failed = events.find(({ type }) => type === 'PaymentFailed')
  return [{ key: 'refused', at: failed?.createdAt ?? updatedAt, kind: 'refused', error }]
}

/** How far events are delivered: to the shop's endpoint, and to listeners in process. */
export type Delivered =
  | { state: Delivery['status']; lastStatus?: number }
  | { state: 'to_shop' | 'to_listeners'; at: string }
  | { state: 'to_nobody' }

export function deliveredOf(events: readonly StoredEvent[]): Delivered {
  const deliveries = events.flatMap((event) => event.deliveries)
  const open = deliveries.find(({ status }) => status !== 'delivered')
  if (open || events.some(({ listenersDoneAt }) => listenersDoneAt === undefined)) {
    const { status: state = 'pending', lastStatus } = open ?? {}
    return { state, ...(lastStatus !== undefined && { lastStatus }) }
  }
  // Where nobody listens, it is done as it is stored.
  const listened = events.filter(({ listenersDoneAt, createdAt }) => listenersDoneAt !== createdAt)
  const times = [
    ...deliveries.map(({ deliveredAt = '' }) => deliveredAt),
    ...listened.map(({ listenersDoneAt = '' }) => listenersDoneAt),
  ]
  const at = times.sort().at(-1)
  if (at === undefined) return { state: 'to_nobody' }
  return { state: deliveries.length > 0 ? 'to_shop' : 'to_listeners', at }
}

/** Both sums of an event about another refunded amount. */
export function refundChange({ payload }: StoredEvent): string | undefined {
  if (!('previousRefundedAmount' in payload)) return undefined
  const { previousRefundedAmount: before, transaction } = payload
  const { currency } = transaction.paid ?? transaction
  const refunded = money(transaction.refundedAmount, currency)
  return `Refunded: ${refunded}, before ${money(before, currency)}.`
}
