// A durable event, and its deliveries to listeners and endpoints.

import type { Delivery, StoredEvent } from '../../../api/types.ts'
import { now } from '../../data/clock.ts'
import { timeOf } from '../../ui/time-text.ts'
import { words } from '../../words.ts'
import { Redeliver } from '../actions.tsx'
import { alertText } from '../attention/attention.ts'
import { StatusBadge } from '../elements.tsx'
import { storyWords } from './words.ts'

interface EventEntryProps {
  event: StoredEvent
  onDone(): void
}

export function EventEntry({ event, onDone }: EventEntryProps) {
  const { type, payload, listenersDoneAt, deliveries } = event
  return (
    <>
      <h3>
        {storyWords.events[type]}{' '}
        {'alert' in payload ? (
          <span>{alertText(payload.alert, now.peek()).title}</span>
        ) : (
          <StatusBadge status={payload.transaction.status} />
        )}
        <code>{type}</code>
      </h3>
      <p class={listenersDoneAt ? 'hint' : 'state pending'}>
        {listenersDoneAt ? storyWords.delivered(timeAt(listenersDoneAt)) : storyWords.undelivered}
      </p>
      {deliveries.length > 0 && (
        <ul class="deliveries">
          {deliveries.map((delivery) => (
            <DeliveryItem key={delivery.id} delivery={delivery} type={type} onDone={onDone} />
          ))}
        </ul>
      )}
    </>
  )
}

interface DeliveryProps {
  delivery: Delivery
  type: string
  onDone(): void
}

function DeliveryItem({ delivery, type, onDone }: DeliveryProps) {
  const { id, endpoint, status, attempts, lastStatus, lastError } = delivery
  const { nextAttemptAt, deliveredAt } = delivery
  const parts = [
    storyWords.attempts(attempts),
    ...(lastStatus === undefined ? [] : [storyWords.answered(lastStatus)]),
    ...(status === 'pending' && nextAttemptAt ? [storyWords.next(timeAt(nextAttemptAt))] : []),
    ...(deliveredAt ? [timeAt(deliveredAt)] : []),
  ]
  return (
    <li>
      <div>
        <span class={`state ${status}`}>{storyWords.deliveries[status]}</span>{' '}
        <code>{endpoint}</code>
        <p class="hint">
          {parts.join(' · ')}
          {status !== 'delivered' && lastError && ` · ${words.quote(lastError)}`}
        </p>
      </div>
      <Redeliver id={id} event={type} endpoint={endpoint} onDone={onDone} />
    </li>
  )
}

const timeAt = (at: string): string => timeOf(Date.parse(at), now.peek())
