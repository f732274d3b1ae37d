// The answer of `GET /api/status`, and the state of the sidecar that follows from it. Pure.

import type { BoardConfig, LayoutName } from '../../../worker/board/wire.ts'

export interface BoardStatus {
  layout?: LayoutName
  config?: Omit<BoardConfig, 'layout'>
  store?: 'present' | 'missing'
  counts: { tasks: number; sessions: number; runs: number }
  sidecar: { lastSeenAt?: string; version?: string }
  streams: number
  awakeSince: string
  /** The clock of the edge. */
  now?: string
}

/** As it was read: with how far the clock here is ahead of the edge's, in ms. */
export type ReadStatus = BoardStatus & { aheadMs: number }

/**
 * The browser may answer from its cache, when nothing has changed: then the edge's time is older,
 * and the difference looks greater. So the least one counts.
 */
export function readStatus(status: BoardStatus, now: number, before?: ReadStatus): ReadStatus {
  const ahead = now - Date.parse(status.now ?? '')
  const known = before?.aheadMs ?? Number.POSITIVE_INFINITY
  return { ...status, aheadMs: Number.isNaN(ahead) ? 0 : Math.min(ahead, known) }
}

/**
 * A sidecar syncs every half minute, even without changes. If a sync is overdue by more than a
 * slow one takes, the sidecar counts as offline: within a minute, nobody takes its board for
 * current.
 */
export const SYNC_MS = 30_000
const GRACE_MS = 20_000
/** A sync takes a moment. */
const SOON_MS = 5_000
const OFFLINE_READ_MS = 30_000

export type SidecarState =
  | { name: 'unknown' }
  | { name: 'online'; lastSeenAt: number }
  | { name: 'offline'; lastSeenAt: number }

/** By the clock here, as `now` is, in ms. */
export function sidecarState(status: ReadStatus | undefined, now: number): SidecarState {
  const lastSeenAt = Date.parse(status?.sidecar.lastSeenAt ?? '') + (status?.aheadMs ?? 0)
  if (Number.isNaN(lastSeenAt)) return { name: 'unknown' }
  return { name: now - lastSeenAt > SYNC_MS + GRACE_MS ? 'offline' : 'online', lastSeenAt }
}

/**
 * The wait until the next read, in ms: until after the next sync, or half a minute without one.
 */
export function nextReadMs(status: ReadStatus | undefined, now: number): number {
  const state = sidecarState(status, now)
  if (state.name !== 'online') return OFFLINE_READ_MS
  return Math.max(SOON_MS, state.lastSeenAt + SYNC_MS + SOON_MS - now)
}
