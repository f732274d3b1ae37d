// How current what is shown is, and the lamp that says so: never greener than what is known. Pure.

import { problemText } from '../../data/http.ts'
import type { Reading } from '../../frame/lamp.ts'
import { timeOf } from '../../ui/time-text.ts'
import { words } from '../../words.ts'

export type Freshness =
  | { name: 'first' }
  /** `asOf` in ms: it was so then. */
  | { name: 'current'; asOf: number }
  /** The last round failed; another one follows. */
  | { name: 'unreached'; asOf?: number; problem: unknown }

/** Two rounds and a slow answer. A timer that a browser holds back says nothing by itself. */
const LATE_MS = 15_000

/** `now` in ms. */
export function readFreshness(freshness: Freshness, now: number): Reading {
  const { freshness: say } = words.payments
  switch (freshness.name) {
    case 'first':
      return { lamp: 'caution', text: words.loading }
    case 'current': {
      const { asOf } = freshness
      const text = say.asOf(timeOf(asOf, now))
      if (now - asOf > LATE_MS) return { lamp: 'caution', text, hint: say.late }
      return { lamp: 'go', text, hint: say.hint }
    }
    case 'unreached': {
      const { asOf } = freshness
      const text = asOf === undefined ? say.neverReached : say.notReached(timeOf(asOf, now))
      return { lamp: 'stop', text, hint: problemText(freshness.problem) }
    }
  }
}
