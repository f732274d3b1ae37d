// What needs a person comes first; when nothing does, one quiet line says so.

import { useComputed } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import type { AlertRecord, Listed, Unreadable } from '../../../worker/payments/queries/queries.ts'
import { formatRoute } from '../../address.ts'
import { now } from '../../data/clock.ts'
import { useKeptPlace } from '../../ui/keyboard.ts'
import { Age } from '../../ui/time.tsx'
import { timeOf } from '../../ui/time-text.ts'
import { words } from '../../words.ts'
import { Acknowledge, Redeliver } from '../actions.tsx'
import { Copyable, Money } from '../elements.tsx'
import type { Feed } from '../feed/feed.ts'
import { MOST_ROWS } from '../feed/reads.ts'
import { isUnreadable } from '../feed/unreadable.ts'
import { type Parked, parkedLong, sayAlert } from './attention.ts'

export function AttentionList({ feed }: { feed: Feed }) {
  const { attention: say } = words.payments
  const alerts = feed.alerts.value
  const parked = feed.parked.value
  // Moves when an event has waited for too long, not with each tick of the clock.
  const long = useComputed(() =>
    JSON.stringify(parkedLong(feed.parked.value?.values() ?? [], now.value)),
  )
  const groups = JSON.parse(long.value) as Parked[]
  const list = useRef<HTMLElement>(null)
  // An alert that is acknowledged, here or by somebody else, takes the focus along.
  useKeptPlace(list)
  if (!alerts || !parked) return <p class="quiet-line">{words.loading}</p>
  const broken = [...parked.values()].filter(isUnreadable)
  const count = alerts.size + broken.length + groups.length
  const isQuiet = count === 0
  return (
    <section ref={list} class="attention" aria-labelledby="attention">
      <h2 id="attention" tabIndex={-1} class={isQuiet ? 'visually-hidden' : undefined}>
        {say.title}
        {!isQuiet && <span class="count"> {count}</span>}
      </h2>
      {isQuiet && <p class="quiet-line lamp go">{say.none}</p>}
      <ul>
        {[...alerts.values()].map((alert) => (
          <ListedAlert key={alert.id} alert={alert} onDone={feed.ask} />
        ))}
        {broken.map((event) => (
          <UnreadableItem key={event.id} row={event} title={say.unreadableEvent} />
        ))}
        {groups.map((group) => (
          <ParkedItem key={group.gateway} group={group} isMore={parked.size === MOST_ROWS} />
        ))}
      </ul>
    </section>
  )
}

interface AlertItemProps {
  alert: AlertRecord
  onDone(): void
}

function ListedAlert({ alert, onDone }: { alert: Listed<AlertRecord>; onDone(): void }) {
  if (!isUnreadable(alert)) return <AlertItem alert={alert} onDone={onDone} />
  const title = words.payments.attention.unreadableAlert
  return (
    <UnreadableItem row={alert} title={title}>
      <Acknowledge alert={alert} title={title} onDone={onDone} />
    </UnreadableItem>
  )
}

interface UnreadableItemProps {
  row: Unreadable
  title: string
  children?: ComponentChildren
}

function UnreadableItem({ row: { id, invalid }, title, children }: UnreadableItemProps) {
  return (
    <li class="alert" data-item tabIndex={-1}>
      <h3>{title}</h3>
      <p>
        <Copyable text={id} what={words.payments.story.id} /> {invalid}
      </p>
      <p class="todo">{words.payments.attention.unreadableTodo}</p>
      <div class="actions">{children}</div>
    </li>
  )
}

function AlertItem({ alert, onDone }: AlertItemProps) {
  const { title, sentence, error, todo } = sayAlert(alert, now.peek())
  const { amount, currency } = alert.detail
  return (
    <li class="alert" data-item tabIndex={-1}>
      <h3>
        {title} <StoryLink alert={alert} />
      </h3>
      <div class="alert-money">
        {amount !== undefined && currency !== undefined && (
          <Money amount={amount} currency={currency} />
        )}
        <Age at={alert.createdAt} />
      </div>
      <p>
        {sentence} {error && words.payments.attention.error(error)}
      </p>
      <p class="todo">{todo}</p>
      <AlertActions alert={alert} title={title} onDone={onDone} />
    </li>
  )
}

function StoryLink({ alert: { transactionId: id, detail } }: { alert: AlertRecord }) {
  const { attention: say } = words.payments
  const { reference } = detail
  if (id === undefined) return null
  return (
    <a
      href={formatRoute({ view: 'payments', id, query: {} })}
      dir="auto"
      aria-label={reference === undefined ? say.story : say.storyOf(reference)}
    >
      {reference ?? say.story}
    </a>
  )
}

function AlertActions({ alert, title, onDone }: AlertItemProps & { title: string }) {
  const { attention: say } = words.payments
  const { deliveryId, type, endpoint } = alert.detail
  return (
    <div class="actions">
      {deliveryId !== undefined && (
        <Redeliver
          id={deliveryId}
          event={type ?? say.anEvent}
          endpoint={endpoint ?? say.anEndpoint}
          onDone={onDone}
        />
      )}
      <Acknowledge alert={alert} title={title} onDone={onDone} />
    </div>
  )
}

function ParkedItem({ group, isMore }: { group: Parked; isMore: boolean }) {
  const { attention: say } = words.payments
  const { gateway, events, since } = group
  return (
    <li class="alert parked" data-item tabIndex={-1}>
      <h3>{say.parked(events.length, isMore)}</h3>
      <div class="alert-money">
        <Age at={since} />
      </div>
      <p>{say.parkedSentence(gateway, timeOf(Date.parse(since), now.peek()))}</p>
      <p class="todo">{say.parkedTodo}</p>
      <details>
        <summary>{say.parkedList}</summary>
        <ul class="parked-events">
          {events.map((event) => (
            <li key={event.id}>
              <Copyable text={event.eventId} what={words.payments.story.eventId} />
              {event.reference !== undefined && <span>{event.reference}</span>}
              <span>{words.payments.status[event.toStatus]}</span>
              <Money amount={event.amount} currency={event.currency} />
            </li>
          ))}
        </ul>
      </details>
    </li>
  )
}
