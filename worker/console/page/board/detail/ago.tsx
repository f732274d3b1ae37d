// A time as its age; the date stands in its title.

import { now } from '../../clock.ts'
import { ago, dateOf } from '../../times.ts'

/** `at` as it stands in a file: what is no time is shown as it is. */
export function Ago({ at }: { at: string }) {
  const ms = Date.parse(at)
  if (Number.isNaN(ms)) return <>{at}</>
  return (
    <time dateTime={at} title={dateOf(ms)}>
      {ago(ms, now.value)}
    </time>
  )
}
