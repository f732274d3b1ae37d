// One entry of the timeline: a charge, a webhook and its outcome, a refund, a durable event and its
// deliveries, or an alert.

import type { ComponentChildren } from 'preact'
import { useMemo, useRef, useState } from 'preact/hooks'
import type {
  Alert,
  AuditRecord,
  Delivery,
  Refund,
  StoredEvent,
  Transaction,
  WebhookEvent,
} from '../../libraries/api/types.ts'
import { request } from '../data/http.ts'
import { ActionButton } from '../ui/action-button.tsx'
import { count, dateOf, number, quote } from '../ui/format.ts'
import { now, Time, timeAt } from '../ui/time.tsx'
import { Acknowledge, Redeliver } from './actions.tsx'
import { alertText } from './attention.ts'
import { AlertSentence } from './attention-list.tsx'
import { flashOf, GatewayError, Ids, Money, StatusBadge } from './elements.tsx'
import { STATUSES } from './format.ts'
import { type Entry, refundChange } from './story.ts'

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
        <div class="entry-body">{bodyOf(entry)}</div>
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
    case 'event':
      return <EventEntry event={entry.event} />
    case 'alert':
      return <AlertEntry alert={entry.alert} />
    case 'act':
      return <ActEntry act={entry.act} />
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

const OUTCOMES: Readonly<Record<WebhookEvent['outcome'], string>> = {
  applied: 'Applied',
  unchanged: 'No change',
  parked: 'Parked until its payment appears',
  illegal: 'Ignored: not possible from the current status',
  rejected: 'Rejected: different amount or currency',
  late_payment: 'Too late: the status stays',
}

/** Clocks differ, and a webhook takes some time: a smaller delay is not shown. */
const MIN_DELAY_MS = 60_000

function WebhookEntry({ event }: { event: WebhookEvent }) {
  const { outcome, toStatus, isMismatch, error, eventId, correlationId } = event
  const occurredAt = Date.parse(event.occurredAt)
  const isDelayed = Math.abs(Date.parse(event.receivedAt) - occurredAt) >= MIN_DELAY_MS
  return (
    <>
      <h3>
        {/* The answer to a check of ours is stored as an event, too. */}
        {eventId.startsWith('recheck:') ? 'Status check' : 'Webhook'} <StatusChange event={event} />
      </h3>
      <p>
        <span class={`state ${outcome}`}>{OUTCOMES[outcome]}</span>{' '}
        <Money amount={event.amount} currency={event.currency} />
        {isMismatch && (
          <span class="mismatch">
            {toStatus === 'Paid'
              ? ' not the requested amount'
              : ' not the amount that was paid or refunded'}
          </span>
        )}
      </p>
      {isDelayed && <p class="hint">happened {dateOf(occurredAt)}</p>}
      {error && <GatewayError error={error} />}
      <Ids
        of={[
          ['Event', eventId],
          ['Correlation id', correlationId],
        ]}
      />
      <GatewayData event={event} />
    </>
  )
}

/** What the gateway sent. In a large story the edge leaves it out, and it is read by itself. */
function GatewayData({ event }: { event: WebhookEvent }) {
  const [read, setRead] = useState<unknown>()
  const { id, eventId, rawBytes, raw = read } = event
  if (raw === undefined && rawBytes === undefined) return null
  if (raw !== undefined) {
    return (
      <details open={read !== undefined}>
        <summary>Data of the gateway (secrets are masked)</summary>
        <pre>{JSON.stringify(raw, undefined, 2)}</pre>
      </details>
    )
  }
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

/** The change of status, or the status that the gateway reported. */
function StatusChange({ event }: { event: WebhookEvent }) {
  const { fromStatus, toStatus, outcome } = event
  if (outcome !== 'applied' || fromStatus === undefined) {
    return <span class="reported">reports {STATUSES[toStatus]}</span>
  }
  return (
    <span class="move row">
      <StatusBadge status={fromStatus} />
      <span class="visually-hidden"> becomes </span>
      <span aria-hidden="true" class="arrow" />
      <StatusBadge status={toStatus} />
    </span>
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

const EVENTS: Readonly<Record<StoredEvent['type'], string>> = {
  PaymentInitiated: 'Event: the payment was initiated',
  PaymentSucceeded: 'Event: the payment succeeded',
  PaymentFailed: 'Event: the payment failed',
  PaymentCancelled: 'Event: the payment was cancelled or expired',
  PaymentRefunded: 'Event: the payment was refunded',
  RefundAmountChanged: 'Event: the refunded amount changed',
  AlertRaised: 'Event: an alert was raised',
  AlertSettled: 'Event: an alert was settled',
}

function EventEntry({ event }: { event: StoredEvent }) {
  const { type, payload, listenersDoneAt, deliveries } = event
  const change = refundChange(event)
  return (
    <>
      <h3>
        {EVENTS[type]}{' '}
        {'alert' in payload ? (
          <span>{alertText(payload.alert, now.peek()).title}</span>
        ) : (
          <StatusBadge status={payload.transaction.status} />
        )}
        <code>{type}</code>
      </h3>
      {change && <p>{change}</p>}
      <p class={listenersDoneAt ? 'hint' : 'state pending'}>
        {listenersDoneAt
          ? `Delivered to listeners ${timeAt(listenersDoneAt)}`
          : 'Not delivered to listeners yet'}
      </p>
      {deliveries.length > 0 && (
        <ul class="deliveries stack">
          {deliveries.map((delivery) => (
            <DeliveryItem key={delivery.id} delivery={delivery} type={type} />
          ))}
        </ul>
      )}
    </>
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
    <li class="panel row">
      <div>
        <span class={`state ${status}`}>{DELIVERIES[status]}</span> <code>{endpoint}</code>
        <p class="hint">{parts.filter(Boolean).join(' · ')}</p>
      </div>
      <Redeliver
        {...{ id, endpoint }}
        event={type}
        done={status === 'pending' ? 'It is being sent again.' : undefined}
      />
    </li>
  )
}

function AlertEntry({ alert }: { alert: Alert }) {
  const { title, todo } = alertText(alert, now.peek())
  const { acknowledgedAt, acknowledgedBy = '', gatewayReference } = alert
  return (
    <>
      <h3>{title}</h3>
      <AlertSentence alert={alert} />
      {acknowledgedAt ? (
        <p class="hint">
          Acknowledged by {acknowledgedBy}, {dateOf(Date.parse(acknowledgedAt))}
          {gatewayReference !== undefined && ` · ${gatewayReference}`}
        </p>
      ) : (
        <>
          <p class="hint">{todo}</p>
          <Acknowledge alert={alert} title={title} />
        </>
      )}
    </>
  )
}

const ACTS: Readonly<Partial<Record<AuditRecord['action'], string>>> = {
  charge: 'Charged again',
  replace: 'Replaced by another attempt',
  cancel: 'Cancellation asked for',
  check: 'Status check asked for',
  redeliver: 'Event sent again',
  forget: 'What may name the payer was deleted',
}

const ActEntry = ({ act }: { act: AuditRecord }) => (
  <>
    <h3>{ACTS[act.action] ?? act.action}</h3>
    <p class="hint">by {act.subject}</p>
  </>
)
