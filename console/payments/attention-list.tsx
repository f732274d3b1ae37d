// The open issues at the top of the view; one line if there are none.

import { useComputed } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import type { Alert, FailingEndpoints, Unreadable } from '../../libraries/api/types.ts'
import { linkTo } from '../router.ts'
import { Copyable } from '../ui/copyable.tsx'
import { count, LOADING, quote } from '../ui/format.ts'
import { useFocusFallback } from '../ui/keyboard.ts'
import { DatedAge, now, timeAt } from '../ui/time.tsx'
import { Acknowledge, Redeliver, SendAll } from './actions.tsx'
import {
  AN_ENDPOINT,
  AN_EVENT,
  alertText,
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
import { isUnreadable } from './story.ts'
import { MAX_ROWS } from './transactions-read.ts'

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
  if (!alerts || !parked || !rates || !failing) return <p class="hint">{LOADING}</p>
  const broken = [...parked.values()].filter(isUnreadable)
  const refused = refusedOf(rates)
  const total = alerts.size + broken.length + groups.length + refused.length + failing.length
  return (
    <section ref={list} class="attention stack" aria-labelledby="attention">
      <h2 id="attention" tabIndex={-1} class={total === 0 ? 'visually-hidden' : undefined}>
        Open issues
        {total > 0 && <span class="count"> {total}</span>}
      </h2>
      {total === 0 && <p class="hint lamp go">No open issues.</p>}
      <ul class="stack">
        {[...alerts.values()].map((alert) =>
          isUnreadable(alert) ? (
            <UnreadableItem key={alert.id} row={alert} title={UNREADABLE_ALERT}>
              <Acknowledge alert={alert} title={UNREADABLE_ALERT} />
            </UnreadableItem>
          ) : (
            <AlertItem key={alert.id} alert={alert} />
          ),
        )}
        {broken.map((event) => (
          <UnreadableItem key={event.id} row={event} title="A webhook event cannot be read" />
        ))}
        {failing.map((one) => (
          <FailingItem key={one.endpoint} failing={one} />
        ))}
        {refused.map((group) => (
          <RefusedItem key={`${group.reason} ${group.gateway}`} group={group} />
        ))}
        {groups.map((group) => (
          <ParkedItem key={group.gateway} group={group} isMore={parked.size === MAX_ROWS} />
        ))}
      </ul>
    </section>
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

function AlertItem({ alert }: { alert: Alert }) {
  const { title, todo } = alertText(alert, now.peek())
  const { transactionId, createdAt, detail } = alert
  const { amount, currency, reference, deliveryId, type, endpoint } = detail
  return (
    <li class="alert panel stop" data-item tabIndex={-1}>
      <h3>
        {title}{' '}
        {transactionId && (
          <a
            href={linkTo({ view: 'payments', id: transactionId })}
            dir="auto"
            aria-label={reference === undefined ? 'Details' : `Details of ${reference}`}
          >
            {reference ?? 'Details'}
          </a>
        )}
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
