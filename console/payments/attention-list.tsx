// The open issues at the top of the view; one line if there are none.

import { useComputed } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import type { Alert, Unreadable } from '../../libraries/api/types.ts'
import { formatRoute } from '../address.ts'
import { count, LOADING, quote } from '../ui/format.ts'
import { useFocusFallback } from '../ui/keyboard.ts'
import { Age, now, timeAt } from '../ui/time.tsx'
import { Acknowledge, Redeliver } from './actions.tsx'
import { AN_ENDPOINT, AN_EVENT, alertText, type Parked, parkedLong } from './attention.ts'
import { Copyable, Money } from './elements.tsx'
import { useFeed } from './feed.ts'
import { STATUSES } from './format.ts'
import { isUnreadable } from './story.ts'
import { MAX_ROWS } from './transactions-read.ts'

export function AttentionList() {
  const feed = useFeed()
  const alerts = feed.alerts.value
  const parked = feed.parked.value
  // Changes only when an event has waited too long, not with each tick of the clock.
  const long = useComputed(() =>
    JSON.stringify(parkedLong(feed.parked.value?.values() ?? [], now.value)),
  )
  const groups = JSON.parse(long.value) as Parked[]
  const list = useRef<HTMLElement>(null)
  // An alert disappears when this or another user acknowledges it.
  useFocusFallback(list)
  if (!alerts || !parked) return <p class="hint">{LOADING}</p>
  const broken = [...parked.values()].filter(isUnreadable)
  const total = alerts.size + broken.length + groups.length
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
        {transactionId !== undefined && (
          <a
            href={formatRoute({ view: 'payments', id: transactionId })}
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
          <Age at={createdAt} />
        </span>
      </div>
      <AlertSentence alert={alert} />
      <p class="hint">{todo}</p>
      <div class="row actions">
        {deliveryId !== undefined && (
          <Redeliver id={deliveryId} event={type ?? AN_EVENT} endpoint={endpoint ?? AN_ENDPOINT} />
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
      {id !== undefined && <a href={formatRoute({ view: 'payments', id })}>The other payment</a>}
    </p>
  )
}

function ParkedItem({ group, isMore }: { group: Parked; isMore: boolean }) {
  const { gateway, events, since } = group
  return (
    <li class="alert panel parked" data-item tabIndex={-1}>
      <h3>
        {count(events.length, 'webhook')}
        {isMore && ' or more'} without a payment
      </h3>
      <div class="alert-money row">
        <span class="hint">
          <Age at={since} />
        </span>
      </div>
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
    </li>
  )
}
