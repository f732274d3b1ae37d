// One entry of the timeline: what the payer or the money did, or somebody here. The events for the
// shop that followed from it are one fold, with their deliveries.

import type { ComponentChildren } from 'preact'
import { useMemo, useRef, useState } from 'preact/hooks'
import type {
  Alert,
  Delivery,
  PaymentStatus,
  Refund,
  StoredEvent,
  Transaction,
  WebhookEvent,
} from '../../libraries/api/types.ts'
import { request } from '../data/http.ts'
import { ActionButton } from '../ui/action-button.tsx'
import { count, dateOf, number, quote } from '../ui/format.ts'
import { now, Time, timeAt } from '../ui/time.tsx'
import { Redeliver } from './actions.tsx'
import { alertText } from './attention.ts'
import { AcknowledgedBy, AlertSentence } from './attention-list.tsx'
import { flashOf, GatewayError, Ids, Money } from './elements.tsx'
import { STATUSES } from './format.ts'
import { type Act, type Delivered, deliveredOf, type Entry, refundChange } from './story.ts'

interface TimelineEntryProps {
  entry: Entry
  /** The entry appeared while the story was open. */
  isNew: boolean
}

/** Rendered again only when its content changes. */
export function TimelineEntry({ entry, isNew }: TimelineEntryProps) {
  const text = JSON.stringify(entry)
  const changes = useChanges(text, isNew)
  return useMemo(() => {
    const cause =
      entry.kind === 'webhook' ? `by-webhook ${entry.event.outcome}` : `by-${entry.kind}`
    return (
      <li class={`entry ${cause} ${flashOf(changes)}`}>
        <div class="entry-at hint">
          <Time at={entry.at} />
        </div>
        <div class="entry-body">
          {bodyOf(entry)}
          {entry.events.length > 0 && <ForTheShop events={entry.events} />}
        </div>
      </li>
    )
  }, [text, changes])
}

/** How often the entry has appeared or changed while the story was open. */
function useChanges(text: string, isNew: boolean): number {
  const seen = useRef({ text, changes: isNew ? 1 : 0 })
  if (seen.current.text !== text) seen.current = { text, changes: seen.current.changes + 1 }
  return seen.current.changes
}

function bodyOf(entry: Entry): ComponentChildren {
  switch (entry.kind) {
    case 'initiated':
      return <Initiated transaction={entry.transaction} by={entry.by} />
    case 'refused':
      return (
        <>
          <h3>The gateway refused the charge</h3>
          <GatewayError error={entry.error} />
        </>
      )
    case 'webhook':
      return <WebhookEntry event={entry.event} />
    case 'refund':
      return <RefundEntry refund={entry.refund} currency={entry.currency} by={entry.by} />
    case 'alert':
      return <AlertEntry alert={entry.alert} />
    case 'act':
      return <ActEntry act={entry.act} />
    case 'note':
      return (
        <>
          <h3>Note</h3>
          <p class="note" dir="auto">
            {entry.note.text}
          </p>
          <p class="hint">by {entry.note.by}</p>
        </>
      )
    case 'unknown':
      return <h3>An entry that cannot be read</h3>
  }
}

interface AskedFor {
  /** The subject that asked for it. */
  by: string | undefined
}

function Initiated({ transaction, by }: { transaction: Transaction } & AskedFor) {
  const { amount, currency, gateway, description } = transaction
  return (
    <>
      <h3>
        Charge of <Money amount={amount} currency={currency} />
      </h3>
      <p class="hint">{[gateway, description, by && `by ${by}`].filter(Boolean).join(' · ')}</p>
    </>
  )
}

/** What has happened, where the payment has this status since. */
const HAPPENED: Readonly<Record<PaymentStatus, string>> = {
  Pending: 'Charged',
  Paid: 'Paid',
  Failed: 'Not paid: it failed',
  Cancelled: 'Not paid: cancelled',
  Expired: 'Not paid: expired',
  Refunded: 'Refunded',
  PartiallyRefunded: 'Partly refunded',
}

const OUTCOMES: Readonly<Record<WebhookEvent['outcome'], string>> = {
  applied: '',
  unchanged: 'Nothing new',
  parked: 'Parked until its payment appears',
  illegal: 'Ignored: not possible from the current status',
  rejected: 'Rejected: different amount or currency',
  late_payment: 'Too late: the status stays',
}

/** Clocks differ, and a webhook takes some time: a smaller delay is not shown. */
const MIN_DELAY_MS = 60_000

function WebhookEntry({ event }: { event: WebhookEvent }) {
  const { gateway, outcome, toStatus, isMismatch, error, eventId, correlationId } = event
  const occurredAt = Date.parse(event.occurredAt)
  const isDelayed = Math.abs(Date.parse(event.receivedAt) - occurredAt) >= MIN_DELAY_MS
  const isNews = outcome === 'applied' && event.fromStatus !== undefined
  const what = isNews ? HAPPENED[toStatus] : `${gateway} reports: ${STATUSES[toStatus]}`
  return (
    <>
      <h3>
        {what} <Money amount={event.amount} currency={event.currency} />
        {isMismatch && (
          <span class="mismatch">
            {toStatus === 'Paid'
              ? 'not the requested amount'
              : 'not the amount that was paid or refunded'}
          </span>
        )}
      </h3>
      <p class="hint">
        {OUTCOMES[outcome] && <span class={`state ${outcome}`}>{OUTCOMES[outcome]} · </span>}
        {/* The answer to a check of ours is stored as an event, too. */}
        {eventId.startsWith('recheck:') ? `${gateway} was asked` : `by ${gateway}’s webhook`}
        {isDelayed && ` · happened ${dateOf(occurredAt)}`}
      </p>
      {error && <GatewayError error={error} />}
      <details>
        <summary>What {gateway} sent</summary>
        <Ids
          of={[
            ['Event', eventId],
            ['Correlation id', correlationId],
          ]}
        />
        <GatewayData event={event} />
      </details>
    </>
  )
}

/** Its secrets are masked. In a large story the edge leaves it out, and it is read by itself. */
function GatewayData({ event }: { event: WebhookEvent }) {
  const [read, setRead] = useState<unknown>()
  const { id, eventId, rawBytes, raw = read } = event
  if (raw !== undefined) return <pre>{JSON.stringify(raw, undefined, 2)}</pre>
  if (rawBytes === undefined) return null
  const readIt = async () => {
    const path = `/api/payments/webhook-events/${encodeURIComponent(id)}`
    setRead((await request<WebhookEvent>(path)).raw)
  }
  return (
    <ActionButton label={`Show the data of the gateway: ${eventId}`} act={readIt}>
      Show the data of the gateway ({number(Math.ceil((rawBytes ?? 0) / 1_024))} KiB)
    </ActionButton>
  )
}

const REFUNDS: Readonly<Record<Refund['status'], string>> = {
  claimed: 'in progress',
  accepted: 'accepted, not refunded yet',
  succeeded: 'refunded',
  failed: 'failed',
}

function RefundEntry({ refund, currency, by }: { refund: Refund; currency: string } & AskedFor) {
  const { amount, status, reason, error, updatedAt, createdAt, correlationId } = refund
  return (
    <>
      <h3>
        Refund of <Money amount={amount} currency={currency} />
      </h3>
      <p>
        <span class={`state ${status}`}>{REFUNDS[status]}</span> {reason && quote(reason)}
      </p>
      {by && <p class="hint">by {by}</p>}
      {error && <GatewayError error={error} />}
      {updatedAt !== createdAt && <p class="hint">last change {timeAt(updatedAt)}</p>}
      {correlationId && <Ids of={[['Correlation id', correlationId]]} />}
    </>
  )
}

/** When the shop has taken all of it; else why it has not. */
function deliveredText(delivered: Delivered): string {
  switch (delivered.state) {
    case 'to_shop':
      return `Told the shop ${timeAt(delivered.at)}`
    case 'to_listeners':
      return `Passed to listeners ${timeAt(delivered.at)}`
    case 'to_nobody':
      return 'No endpoint and no listener for it'
    default: {
      const { lastStatus } = delivered
      return `Not told the shop yet${lastStatus === undefined ? '' : `: it answered ${lastStatus}`}`
    }
  }
}

function ForTheShop({ events }: { events: readonly StoredEvent[] }) {
  const delivered = deliveredOf(events)
  const { state } = delivered
  return (
    <details class="told">
      <summary class={state.startsWith('to_') ? undefined : `state ${state}`}>
        {deliveredText(delivered)}
      </summary>
      <ul class="deliveries stack">
        {events.map((event) => (
          <EventItem key={event.id} event={event} />
        ))}
      </ul>
    </details>
  )
}

function EventItem({ event }: { event: StoredEvent }) {
  const { type, payload, listenersDoneAt, deliveries } = event
  const change = refundChange(event)
  return (
    <li>
      <code>{type}</code> {'alert' in payload && alertText(payload.alert, now.peek()).title}
      {change && ` ${change}`}
      {!listenersDoneAt && <p class="state pending">Not delivered to listeners yet</p>}
      {deliveries.map((delivery) => (
        <DeliveryItem key={delivery.id} delivery={delivery} type={type} />
      ))}
    </li>
  )
}

const DELIVERIES: Readonly<Record<Delivery['status'], string>> = {
  pending: 'pending',
  delivered: 'delivered',
  dead: 'failed for good',
}

function DeliveryItem({ delivery, type }: { delivery: Delivery; type: string }) {
  const { id, endpoint, status, attempts, lastStatus, lastError } = delivery
  const { nextAttemptAt, deliveredAt } = delivery
  const parts = [
    count(attempts, 'attempt'),
    lastStatus !== undefined && `answered ${lastStatus}`,
    status === 'pending' && nextAttemptAt && `next ${timeAt(nextAttemptAt)}`,
    deliveredAt && timeAt(deliveredAt),
    status !== 'delivered' && lastError && quote(lastError),
  ]
  return (
    <div class="panel row">
      <div>
        <span class={`state ${status}`}>{DELIVERIES[status]}</span> <code>{endpoint}</code>
        <p class="hint">{parts.filter(Boolean).join(' · ')}</p>
      </div>
      <Redeliver
        {...{ id, endpoint }}
        event={type}
        done={status === 'pending' ? 'It is being sent again.' : undefined}
      />
    </div>
  )
}

function AlertEntry({ alert }: { alert: Alert }) {
  const { title } = alertText(alert, now.peek())
  return (
    <>
      <h3>{title}</h3>
      <AlertSentence alert={alert} />
      {alert.acknowledgedAt && <AcknowledgedBy alert={alert} />}
    </>
  )
}

const ACTS: Readonly<Record<Act['action'], string>> = {
  charge: 'Charged again',
  replace: 'Replaced by another attempt',
  cancel: 'Cancellation asked for',
  check: 'Status check asked for',
  redeliver: 'Event sent again',
  reopen: 'An acknowledgement was taken back',
  forget: 'What may name the payer was deleted',
}

const ActEntry = ({ act }: { act: Act }) => (
  <>
    {/* A newer edge may have others. */}
    <h3>{ACTS[act.action] ?? act.action}</h3>
    <p class="hint">by {act.subject}</p>
  </>
)
