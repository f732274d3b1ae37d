// What is counted about boards.

import type { Metrics } from '../shared/metrics.ts'
import type { BoardRow } from './directory/directory.ts'
import type { PublishOutcome } from './repository/repositories.ts'
import { STREAM_ENDS } from './streams/stream.ts'

const STEPS = ['root', 'buckets', 'entries', 'end', 'changes'] as const
const OUTCOMES = ['accepted', 'sync_required', 'superseded', 'stale_batch'] as const
const SIDECARS = ['running', 'offline', 'ended', 'missing'] as const
const RECORD_BOUNDS = [0, 1, 2, 5, 10, 50, 100, 500, 1_000, 5_000]

export type BoardMetrics = ReturnType<typeof boardMetrics>

export function boardMetrics(metrics: Metrics) {
  const signals = metrics.counter(
    'signalbox_signals_total',
    'Change messages that repositories sent to their streams.',
    {},
  )
  const requests = metrics.counter(
    'signalbox_publish_requests_total',
    'Messages of sidecars: the steps of a sync, and batches of changes.',
    { step: STEPS, outcome: OUTCOMES },
  )
  const records = metrics.histogram(
    'signalbox_batch_records',
    'Records in an accepted batch of changes, deletions included.',
    RECORD_BOUNDS,
  )
  const boards = metrics.gauge(
    'signalbox_boards',
    'Boards in the list of the edge: their sidecar runs, is gone without a word (offline) or was ' +
      'stopped (ended), or their folder is missing.',
    { sidecar: SIDECARS },
  )
  return {
    /** `isPublishing`: whether a sidecar has published this board lately. */
    listed(rows: readonly BoardRow[], isPublishing: (path: string) => boolean): void {
      const counts = { running: 0, offline: 0, ended: 0, missing: 0 }
      for (const { path, report } of rows) {
        if (report.store === 'missing') counts.missing++
        else if (report.sidecar.state === 'ended') counts.ended++
        else counts[isPublishing(path) ? 'running' : 'offline']++
      }
      for (const sidecar of SIDECARS) boards.set({ sidecar }, counts[sidecar])
    },
    streams: metrics.gauge('signalbox_streams', 'Open event streams.', {}),
    streamEnds: metrics.counter('signalbox_stream_ends_total', 'Event streams that ended.', {
      reason: STREAM_ENDS,
    }),
    published(step: (typeof STEPS)[number], outcome: PublishOutcome<unknown>, size?: number): void {
      requests.add({ step, outcome: outcome.ok ? 'accepted' : outcome.reason })
      if (!outcome.ok) return
      if (outcome.signals > 0) signals.add({}, outcome.signals)
      if (size !== undefined) records.observe(size)
    },
  }
}
