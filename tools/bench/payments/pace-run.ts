// What is kept of a load at a constant rate: its numbers, and enough of its latencies to see their
// shape. Pure.

import { rounded, type Summary, summarize } from '../statistics.ts'
import type { PaceSample } from './webhooks.ts'

export interface PaceRun extends Omit<PaceSample, 'latencies'> {
  latency: Summary
  /** Latencies in even steps from the quickest on, and each of the slowest. */
  spread: number[]
}

const STEPS = 150
const SLOWEST = 25

export function paceRun({ latencies, ...sample }: PaceSample): PaceRun {
  const { count, p50, p90, p99, max } = summarize(latencies)
  const latency = {
    count,
    p50: rounded(p50),
    p90: rounded(p90),
    p99: rounded(p99),
    max: rounded(max),
  }
  return { ...sample, latency, spread: spreadOf(latencies).map(rounded) }
}

function spreadOf(values: readonly number[]): number[] {
  const sorted = values.toSorted((a, b) => a - b)
  const rest = sorted.slice(0, Math.max(sorted.length - SLOWEST, 0))
  const step = Math.max(rest.length / STEPS, 1)
  const even = Array.from({ length: Math.min(rest.length, STEPS) }, (_, n) => Math.floor(n * step))
  return [...even.flatMap((n) => sorted[n] ?? []), ...sorted.slice(rest.length)]
}
