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
}

/**
 * A sidecar syncs every five minutes, even without changes. If a sync is overdue by more than a
 * slow start takes, the sidecar counts as offline.
 */
export const SYNC_MS = 5 * 60_000
const GRACE_MS = 60_000
/** A sync takes a moment, and so does the restart of an edge. */
const SOON_MS = 10_000

export type SidecarState =
  | { name: 'unknown' }
  | { name: 'online'; lastSeenAt: number }
  | { name: 'offline'; lastSeenAt: number }

/** `now` in ms. */
export function sidecarState(status: BoardStatus | undefined, now: number): SidecarState {
  const lastSeenAt = Date.parse(status?.sidecar.lastSeenAt ?? '')
  if (Number.isNaN(lastSeenAt)) return { name: 'unknown' }
  return { name: now - lastSeenAt > SYNC_MS + GRACE_MS ? 'offline' : 'online', lastSeenAt }
}

/**
 * The wait until the next read, in ms: until after the next sync, or a minute if that is overdue.
 */
export function nextReadMs(status: BoardStatus | undefined, now: number): number {
  const state = sidecarState(status, now)
  if (state.name !== 'online') return GRACE_MS
  return Math.max(SOON_MS, state.lastSeenAt + SYNC_MS + SOON_MS - now)
}
