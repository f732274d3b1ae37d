// What needs somebody: the open issues, folded into one line, and those that are closed.

import { useComputed } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { Alert, AlertsPage, FailingEndpoints, Unreadable } from '../../libraries/api/types.ts'
import { problemText, request } from '../data/http.ts'
import { linkTo, route } from '../router.ts'
import { Copyable } from '../ui/copyable.tsx'
import { count, LOADING, quote } from '../ui/format.ts'
import { useFocusFallback } from '../ui/keyboard.ts'
import { DatedAge, now, timeAt } from '../ui/time.tsx'
import { Acknowledge, Redeliver, SendAll, Undo } from './actions.tsx'
import {
  AN_ENDPOINT,
  AN_EVENT,
  alertText,
  countedText,
  type Parked,
  parkedLong,
  REFUSALS,
  type RefusedGroup,
  refusedOf,
  TRIED_FOR,
} from './attention.ts'
import { Money } from './elements.tsx'
import { useFeed } from './feed.ts'
import { STATUSES } from './format.ts'
import { isReadable, isUnreadable } from './story.ts'
import { filtersOf, isFiltering, MAX_ROWS } from './transactions-read.ts'

export function AttentionList() {
  const feed = useFeed()
  const alerts = feed.alerts.value
  const parked = feed.parked.value
  const rates = feed.rates.value
  const failing = feed.failing.value?.endpoints
  // Changes only when an event has waited too long, not with each tick of the clock.
  const long = useComputed(() =>
    JSON.stringify(parkedLong(feed.parked.value?.values() ?? [], now.value)),
  )
  const groups = JSON.parse(long.value) as Parked[]
  const list = useRef<HTMLElement>(null)
  // An alert disappears when this or another user acknowledges it.
  useFocusFallback(list)
  const [areAll, setAll] = useState(false)
  if (!alerts || !parked || !rates || !failing) return <p class="hint">{LOADING}</p>
  const broken = [...parked.values()].filter(isUnreadable)
  const refused = refusedOf(rates)
  const items = [
    ...[...alerts.values()].map((alert) =>
      isUnreadable(alert) ? (
        <UnreadableItem key={alert.id} row={alert} title={UNREADABLE_ALERT}>
          <Acknowledge alert={alert} title={UNREADABLE_ALERT} />
        </UnreadableItem>
      ) : (
        <AlertItem key={alert.id} alert={alert} />
      ),
    ),
    ...broken.map((event) => (
      <UnreadableItem key={event.id} row={event} title="A webhook event cannot be read" />
    )),
    ...failing.map((one) => <FailingItem key={one.endpoint} failing={one} />),
    ...refused.map((group) => (
      <RefusedItem key={`${group.reason} ${group.gateway}`} group={group} />
    )),
    ...groups.map((group) => (
      <ParkedItem key={group.gateway} group={group} isMore={parked.size === MAX_ROWS} />
    )),
  ]
  const parts = [
    countedText(alerts.values()),
    broken.length > 0 && 'unreadable webhooks',
    failing.length > 0 && 'an endpoint fails',
    refused.length > 0 && 'refused webhooks',
    groups.length > 0 && 'webhooks without a payment',
  ]
  const more = areAll ? 0 : items.length - FIRST
  const { query } = route.value
  return (
    <section ref={list} class="attention stack" aria-labelledby="attention">
      {items.length === 0 ? (
        <>
          <h2 id="attention" tabIndex={-1} class="visually-hidden">
            Needs you
          </h2>
          <p class="hint lamp go">No open issues.</p>
        </>
      ) : (
        // Whoever searches wants what is found on the screen.
        <details open={!isFiltering(filtersOf(query))}>
          <summary>
            <h2 id="attention" tabIndex={-1}>
              Needs you <span class="count">{items.length}</span>
            </h2>{' '}
            {parts.filter(Boolean).join(', ')}
          </summary>
          <ul class="stack">{more > 0 ? items.slice(0, FIRST) : items}</ul>
          {more > 0 && (
            <button type="button" class="quiet small" onClick={() => setAll(true)}>
              {more} more
            </button>
          )}
        </details>
      )}
      <Undo />
      <ClosedIssues />
    </section>
  )
}

/** So many are read; more are a list to work through. */
const FIRST = 5

/** Read when it is opened: few look at them. */
function ClosedIssues() {
  const [closed, setClosed] = useState<Alert[] | string>()
  const read = () =>
    request<AlertsPage>(`/api/payments/alerts?all=true&limit=${MAX_ROWS}`).then(
      ({ alerts }) => setClosed(alerts.filter(isReadable).filter(isClosed)),
      (problem: unknown) => setClosed(problemText(problem)),
    )
  return (
    <details onToggle={({ currentTarget }) => currentTarget.open && void read()}>
      <summary>Closed issues</summary>
      {typeof closed === 'string' && <p class="problem-line">{closed}</p>}
      {typeof closed === 'object' && (
        <ul class="closed-issues">
          {closed.length === 0 && <li class="hint">None yet.</li>}
          {closed.map((alert) => (
            <li key={alert.id} class="row">
              {alertText(alert, now.peek()).title} <PaymentLink alert={alert} />
              <AcknowledgedBy alert={alert} />
            </li>
          ))}
        </ul>
      )}
    </details>
  )
}

const isClosed = ({ acknowledgedAt }: Alert): boolean => acknowledgedAt !== undefined

/** Who has seen it, and when. */
export const AcknowledgedBy = ({ alert }: { alert: Alert }) => (
  <span class="hint">
    {CLOSED[alert.acknowledgedBy ?? ''] ?? `Acknowledged by ${alert.acknowledgedBy}`},{' '}
    {timeAt(alert.acknowledgedAt ?? '')}
    {alert.gatewayReference !== undefined && ` · ${alert.gatewayReference}`}
  </span>
)

/** What settled it, where no person did. */
const CLOSED: Readonly<Record<string, string>> = {
  refund: 'Settled by its refund',
  gateway: 'Settled at the gateway',
  capture: 'Settled: the whole was captured',
  delivery: 'Settled by a delivery',
}

function PaymentLink({ alert: { transactionId, detail } }: { alert: Alert }) {
  const { reference } = detail
  if (!transactionId) return null
  return (
    <a
      href={linkTo({ view: 'payments', id: transactionId })}
      dir="auto"
      aria-label={reference === undefined ? 'Details' : `Details of ${reference}`}
    >
      {reference ?? 'Details'}
    </a>
  )
}

const UNREADABLE_ALERT = 'An alert cannot be read'

interface UnreadableItemProps {
  row: Unreadable
  title: string
  children?: ComponentChildren
}

function UnreadableItem({ row: { id, invalid }, title, children }: UnreadableItemProps) {
  return (
    <li class="alert panel stop" data-item tabIndex={-1}>
      <h3>{title}</h3>
      <p>
        <Copyable text={id} what="Our id" /> {invalid}
      </p>
      <p class="hint">Repair its database row.</p>
      <div class="row actions">{children}</div>
    </li>
  )
}

/** The open issues of one payment, below its head. */
export function NeedsYou({ alerts }: { alerts: readonly Alert[] }) {
  const list = useRef<HTMLElement>(null)
  useFocusFallback(list)
  return (
    <section ref={list} class="attention" aria-labelledby="attention">
      <h2 id="attention" tabIndex={-1} class="visually-hidden">
        Needs you
      </h2>
      <ul class="stack">
        {alerts.map((alert) => (
          <AlertItem key={alert.id} alert={alert} isHere />
        ))}
      </ul>
      <Undo />
    </section>
  )
}

/** `isHere`: on the page of its payment. */
function AlertItem({ alert, isHere = false }: { alert: Alert; isHere?: boolean }) {
  const { title, todo } = alertText(alert, now.peek())
  const { createdAt, detail } = alert
  const { amount, currency, deliveryId, type, endpoint } = detail
  return (
    <li class="alert panel stop" data-item tabIndex={-1}>
      <h3>
        {title} {!isHere && <PaymentLink alert={alert} />}
      </h3>
      <div class="alert-money row">
        {amount !== undefined && currency !== undefined && (
          <Money amount={amount} currency={currency} />
        )}
        <span class="hint">
          <DatedAge at={createdAt} />
        </span>
      </div>
      <AlertSentence alert={alert} />
      <p class="hint">{todo}</p>
      <div class="row actions">
        {deliveryId !== undefined && (
          <Redeliver
            id={deliveryId}
            event={type ?? AN_EVENT}
            endpoint={endpoint ?? AN_ENDPOINT}
            done="Sent again: its payment shows whether it was accepted."
          />
        )}
        <Acknowledge alert={alert} title={title} />
      </div>
    </li>
  )
}

/** What happened, with a link to the other payment of an order that was paid twice. */
export function AlertSentence({ alert }: { alert: Alert }) {
  const { sentence, error } = alertText(alert, now.peek())
  const { otherTransactionId: id } = alert.detail
  return (
    <p>
      {sentence} {error && quote(error)}{' '}
      {id !== undefined && <a href={linkTo({ view: 'payments', id })}>The other payment</a>}
    </p>
  )
}

interface IssueProps {
  title: string
  /** ISO 8601. */
  at: string
  isStop?: boolean
  children: ComponentChildren
}

/** What is not stored as an alert: it goes away by itself, so nobody acknowledges it. */
const Issue = ({ title, at, isStop, children }: IssueProps) => (
  <li class={`alert panel wide ${isStop ? 'stop' : 'caution'}`} data-item tabIndex={-1}>
    <h3>{title}</h3>
    <div class="alert-money row">
      <span class="hint">
        <DatedAge at={at} />
      </span>
    </div>
    {children}
  </li>
)

function FailingItem({ failing }: { failing: FailingEndpoints['endpoints'][number] }) {
  const { endpoint, events, since, lastError, nextAttemptAt } = failing
  return (
    <Issue title="An endpoint does not accept events" at={since} isStop>
      <p>
        {endpoint} has not accepted {count(events, 'event')}
        {events === MAX_ROWS && ' or more'}, the first since {timeAt(since)}.{' '}
        {lastError && quote(lastError)} The next attempt is at {timeAt(nextAttemptAt)}.
      </p>
      <p class="hint">
        Start it, or mend it: its events are sent again {TRIED_FOR}. After that, each becomes an
        alert with a button that sends it again. With the first that it accepts, all that wait are
        sent.
      </p>
      <SendAll endpoint={endpoint} />
    </Issue>
  )
}

function RefusedItem({ group }: { group: RefusedGroup }) {
  const { sentence, todo } = REFUSALS[group.reason]
  const webhooks = `${count(group.count, 'webhook')} of ${group.gateway}`
  return (
    <Issue title={`${webhooks} refused in the last hour`} at={group.at}>
      <p>{sentence}</p>
      <p class="hint">{todo}</p>
    </Issue>
  )
}

function ParkedItem({ group, isMore }: { group: Parked; isMore: boolean }) {
  const { gateway, events, since } = group
  return (
    <Issue
      title={`${count(events.length, 'webhook')}${isMore ? ' or more' : ''} without a payment`}
      at={since}
    >
      <p>
        Verified events of {gateway} are parked, the oldest since {timeAt(since)}: no payment here
        matches them.
      </p>
      <p class="hint">
        They are applied as soon as their payment appears. If another system uses the same account
        of the gateway, they may belong to it.
      </p>
      <details>
        <summary>Show events</summary>
        <ul class="parked-events stack">
          {events.map((event) => (
            <li class="row" key={event.id}>
              <Copyable text={event.eventId} what="Event" />
              {event.reference !== undefined && <span>{event.reference}</span>}
              <span>{STATUSES[event.toStatus]}</span>
              <Money amount={event.amount} currency={event.currency} />
            </li>
          ))}
        </ul>
      </details>
    </Issue>
  )
}
