// The list of what needs a person, at the top of the view; one line if it is empty.

import { useComputed } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import type { Alert, Unreadable } from '../../../api/types.ts'
import { formatRoute } from '../../address.ts'
import { now } from '../../data/clock.ts'
import { useFocusFallback } from '../../ui/keyboard.ts'
import { Age } from '../../ui/time.tsx'
import { timeOf } from '../../ui/time-text.ts'
import { words } from '../../words.ts'
import { Acknowledge, Redeliver } from '../actions.tsx'
import { Copyable, Money } from '../elements.tsx'
import type { Feed } from '../feed/feed.ts'
import { MAX_ROWS } from '../feed/reads.ts'
import { isUnreadable, type Listed } from '../feed/story.ts'
import { storyWords } from '../story/words.ts'
import { paymentWords } from '../words.ts'
import { alertText, type Parked, parkedLong } from './attention.ts'
import { attentionWords } from './words.ts'

export function AttentionList({ feed }: { feed: Feed }) {
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
  if (!alerts || !parked) return <p class="quiet-line">{words.loading}</p>
  const broken = [...parked.values()].filter(isUnreadable)
  const count = alerts.size + broken.length + groups.length
  const isQuiet = count === 0
  return (
    <section ref={list} class="attention" aria-labelledby="attention">
      <h2 id="attention" tabIndex={-1} class={isQuiet ? 'visually-hidden' : undefined}>
        {attentionWords.title}
        {!isQuiet && <span class="count"> {count}</span>}
      </h2>
      {isQuiet && <p class="quiet-line lamp go">{attentionWords.none}</p>}
      <ul>
        {[...alerts.values()].map((alert) => (
          <ListedAlert key={alert.id} alert={alert} onDone={feed.refresh} />
        ))}
        {broken.map((event) => (
          <UnreadableItem key={event.id} row={event} title={attentionWords.unreadableEvent} />
        ))}
        {groups.map((group) => (
          <ParkedItem key={group.gateway} group={group} isMore={parked.size === MAX_ROWS} />
        ))}
      </ul>
    </section>
  )
}

interface AlertItemProps {
  alert: Alert
  onDone(): void
}

function ListedAlert({ alert, onDone }: { alert: Listed<Alert>; onDone(): void }) {
  if (!isUnreadable(alert)) return <AlertItem alert={alert} onDone={onDone} />
  const title = attentionWords.unreadableAlert
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
        <Copyable text={id} what={storyWords.id} /> {invalid}
      </p>
      <p class="todo">{attentionWords.unreadableTodo}</p>
      <div class="actions">{children}</div>
    </li>
  )
}

function AlertItem({ alert, onDone }: AlertItemProps) {
  const { title, sentence, error, todo } = alertText(alert, now.peek())
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
        {sentence} {error && words.quote(error)} <OtherPayment alert={alert} />
      </p>
      <p class="todo">{todo}</p>
      <AlertActions alert={alert} title={title} onDone={onDone} />
    </li>
  )
}

/** Of an order that was paid twice. */
export function OtherPayment({ alert: { detail } }: { alert: Alert }) {
  const { otherTransactionId: id } = detail
  if (id === undefined) return null
  return (
    <a href={formatRoute({ view: 'payments', id, query: {} })}>{attentionWords.otherPayment}</a>
  )
}

function StoryLink({ alert: { transactionId: id, detail } }: { alert: Alert }) {
  const { reference } = detail
  if (id === undefined) return null
  return (
    <a
      href={formatRoute({ view: 'payments', id, query: {} })}
      dir="auto"
      aria-label={
        reference === undefined ? attentionWords.story : attentionWords.storyOf(reference)
      }
    >
      {reference ?? attentionWords.story}
    </a>
  )
}

function AlertActions({ alert, title, onDone }: AlertItemProps & { title: string }) {
  const { deliveryId, type, endpoint } = alert.detail
  return (
    <div class="actions">
      {deliveryId !== undefined && (
        <Redeliver
          id={deliveryId}
          event={type ?? attentionWords.anEvent}
          endpoint={endpoint ?? attentionWords.anEndpoint}
          onDone={onDone}
        />
      )}
      <Acknowledge alert={alert} title={title} onDone={onDone} />
    </div>
  )
}

function ParkedItem({ group, isMore }: { group: Parked; isMore: boolean }) {
  const { gateway, events, since } = group
  return (
    <li class="alert parked" data-item tabIndex={-1}>
      <h3>{attentionWords.parked(events.length, isMore)}</h3>
      <div class="alert-money">
        <Age at={since} />
      </div>
      <p>{attentionWords.parkedSentence(gateway, timeOf(Date.parse(since), now.peek()))}</p>
      <p class="todo">{attentionWords.parkedTodo}</p>
      <details>
        <summary>{attentionWords.parkedList}</summary>
        <ul class="parked-events">
          {events.map((event) => (
            <li key={event.id}>
              <Copyable text={event.eventId} what={storyWords.eventId} />
              {event.reference !== undefined && <span>{event.reference}</span>}
              <span>{paymentWords.status[event.toStatus]}</span>
              <Money amount={event.amount} currency={event.currency} />
            </li>
          ))}
        </ul>
      </details>
    </li>
  )
}
