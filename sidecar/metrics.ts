// What is counted about a sidecar.

import type { Metrics } from '../worker/shared/metrics.ts'
import type { Health } from './health.ts'
import type { Failure, FailureReason } from './publish/edge.ts'

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

export type SidecarMetrics = ReturnType<typeof sidecarMetrics>

/** For all boards that a process publishes. */
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
  const boards = gauge('boards', 'Boards that are published.')
  const late = gauge('boards_behind', 'Boards of which the edge does not have everything yet.')
  const unwatched = gauge(
    'boards_unwatched',
    'Boards whose watcher has failed: changes are found by scans.',
  )
  const missing = gauge('boards_missing', 'Boards whose folder is not there.')
  const connected = gauge(
    'connected',
    '1 while the last answer of the edge was a good one, for each board, else 0.',
  )
  const pending = gauge('pending_records', 'Records that were not sent to the edge yet.')
  const files = gauge('files', 'Files of the boards.')
  const syncedAt = gauge(
    'last_sync_timestamp_seconds',
    'When the edge last held everything of each board, as Unix time; 0 before that.',
  )
  return {
    onPublished: (ms: number) => saved.observe(ms / 1_000),
    onFailure: ({ reason }: Pick<Failure, 'reason'>) => failures.add({ reason }),
    /** `health` is called when the metrics are read. */
    watch(health: () => Health): void {
      metrics.beforeRead(() => {
        const now = health()
        boards.set({}, now.boards.length)
        late.set({}, now.boards.filter(({ behind }) => behind).length)
        unwatched.set({}, now.boards.filter((board) => board.unwatched).length)
        missing.set({}, now.boards.filter(({ store }) => store === 'missing').length)
        connected.set({}, now.connected ? 1 : 0)
        pending.set({}, now.dirty)
        files.set({}, now.files)
        syncedAt.set({}, (now.lastSyncAt ?? 0) / 1_000)
      })
    },
  }
}
