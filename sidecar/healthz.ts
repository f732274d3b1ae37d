// GET /healthz and /metrics, for monitoring of the sidecar. On the loopback address only: they
// need no token.

import { createServer } from 'node:http'
import type { Metrics } from '../worker/shared/metrics.ts'
import {
  listen,
  METRICS_TYPE,
  type MonitorServer,
  metricsText,
} from '../worker/shared/metrics-node.ts'
import type { Health, SidecarStatus } from './health.ts'

/** Healthy: the edge held every board once, and answers. Rejects when the port is taken. */
export async function serveHealthz(
  port: number,
  health: () => Health,
  metrics: Metrics,
): Promise<MonitorServer> {
  const server = createServer((request, response) => {
    // A web page may have pointed its own host name at this machine, and could read the answer.
    if (!/^(localhost|127\.0\.0\.1)(:\d+)?$/.test(request.headers.host ?? '')) {
      response.writeHead(403).end()
      return
    }
    // A target such as `//` is no URL at all: to throw here would end the sidecar.
    const path = URL.parse(request.url ?? '', 'http://127.0.0.1')?.pathname
    const isHere = path === '/healthz' || path === '/metrics'
    if (!isHere || (request.method !== 'GET' && request.method !== 'HEAD')) {
      response.writeHead(isHere ? 405 : 404).end()
      return
    }
    if (path === '/metrics') {
      response.writeHead(200, { 'content-type': METRICS_TYPE }).end(metricsText(metrics))
      return
    }
    const { boards, ...all } = health()
    const isOk = all.connected && all.lastSyncAt !== null
    const body = JSON.stringify({
      status: isOk ? 'ok' : 'unavailable',
      ...withTimes(all),
      rssBytes: process.memoryUsage.rss(),
      boards: boards.map(withTimes),
    })
    response.writeHead(isOk ? 200 : 503, {
      'content-type': 'application/json',
      'cache-control': 'no-store',
    })
    response.end(body)
  })
  return await listen(server, { hostname: '127.0.0.1', port })
}

const withTimes = <Status extends SidecarStatus>(status: Status) => ({
  ...status,
  lastSyncAt: time(status.lastSyncAt),
  lastPublishedAt: time(status.lastPublishedAt),
})

const time = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())
