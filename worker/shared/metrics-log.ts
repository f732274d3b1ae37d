// Metrics as log lines, for platforms without an endpoint for them: what an isolate counted, at
// most one line a minute. It has no timer, so an isolate without requests writes nothing, and its
// counts since the last line are lost.

import type { Clock } from './clock.ts'
import type { Log } from './log.ts'
import { Metrics } from './metrics.ts'

const LINE_EVERY_MS = 60_000

export interface LoggedMetrics {
  metrics: Metrics
  /** Writes the changes now. For callers that run each minute. */
  flush(): void
}

export function logMetrics(log: Log, { now }: Pick<Clock, 'now'>): LoggedMetrics {
  /** Not before the first change: while a Worker is loaded, there is no time. */
  let lineAt: number | undefined
  let written = new Map<string, number>()
  const metrics = new Metrics(() => {
    lineAt ??= now()
    if (now() - lineAt >= LINE_EVERY_MS) flush()
  })

  function flush(): void {
    const families = metrics.read()
    const values = families.flatMap(({ type, series, values: current }) =>
      series.flatMap((name, at) => {
        const value = current[at] ?? 0
        const before = written.get(name) ?? 0
        // Counters as what was added, so that a sum over lines is right for many isolates.
        return value === before ? [] : [[name, type === 'gauge' ? value : value - before] as const]
      }),
    )
    const spanMs = now() - (lineAt ?? now())
    lineAt = now()
    written = new Map(
      families.flatMap(({ series, values: current }) =>
        series.map((name, at) => [name, current[at] ?? 0] as const),
      ),
    )
    if (values.length > 0) log('info', 'metrics', { spanMs, values: Object.fromEntries(values) })
  }

  return { metrics, flush }
}
