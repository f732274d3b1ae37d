// Statistics of measured values. Pure.

/** The smallest value that at least `percent` of all values do not exceed (nearest rank). */
export function percentile(values: readonly number[], percent: number): number {
  if (values.length === 0) return Number.NaN
  const sorted = values.toSorted((a, b) => a - b)
  const rank = Math.ceil((percent / 100) * sorted.length)
  return sorted[Math.min(Math.max(rank, 1), sorted.length) - 1] ?? Number.NaN
}

/** Two decimals: across processes, the clock is not more precise. */
export const rounded = (value: number): number => Math.round(value * 100) / 100
