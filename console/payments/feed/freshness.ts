// The lamp for the freshness of payments. Green only if the data is certainly current. Pure.

import { problemText } from '../../data/http.ts'
import type { Freshness } from '../../data/poller.ts'
import type { LampStatus } from '../../frame/lamp.ts'
import { timeOf } from '../../ui/time-text.ts'
import { words } from '../../words.ts'
import { paymentWords } from '../words.ts'

/** Two rounds and a slow response. Computed from the time, since browsers may delay timers. */
const LATE_MS = 15_000

/** `now` in ms. */
export function freshnessLamp(freshness: Freshness, now: number): LampStatus {
  const { freshness: texts } = paymentWords
  switch (freshness.name) {
    case 'loading':
      return { lamp: 'caution', text: words.loading }
    case 'current': {
      const { asOf } = freshness
      const text = texts.asOf(timeOf(asOf, now))
      if (now - asOf > LATE_MS) return { lamp: 'caution', text, hint: texts.late }
      return { lamp: 'go', text, hint: texts.hint }
    }
    case 'unreachable': {
      const { asOf } = freshness
      const text = asOf === undefined ? texts.neverReached : texts.notReached(timeOf(asOf, now))
      return { lamp: 'stop', text, hint: problemText(freshness.problem) }
    }
  }
}
