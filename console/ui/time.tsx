// A moment of a file or an answer, as its age or its time of day; its date stands in the title.

import { computed } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { now } from '../data/clock.ts'
import { ago, dateOf, timeOf } from './time-text.ts'

interface MomentProps {
  /** ISO 8601; whatever else stands there is shown as it is. */
  at: string
}

/** Its text alone moves with the clock; nothing around it is drawn again. */
export function Age({ at }: MomentProps) {
  const text = useMemo(() => computed(() => ago(Date.parse(at), now.value)), [at])
  return <Moment at={at} text={() => text} />
}

/** A time of day, with its date unless it is today's. */
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
