// Webhooks that were refused, which are stored nowhere: counted for a day, by minute. One counter
// is beside each ledger, as the guard is, so that all Workers count and show the same.

import type { Clock } from '../../shared/clock.ts'
import type { RefusedReason } from '../domain/status.ts'
import { DAY_MS } from '../domain/time.ts'

export interface RefusedRow {
  /** The start of the minute, ms. */
  at: number
  gateway: string
  reason: RefusedReason
  count: number
}

export interface RefusedWebhooks {
  /** When the counting began, ms. */
  since: number
  rows: readonly RefusedRow[]
}

export interface Refusals {
  countRefused(rows: readonly RefusedRow[]): Promise<void>
  /** In the minutes from `from` on. */
  refused(from: number): Promise<RefusedWebhooks>
}

/** A Map, or durable storage where processes are short-lived. */
export interface RefusalStore {
  get(name: 'refused'): RefusedWebhooks | undefined
  set(name: 'refused', value: RefusedWebhooks): void
}

const KEPT_MS = DAY_MS

export function createRefusals({ now }: Clock, store: RefusalStore = new Map()): Refusals {
  const began = now()
  const from = (at: number): RefusedWebhooks => {
    const { since, rows } = store.get('refused') ?? { since: began, rows: [] }
    return { since, rows: rows.filter((row) => row.at >= at) }
  }
  return {
    async countRefused(counted) {
      const { since, rows } = from(now() - KEPT_MS)
      store.set('refused', { since, rows: counted.reduce(withRow, rows) })
    },
    refused: async (at) => from(at),
  }
}

/** One row for each minute, gateway and reason, however many webhooks a flood has. */
export function withRow(rows: readonly RefusedRow[], row: RefusedRow): readonly RefusedRow[] {
  const { at, gateway, reason } = row
  const known = rows.find((it) => it.at === at && it.gateway === gateway && it.reason === reason)
  const others = rows.filter((it) => it !== known)
  return [...others, { ...row, count: row.count + (known?.count ?? 0) }]
}
