// Serves the metrics of a process as text for Prometheus, on a separate port: a proxy in front of
// the edge cannot expose them. For hosts with node:http (Node, Deno).

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import { maxDescriptors, openDescriptors } from './descriptors-node.ts'
import { isLoopback } from './loopback.ts'
import type { Metrics } from './metrics.ts'

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** Prometheus' text format. @forTests Without a port. */
export function metricsText(metrics: Metrics): string {
  const blocks = metrics.read().map(({ name, type, help, series, values }) => {
    const lines = series.map((each, at) => `${each} ${values[at]}`)
    return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].join('\n')
  })
  return `${blocks.join('\n')}\n`
}

/** Under the names that Prometheus' own clients use, so that existing dashboards show them. */
export function processMetrics(metrics: Metrics): void {
  const rss = metrics.gauge('process_resident_memory_bytes', 'Memory of the process.', {})
  const cpu = metrics.counter('process_cpu_seconds_total', 'CPU time of the process.', {})
  const start = metrics.gauge('process_start_time_seconds', 'When it started, as Unix time.', {})
  const moved = metrics.gauge(
    'signalbox_clock_moved_seconds',
    'How far the time of day was set ahead since the process started; below 0: back.',
    {},
  )
  start.set({}, performance.timeOrigin / 1_000)
  const open = metrics.gauge('process_open_fds', 'Descriptors that are open.', {})
  const max = metrics.gauge('process_max_fds', 'Descriptors that it may have.', {})
  max.set({}, maxDescriptors() ?? Number.NaN)
  let counted = 0
  metrics.beforeRead(() => {
    open.set({}, openDescriptors() ?? Number.NaN)
    const { user, system } = process.cpuUsage()
    const seconds = (user + system) / 1e6
    cpu.add({}, seconds - counted)
    counted = seconds
    moved.set({}, (Date.now() - performance.timeOrigin - performance.now()) / 1_000)
    rss.set({}, residentBytes())
  })
}

/** NaN, which changes no gauge, where no descriptor is free to ask the system. */
function residentBytes(): number {
  try {
    return process.memoryUsage().rss
  } catch {
    return Number.NaN
  }
}

export interface MonitorServer {
  port: number
  close(): Promise<void>
}

interface Page {
  status?: number
  type: string
  body: string
}

/**
 * `GET /metrics`, and other pages by their path. `port` 0: any free port. Rejects when the port is
 * taken; cuts off what is under way at its end.
 */
export async function serveMetrics(
  metrics: Metrics,
  { hostname, port }: { hostname: string; port: number },
  others: Readonly<Record<string, () => Page>> = {},
): Promise<MonitorServer> {
  const shown = () => ({ type: METRICS_TYPE, body: metricsText(metrics) })
  const pages: typeof others = { '/metrics': shown, ...others }
  const server = createServer((request, response) => {
    const { host = '', ...rest } = request.headers
    // A web page may have pointed its own host name at the loopback address of this machine.
    const isForeign = !isLoopback(URL.parse(`http://${host}`)?.hostname ?? '') || 'origin' in rest
    // A target such as `//` is no URL at all: to throw here would end the process.
    const page = pages[URL.parse(request.url ?? '', 'http://127.0.0.1')?.pathname ?? '']
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (isLoopback(hostname) && isForeign) response.writeHead(403).end()
    else if (!page) response.writeHead(404).end()
    else if (!isRead) response.writeHead(405).end()
    else {
      const { status = 200, type, body } = page()
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body)
    }
  })
  server.listen(port, hostname)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
