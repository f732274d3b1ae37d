// GET /healthz and /metrics, for monitoring of the sidecar. On the loopback address only: they
// need no token.

import type { Metrics } from '../worker/shared/metrics.ts'
import { type MonitorServer, serveMetrics } from '../worker/shared/metrics-node.ts'
import type { Health, SidecarStatus } from './health.ts'

/** Healthy: the edge held every board once, and answers. Rejects when the port is taken. */
export const serveHealthz = (
  port: number,
  health: () => Health,
  metrics: Metrics,
): Promise<MonitorServer> =>
  serveMetrics(
    metrics,
    { hostname: '127.0.0.1', port },
    { '/healthz': () => healthzPage(health()) },
  )

function healthzPage({ boards, ...all }: Health) {
  const isOk = all.connected && all.lastSyncAt !== null
  const body = JSON.stringify({
    status: isOk ? 'ok' : 'unavailable',
    ...withTimes(all),
    rssBytes: process.memoryUsage.rss(),
    boards: boards.map(withTimes),
  })
  return { status: isOk ? 200 : 503, type: 'application/json', body }
}

const withTimes = <Status extends SidecarStatus>(status: Status) => ({
  ...status,
  lastSyncAt: time(status.lastSyncAt),
  lastPublishedAt: time(status.lastPublishedAt),
})

const time = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())
