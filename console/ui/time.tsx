// A time as its age or as a time of day, with the full date in the tooltip.

import { computed } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { now } from '../data/clock.ts'
import { ago, dateOf, timeOf } from './time-text.ts'

interface MomentProps {
  /** ISO 8601. Any other text is shown unchanged. */
  at: string
}

/** Only this text is rendered again with the clock, not its surroundings. */
export function Age({ at }: MomentProps) {
  const text = useMemo(() => computed(() => ago(Date.parse(at), now.value)), [at])
  return <Moment at={at} text={() => text} />
}

/** A time of day, with the date unless it is today. */
export const Time = ({ at }: MomentProps) => (
  <Moment at={at} text={(ms) => timeOf(ms, now.peek())} />
)

function Moment({ at, text }: MomentProps & { text(ms: number): ComponentChildren }) {
  const ms = Date.parse(at)
  if (Number.isNaN(ms)) return <>{at}</>
  return (
    <time dateTime={at} title={dateOf(ms)}>
      {text(ms)}
    </time>
  )
}
