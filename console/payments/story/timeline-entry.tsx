// One entry of the timeline.

import type { ComponentChildren } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import type { Alert, Refund, Transaction } from '../../../api/types.ts'
import { now } from '../../data/clock.ts'
import { Time } from '../../ui/time.tsx'
import { dateOf, timeOf } from '../../ui/time-text.ts'
import { words } from '../../words.ts'
import { Acknowledge } from '../actions.tsx'
import { alertText } from '../attention/attention.ts'
import { OtherPayment } from '../attention/attention-list.tsx'
import { flashOf, GatewayError, Ids, Money } from '../elements.tsx'
import { EventEntry } from './event-entry.tsx'
import type { Entry } from './timeline.ts'
import { WebhookEntry } from './webhook-entry.tsx'
import { storyWords } from './words.ts'

interface TimelineEntryProps {
  entry: Entry
  /** The entry appeared while the story was open. */
  isNew: boolean
  onDone(): void
}

/** Rendered again only when its content changes. */
export function TimelineEntry({ entry, isNew, onDone }: TimelineEntryProps) {
  const text = JSON.stringify(entry)
  const changes = useChanges(text, isNew)
  return useMemo(() => {
    const cause =
      entry.kind === 'webhook' ? `by-webhook ${entry.event.outcome}` : `by-${entry.kind}`
    return (
      <li class={`entry ${cause} ${flashOf(changes)}`}>
        <div class="entry-at">
          <Time at={entry.at} />
        </div>
        <div class="entry-body">{bodyOf(entry, onDone)}</div>
      </li>
    )
  }, [text, changes, onDone])
}

/** How often the entry has appeared or changed while the story was open. */
function useChanges(text: string, isNew: boolean): number {
  const seen = useRef({ text, changes: isNew ? 1 : 0 })
  if (seen.current.text !== text) seen.current = { text, changes: seen.current.changes + 1 }
  return seen.current.changes
}

function bodyOf(entry: Entry, onDone: () => void): ComponentChildren {
  switch (entry.kind) {
    case 'initiated':
      return <Initiated transaction={entry.transaction} />
    case 'refused':
      return (
        <>
          <h3>{storyWords.refused}</h3>
          <GatewayError error={entry.error} />
        </>
      )
    case 'webhook':
      return <WebhookEntry event={entry.event} />
    case 'refund':
      return <RefundEntry refund={entry.refund} currency={entry.currency} />
    case 'event':
      return <EventEntry event={entry.event} onDone={onDone} />
    case 'alert':
      return <AlertEntry alert={entry.alert} onDone={onDone} />
  }
}

function Initiated({ transaction }: { transaction: Transaction }) {
  const { amount, currency, gateway, description } = transaction
  return (
    <>
      <h3>
        {storyWords.initiated} <Money amount={amount} currency={currency} />
      </h3>
      <p class="hint">{[gateway, description].filter(Boolean).join(' · ')}</p>
    </>
  )
}

function RefundEntry({ refund, currency }: { refund: Refund; currency: string }) {
  const { amount, status, reason, error, updatedAt, createdAt, correlationId } = refund
  return (
    <>
      <h3>
        {storyWords.refund} <Money amount={amount} currency={currency} />
      </h3>
      <p>
        <span class={`state ${status}`}>{storyWords.refundStates[status]}</span>{' '}
        {words.quote(reason)}
      </p>
      {error && <GatewayError error={error} />}
      {updatedAt !== createdAt && (
        <p class="hint">{storyWords.settled(timeOf(Date.parse(updatedAt), now.peek()))}</p>
      )}
      {correlationId && <Ids of={[[storyWords.correlation, correlationId]]} />}
    </>
  )
}

function AlertEntry({ alert, onDone }: { alert: Alert; onDone(): void }) {
  const { title, sentence, error, todo } = alertText(alert, now.peek())
  const { acknowledgedAt, acknowledgedBy, gatewayReference } = alert
  return (
    <>
      <h3>{title}</h3>
      <p>
        {sentence} {error && words.quote(error)} <OtherPayment alert={alert} />
      </p>
      {acknowledgedAt ? (
        <p class="hint">
          {storyWords.acknowledged(acknowledgedBy ?? '', dateOf(Date.parse(acknowledgedAt)))}
          {gatewayReference !== undefined && <> · {gatewayReference}</>}
        </p>
      ) : (
        <>
          <p class="hint">{todo}</p>
          <Acknowledge alert={alert} title={title} onDone={onDone} />
        </>
      )}
    </>
  )
}
