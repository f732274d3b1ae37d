// What a gateway told, and what became of it.

import type { EventRecord } from '../../../worker/payments/queries/queries.ts'
import { dateOf } from '../../ui/time-text.ts'
import { words } from '../../words.ts'
import { Fault, Ids, Money, StatusBadge } from '../elements.tsx'
import { isRecheck, legible } from './timeline.ts'

/** Clocks differ, and a webhook takes its time: less than this is not worth a word. */
const WORTH_SAYING_MS = 60_000

export function WebhookEntry({ event }: { event: EventRecord }) {
  const { story: say } = words.payments
  const { outcome, isMismatch, error, raw, eventId, correlationId } = event
  return (
    <>
      <h3>
        {isRecheck(event) ? say.recheck : say.webhook} <Move event={event} />
      </h3>
      <p>
        <span class={`state ${outcome}`}>{say.outcomes[outcome]}</span>{' '}
        <Money amount={event.amount} currency={event.currency} />
        {isMismatch && <span class="mismatch"> {mismatchOf(event)}</span>}
      </p>
      <Lateness event={event} />
      {error && <Fault error={error} />}
      <Ids
        of={[
          [say.eventId, eventId],
          [say.correlation, correlationId],
        ]}
      />
      {raw !== undefined && (
        <details>
          <summary>{say.raw}</summary>
          <pre>{legible(raw)}</pre>
        </details>
      )}
    </>
  )
}

function mismatchOf({ toStatus }: EventRecord): string {
  const { story: say } = words.payments
  return toStatus === 'Paid' ? say.mismatch : say.refundMismatch
}

/** What moved, or what it would have moved to. */
function Move({ event }: { event: EventRecord }) {
  const { story: say, status: statuses } = words.payments
  const { fromStatus, toStatus, outcome } = event
  if (outcome !== 'applied' || fromStatus === undefined) {
    return <span class="says">{say.says(statuses[toStatus])}</span>
  }
  return (
    <span class="move">
      <StatusBadge status={fromStatus} />
      <span class="visually-hidden">{say.becomes}</span>
      <span aria-hidden="true" class="arrow" />
      <StatusBadge status={toStatus} />
    </span>
  )
}

function Lateness({ event: { occurredAt, receivedAt } }: { event: EventRecord }) {
  const at = Date.parse(occurredAt)
  if (Math.abs(Date.parse(receivedAt) - at) < WORTH_SAYING_MS) return null
  return <p class="hint">{words.payments.story.occurred(dateOf(at))}</p>
}
