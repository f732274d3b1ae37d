// One thing that happened to a payment.

import type { ComponentChildren } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import type { Transaction } from '../../../worker/payments/domain/transaction.ts'
import type { AlertRecord, RefundRecord } from '../../../worker/payments/queries/queries.ts'
import { now } from '../../data/clock.ts'
import { Time } from '../../ui/time.tsx'
import { dateOf, timeOf } from '../../ui/time-text.ts'
import { words } from '../../words.ts'
import { Acknowledge } from '../actions.tsx'
import { sayAlert } from '../attention/attention.ts'
import { Fault, flashOf, Ids, Money } from '../elements.tsx'
import type { Entry } from './timeline.ts'
import { ToldEntry } from './told-entry.tsx'
import { WebhookEntry } from './webhook-entry.tsx'

interface TimelineEntryProps {
  entry: Entry
  /** Came while somebody looked. */
  isNew: boolean
  onDone(): void
}

/** Drawn again only when what it shows differs. */
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

/** How often it has come or changed while somebody looked. */
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
          <h3>{words.payments.story.refused}</h3>
          <Fault error={entry.error} />
        </>
      )
    case 'webhook':
      return <WebhookEntry event={entry.event} />
    case 'refund':
      return <Refund refund={entry.refund} currency={entry.currency} />
    case 'told':
      return <ToldEntry event={entry.event} onDone={onDone} />
    case 'alert':
      return <Alert alert={entry.alert} onDone={onDone} />
  }
}

function Initiated({ transaction }: { transaction: Transaction }) {
  const { amount, currency, gateway, description } = transaction
  return (
    <>
      <h3>
        {words.payments.story.initiated} <Money amount={amount} currency={currency} />
      </h3>
      <p class="hint">{[gateway, description].filter(Boolean).join(' · ')}</p>
    </>
  )
}

function Refund({ refund, currency }: { refund: RefundRecord; currency: string }) {
  const { story: say } = words.payments
  const { amount, status, reason, error, updatedAt, createdAt, correlationId } = refund
  return (
    <>
      <h3>
        {say.refund} <Money amount={amount} currency={currency} />
      </h3>
      <p>
        <span class={`state ${status}`}>{say.refundStates[status]}</span> {say.reason(reason)}
      </p>
      {error && <Fault error={error} />}
      {updatedAt !== createdAt && (
        <p class="hint">{say.settled(timeOf(Date.parse(updatedAt), now.peek()))}</p>
      )}
      {correlationId && <Ids of={[[say.correlation, correlationId]]} />}
    </>
  )
}

function Alert({ alert, onDone }: { alert: AlertRecord; onDone(): void }) {
  const { attention, story: say } = words.payments
  const { title, sentence, error, todo } = sayAlert(alert, now.peek())
  const { acknowledgedAt, acknowledgedBy } = alert
  return (
    <>
      <h3>{title}</h3>
      <p>
        {sentence} {error && attention.error(error)}
      </p>
      {acknowledgedAt ? (
        <p class="hint">
          {say.acknowledged(acknowledgedBy ?? '', dateOf(Date.parse(acknowledgedAt)))}
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
