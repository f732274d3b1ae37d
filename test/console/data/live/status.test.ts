import { describe, expect, it } from 'vitest'
import {
  type BoardStatus,
  nextReadMs,
  SYNC_MS,
  sidecarState,
} from '../../../../console/data/live/status.ts'

const SEEN = Date.parse('2026-03-02T10:00:00Z')
const status: BoardStatus = {
  counts: { tasks: 1, sessions: 0, runs: 0 },
  sidecar: { lastSeenAt: '2026-03-02T10:00:00Z', version: '0.1.0' },
  streams: 1,
  awakeSince: '2026-03-02T09:00:00Z',
}

describe('the state of the sidecar', () => {
  it('is unknown before it was ever seen', () => {
    expect(sidecarState(undefined, SEEN)).toEqual({ name: 'unknown' })
    expect(sidecarState({ ...status, sidecar: {} }, SEEN)).toEqual({ name: 'unknown' })
  })

  it('is online until its next sync is a minute overdue, then offline', () => {
    const lastSeenAt = SEEN
    const limit = SEEN + SYNC_MS + 60_000
    expect(sidecarState(status, limit)).toEqual({ name: 'online', lastSeenAt })
    expect(sidecarState(status, limit + 1)).toEqual({ name: 'offline', lastSeenAt })
  })

  it('is read again just after the next sync is due, and each minute while it is overdue', () => {
    expect(nextReadMs(status, SEEN)).toBe(SYNC_MS + 10_000)
    expect(nextReadMs(status, SEEN + SYNC_MS + 30_000)).toBe(10_000)
    expect(nextReadMs(status, SEEN + 2 * SYNC_MS)).toBe(60_000)
    expect(nextReadMs(undefined, SEEN)).toBe(60_000)
  })
})
