import { describe, expect, it } from 'vitest'
import {
  nextReadMs,
  type ReadStatus,
  readStatus,
  SYNC_MS,
  sidecarState,
} from '../../../../console/data/live/status.ts'

const SEEN = Date.parse('2026-03-02T10:00:00Z')
const status: ReadStatus = {
  counts: { tasks: 1, sessions: 0, runs: 0 },
  sidecar: { lastSeenAt: '2026-03-02T10:00:00Z', version: '0.1.0' },
  streams: 1,
  awakeSince: '2026-03-02T09:00:00Z',
  aheadMs: 0,
}

describe('the state of the sidecar', () => {
  it('is unknown before it was ever seen', () => {
    expect(sidecarState(undefined, SEEN)).toEqual({ name: 'unknown' })
    expect(sidecarState({ ...status, sidecar: {} }, SEEN)).toEqual({ name: 'unknown' })
  })

  it('is online until its next sync is overdue, and offline within a minute', () => {
    const lastSeenAt = SEEN
    const limit = SEEN + 50_000
    expect(sidecarState(status, limit)).toEqual({ name: 'online', lastSeenAt })
    expect(sidecarState(status, limit + 1)).toEqual({ name: 'offline', lastSeenAt })
  })

  it('is judged by the clock of the edge, also where the answer came from the cache', () => {
    const hour = 3_600_000
    const now = '2026-03-02T10:00:10Z'
    const first = readStatus({ ...status, now }, SEEN + hour + 10_000)
    expect(first.aheadMs).toBe(hour)
    expect(sidecarState(first, SEEN + hour + 50_000).name).toBe('online')
    const cached = readStatus({ ...status, now }, SEEN + hour + 55_000, first)
    expect(sidecarState(cached, SEEN + hour + 55_000)).toMatchObject({ name: 'offline' })
  })

  it('is read again just after the next sync is due, and twice a minute while it is overdue', () => {
    expect(nextReadMs(status, SEEN)).toBe(SYNC_MS + 5_000)
    expect(nextReadMs(status, SEEN + SYNC_MS + 15_000)).toBe(5_000)
    expect(nextReadMs(status, SEEN + 2 * SYNC_MS)).toBe(30_000)
    expect(nextReadMs(undefined, SEEN)).toBe(30_000)
  })
})
