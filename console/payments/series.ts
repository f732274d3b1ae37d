// Webhooks per minute by outcome, for the plot and the table. Pure.

import type { WebhookEvent, WebhookRates } from '../../libraries/api/types.ts'

type Outcome = WebhookEvent['outcome'] | 'refused'

/** From the bottom of a bar to the top, good outcomes first. */
export const OUTCOMES: Readonly<Record<Outcome, string>> = {
  applied: 'applied',
  unchanged: 'unchanged',
  parked: 'parked',
  illegal: 'illegal',
  rejected: 'rejected',
  late_payment: 'late',
  refused: 'refused',
}

const MINUTE_MS = 60_000

export interface Series {
  /** The start of each minute, in ms, without gaps. */
  minutes: readonly number[]
  /** Outcomes that occurred, each with its count for every minute. */
  outcomes: readonly { outcome: Outcome; counts: readonly number[]; total: number }[]
  total: number
}

export function seriesOf({ from, to, minutes, refused }: WebhookRates): Series {
  const start = Date.parse(from)
  const length = Math.round((Date.parse(to) - start) / MINUTE_MS)
  const known = new Map(minutes.map(({ at, outcomes }) => [Date.parse(at), outcomes]))
  const refusedIn = (minute: number) =>
    sum(refused.filter(({ at }) => Date.parse(at) === minute).map(({ count }) => count))
  const all = Array.from({ length }, (_, at) => start + at * MINUTE_MS)
  const outcomes = (Object.keys(OUTCOMES) as Outcome[])
    .map((outcome) => {
      const counts = all.map((minute) =>
        outcome === 'refused' ? refusedIn(minute) : (known.get(minute)?.[outcome] ?? 0),
      )
      return { outcome, counts, total: sum(counts) }
    })
    .filter(({ total }) => total > 0)
  return { minutes: all, outcomes, total: sum(outcomes.map(({ total }) => total)) }
}

/** For each outcome, how high its part of each bar ends: each on top of those before it. */
export function stacked(outcomes: Series['outcomes']): number[][] {
  let below: readonly number[] = []
  return outcomes.map(({ counts }) => {
    const tops = counts.map((count, at) => count + (below[at] ?? 0))
    below = tops
    return tops
  })
}

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000]

/** The marks of an axis from 0 to `highest`: whole numbers, since it counts webhooks. */
export function marksOf(highest: number): number[] {
  const step = STEPS.find((some) => highest / some <= 4) ?? highest
  return Array.from({ length: Math.floor(highest / step) + 1 }, (_, at) => at * step)
}

const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0)
