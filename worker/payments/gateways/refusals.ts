// Webhooks that were refused, which are stored nowhere: counted for a day, by minute. One counter
// is beside each ledger, as the guard is, so that all Workers count and show the same.

import type { Clock } from '../../shared/clock.ts'
import type { Refused } from '../domain/status.ts'

/** By gateway. */
export type RefusedCounts = Readonly<Record<string, Readonly<Partial<Record<Refused, number>>>>>

/** Times in ms since 1970. */
export interface RefusedWebhooks {
  /** When the counting began. */
  since: number
  /** `at`: the start of the minute. */
  minutes: readonly { at: number; counts: RefusedCounts }[]
}

export interface Refusals {
  countRefused(counts: RefusedCounts): Promise<void>
  /** In the minutes from `from` on, oldest first. */
  refused(from: number): Promise<RefusedWebhooks>
}

/** Keeps one value: memory, or durable storage where processes are short-lived. */
export interface RefusalStore {
  get(): RefusedWebhooks | undefined
  set(counted: RefusedWebhooks): void
}

const MINUTE_MS = 60_000
const KEPT_MS = 24 * 60 * MINUTE_MS

function memory(): RefusalStore {
  let counted: RefusedWebhooks | undefined
  return {
    get: () => counted,
    set: (value) => {
      counted = value
    },
  }
}

export function createRefusals(clock: Pick<Clock, 'now'>, store = memory()): Refusals {
  const began = { since: clock.now(), minutes: [] }
  const counted = (from: number): RefusedWebhooks => {
    const { since, minutes } = store.get() ?? began
    return { since, minutes: minutes.filter(({ at }) => at >= from) }
  }
  return {
    async countRefused(counts) {
      const at = Math.floor(clock.now() / MINUTE_MS) * MINUTE_MS
      const { since, minutes } = counted(at - KEPT_MS)
      const known = minutes.find((minute) => minute.at === at)
      const others = minutes.filter((minute) => minute !== known)
      const minute = { at, counts: sumOf(known?.counts ?? {}, counts) }
      store.set({ since, minutes: [...others, minute] })
    },
    refused: async (from) => counted(from),
  }
}

export function sumOf(one: RefusedCounts, other: RefusedCounts): RefusedCounts {
  const sum: Record<string, Partial<Record<Refused, number>>> = structuredClone(one)
  for (const [gateway, counts] of Object.entries(other)) {
    for (const [why, count] of Object.entries(counts) as [Refused, number][]) {
      sum[gateway] = { ...sum[gateway], [why]: (sum[gateway]?.[why] ?? 0) + count }
    }
  }
  return sum
}
