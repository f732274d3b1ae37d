// How the boards of a process are, for health checks and metrics.

import type { PublisherStatus } from './publish/publisher.ts'

export interface SidecarStatus extends PublisherStatus {
  files: number
}

/**
 * For all boards: connected if each is, behind or unwatched if one is, and the oldest `lastSyncAt`.
 */
export interface Health extends SidecarStatus {
  boards: readonly BoardHealth[]
}

export interface BoardHealth extends SidecarStatus {
  /** Its name at the edge. */
  board: string
}

export function healthOf(boards: readonly BoardHealth[]): Health {
  const oldest = (times: (number | null)[]) =>
    times.reduce((a, b) => (a === null || b === null ? null : Math.min(a, b)), times[0] ?? null)
  const sum = (counts: number[]) => counts.reduce((a, b) => a + b, 0)
  return {
    connected: boards.length > 0 && boards.every((it) => it.connected),
    lastSyncAt: oldest(boards.map((it) => it.lastSyncAt)),
    lastPublishedAt: oldest(boards.map((it) => it.lastPublishedAt)),
    dirty: sum(boards.map((it) => it.dirty)),
    behind: boards.some((it) => it.behind),
    lastError: boards.find((it) => it.lastError !== null)?.lastError ?? null,
    store: (boards.find((it) => it.store !== 'present') ?? boards[0])?.store ?? null,
    unwatched: boards.some((it) => it.unwatched),
    files: sum(boards.map((it) => it.files)),
    boards,
  }
}
