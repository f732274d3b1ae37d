// A time as its age or as a time of day, with the full date in the tooltip; and the page's only
// ticking clock.

import { computed, signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { ago, dateOf, lasting, timeOf } from './format.ts'

const TICK_MS = 1_000

/** In ms; moves once a second while the page is visible. */
export const now = signal(Date.now())

setInterval(() => {
  if (!document.hidden) now.value = Date.now()
}, TICK_MS)
document.addEventListener('visibilitychange', () => {
  now.value = Date.now()
})

interface MomentProps {
  /** ISO 8601. Any other text is shown unchanged. */
  at: string
}

/** Only this text is rendered again with the clock, not its surroundings. */
export function Age({ at }: MomentProps) {
  const text = useMemo(() => computed(() => ago(Date.parse(at), now.value)), [at])
  return <Moment at={at} text={() => text} />
}

/** How long it lasts since then, in ms. */
export function Lasting({ since }: { since: number }) {
  const text = useMemo(() => computed(() => lasting(now.value - since)), [since])
  return <Moment at={new Date(since).toISOString()} text={() => text} />
}

/** A time of day, with the date unless it is today. */
export const Time = ({ at }: MomentProps) => <Moment at={at} text={() => timeAt(at)} />

/** A time with its age, for lists that people look through by date. */
export const DatedAge = ({ at }: MomentProps) => (
  <>
    <Time at={at} />{' '}
    <span class="hint">
      <Age at={at} />
    </span>
  </>
)

/** A time of day as text, which does not move with the clock. */
export const timeAt = (at: string): string => timeOf(Date.parse(at), now.peek())

function Moment({ at, text }: MomentProps & { text(): ComponentChildren }) {
  const ms = Date.parse(at)
  if (Number.isNaN(ms)) return <>{at}</>
  return (
    <time dateTime={at} title={dateOf(ms)}>
      {text()}
    </time>
  )
}
