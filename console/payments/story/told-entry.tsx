// What the host application was told, and how the telling went.

import type { DeliveryRecord, StoredEvent } from '../../../worker/payments/queries/queries.ts'
import { now } from '../../data/clock.ts'
import { timeOf } from '../../ui/time-text.ts'
import { words } from '../../words.ts'
import { Redeliver } from '../actions.tsx'
import { StatusBadge } from '../elements.tsx'

interface ToldEntryProps {
  event: StoredEvent
  onDone(): void
}

export function ToldEntry({ event, onDone }: ToldEntryProps) {
  const { story: say } = words.payments
  const { type, payload, toldAt, deliveries } = event
  return (
    <>
      <h3>
        {say.told(say.lifecycle[type])} <StatusBadge status={payload.transaction.status} />
        <code>{type}</code>
      </h3>
      <p class={toldAt ? 'hint' : 'state pending'}>
        {toldAt ? say.toldAt(timeAt(toldAt)) : say.notTold}
      </p>
      {deliveries.length > 0 && (
        <ul class="deliveries">
          {deliveries.map((delivery) => (
            <Delivery key={delivery.id} delivery={delivery} type={type} onDone={onDone} />
          ))}
        </ul>
      )}
    </>
  )
}

interface DeliveryProps {
  delivery: DeliveryRecord
  type: string
  onDone(): void
}

function Delivery({ delivery, type, onDone }: DeliveryProps) {
  const { attention, story: say } = words.payments
  const { id, endpoint, status, attempts, lastStatus, lastError } = delivery
  const { nextAttemptAt, deliveredAt } = delivery
  const parts = [
    say.attempts(attempts),
    ...(lastStatus === undefined ? [] : [say.answered(lastStatus)]),
    ...(status === 'pending' && nextAttemptAt ? [say.next(timeAt(nextAttemptAt))] : []),
    ...(deliveredAt ? [timeAt(deliveredAt)] : []),
  ]
  return (
    <li>
      <div>
        <span class={`state ${status}`}>{say.deliveries[status]}</span> <code>{endpoint}</code>
        <p class="hint">
          {parts.join(' · ')}
          {status !== 'delivered' && lastError && ` · ${attention.error(lastError)}`}
        </p>
      </div>
      <Redeliver id={id} event={type} endpoint={endpoint} onDone={onDone} />
    </li>
  )
}

const timeAt = (at: string): string => timeOf(Date.parse(at), now.peek())
