// What is counted about a sidecar.

import type { Metrics } from '../worker/shared/metrics.ts'
import type { Failure, FailureReason } from './publish/edge.ts'
import type { PublisherStatus } from './publish/publisher.ts'

const REASONS = [
  'network',
  'timeout',
  'busy',
  'unauthorized',
  'conflict',
  'version',
  'too_large',
  'refused',
  'malformed',
] as const satisfies FailureReason[]
/** Most of a save's way is the window of 100 ms. */
const SECONDS = [0.1, 0.125, 0.15, 0.2, 0.3, 0.5, 0.75, 1, 2.5, 5, 10, 60]

export function sidecarMetrics(metrics: Metrics) {
  const saved = metrics.histogram(
    'signalbox_sidecar_save_to_edge_seconds',
    'From the first file event of a window until the edge had its changes.',
    SECONDS,
  )
  const failures = metrics.counter(
    'signalbox_sidecar_publish_failures_total',
    'Attempts to publish that the edge did not accept.',
    { reason: REASONS },
  )
  const gauge = (name: string, help: string) => metrics.gauge(`signalbox_sidecar_${name}`, help, {})
  const connected = gauge(
    'connected',
    '1 while the last answer of the edge was a good one, else 0.',
  )
  const pending = gauge('pending_records', 'Records that were not sent to the edge yet.')
  const files = gauge('files', 'Files of the board.')
  const syncedAt = gauge(
    'last_sync_timestamp_seconds',
    'When the edge last held everything, as Unix time; 0 before that.',
  )
  return {
    onPublished: (ms: number) => saved.observe(ms / 1_000),
    onFailure: ({ reason }: Pick<Failure, 'reason'>) => failures.add({ reason }),
    /** `status` is called when the metrics are read. */
    watch(status: () => PublisherStatus, countFiles: () => number): void {
      metrics.beforeRead(() => {
        const now = status()
        connected.set({}, now.connected ? 1 : 0)
        pending.set({}, now.dirty)
        files.set({}, countFiles())
        syncedAt.set({}, (now.lastSyncAt ?? 0) / 1_000)
      })
    },
  }
}
