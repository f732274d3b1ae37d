// An event of a gateway, and its outcome.

import type { WebhookEvent } from '../../../api/types.ts'
import { dateOf } from '../../ui/time-text.ts'
import { GatewayError, Ids, Money, StatusBadge } from '../elements.tsx'
import { paymentWords } from '../words.ts'
import { isRecheck, rawText } from './timeline.ts'
import { storyWords } from './words.ts'

/** Clocks differ, and a webhook takes some time: a smaller delay is not shown. */
const MIN_DELAY_MS = 60_000

export function WebhookEntry({ event }: { event: WebhookEvent }) {
  const { outcome, isMismatch, error, raw, eventId, correlationId } = event
  return (
    <>
      <h3>
        {isRecheck(event) ? storyWords.check : storyWords.webhook} <StatusChange event={event} />
      </h3>
      <p>
        <span class={`state ${outcome}`}>{storyWords.outcomes[outcome]}</span>{' '}
        <Money amount={event.amount} currency={event.currency} />
        {isMismatch && <span class="mismatch"> {mismatchOf(event)}</span>}
      </p>
      <Delay event={event} />
      {error && <GatewayError error={error} />}
      <Ids
        of={[
          [storyWords.eventId, eventId],
          [storyWords.correlation, correlationId],
        ]}
      />
      {raw !== undefined && (
        <details>
          <summary>{storyWords.raw}</summary>
          <pre>{rawText(raw)}</pre>
        </details>
      )}
    </>
  )
}

function mismatchOf({ toStatus }: WebhookEvent): string {
  return toStatus === 'Paid' ? storyWords.mismatch : storyWords.refundMismatch
}

/** The change of status, or the status that the gateway reported. */
function StatusChange({ event }: { event: WebhookEvent }) {
  const { status: statuses } = paymentWords
  const { fromStatus, toStatus, outcome } = event
  if (outcome !== 'applied' || fromStatus === undefined) {
    return <span class="says">{storyWords.reports(statuses[toStatus])}</span>
  }
  return (
    <span class="move">
      <StatusBadge status={fromStatus} />
      <span class="visually-hidden">{storyWords.becomes}</span>
      <span aria-hidden="true" class="arrow" />
      <StatusBadge status={toStatus} />
    </span>
  )
}

function Delay({ event: { occurredAt, receivedAt } }: { event: WebhookEvent }) {
  const at = Date.parse(occurredAt)
  if (Math.abs(Date.parse(receivedAt) - at) < MIN_DELAY_MS) return null
  return <p class="hint">{storyWords.occurred(dateOf(at))}</p>
}
