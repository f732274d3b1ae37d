import { request } from 'node:http'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { FakeClock } from '../../../libraries/testing/fake-clock.ts'
import { logMetrics, Metrics } from '../../../worker/shared/metrics.ts'
import {
  type MonitorServer,
  metricsText,
  processMetrics,
  serveMetrics,
} from '../../../worker/shared/metrics-node.ts'

const KINDS = { kind: ['a', 'b"'] } as const

describe('the numbers as text', () => {
  it('show each series from the start, in the format of Prometheus', () => {
    const metrics = new Metrics()
    metrics.counter('events_total', 'Events.', KINDS).add({ kind: 'a' }, 2)
    metrics.gauge('open', 'Open ones.', {}).add({}, -1)
    const seconds = metrics.histogram('seconds', 'Time.', [0.1, 1])
    for (const value of [0.1, 0.5, 7]) seconds.observe(value)
    expect(metricsText(metrics)).toBe(`\
# HELP events_total Events.
# TYPE events_total counter
events_total{kind="a"} 2
events_total{kind="b\\""} 0
# HELP open Open ones.
# TYPE open gauge
open -1
# HELP seconds Time.
# TYPE seconds histogram
seconds_bucket{le="0.1"} 1
seconds_bucket{le="1"} 2
seconds_bucket{le="+Inf"} 3
seconds_sum 7.6
seconds_count 3
`)
  })

  it('never get a series that was not declared', () => {
    const metrics = new Metrics()
    const events = metrics.counter('events_total', 'Events.', KINDS)
    const before = metricsText(metrics)
    events.add({ kind: 'of a stranger' as 'a' })
    events.add({ kind: 'a' }, undefined as unknown as number)
    events.add({ kind: 'a' }, Number.NaN)
    metrics.counter('events_total', 'Events.', KINDS).add({ kind: 'a' }, -1)
    expect(metricsText(metrics)).toBe(before)
  })

  it('have those of the process, which is asked when they are read', () => {
    const metrics = new Metrics()
    processMetrics(metrics)
    const text = metricsText(metrics)
    expect(text).toMatch(/^process_resident_memory_bytes [1-9]\d{6,}$/m)
    expect(text).toMatch(/^process_cpu_seconds_total (?!0$)[\d.]+$/m)
    expect(text).toMatch(/^process_start_time_seconds 1[\d.]{9,}$/m)
  })

  it.runIf(process.platform === 'linux')('have the descriptors of the process', () => {
    const metrics = new Metrics()
    processMetrics(metrics)
    const text = metricsText(metrics)
    expect(text).toMatch(/^process_open_fds [1-9]\d*$/m)
    expect(text).toMatch(/^process_max_fds [1-9]\d*$/m)
  })

  it('are served while no descriptor is free to ask the system', () => {
    const metrics = new Metrics()
    processMetrics(metrics)
    const before = /^process_resident_memory_bytes .*$/m.exec(metricsText(metrics))?.[0]
    const asked = vi.spyOn(process, 'memoryUsage').mockImplementation(() => {
      throw new Error('EMFILE: too many open files, uv_resident_set_memory')
    })
    onTestFinished(() => asked.mockRestore())
    expect(metricsText(metrics)).toContain(before)
  })

  it('show how far the clock was moved while the process ran', () => {
    const metrics = new Metrics()
    processMetrics(metrics)
    const moved = () =>
      Number(/^signalbox_clock_moved_seconds (.*)$/m.exec(metricsText(metrics))?.[1])
    const before = moved()
    const now = Date.now
    Date.now = () => now() - 3_600_000
    try {
      expect(moved() - before).toBeCloseTo(-3_600, -1)
    } finally {
      Date.now = now
    }
  })
})

describe('the numbers as log lines', () => {
  function logged() {
    const clock = new FakeClock()
    const lines: unknown[] = []
    const { metrics, flush } = logMetrics((_, event, fields) => lines.push([event, fields]), clock)
    const events = metrics.counter('events_total', 'Events.', KINDS)
    return { clock, lines, metrics, flush, events }
  }

  it('are at most one a minute, with what was added since the last', async () => {
    const { clock, lines, metrics, events } = logged()
    const open = metrics.gauge('open', 'Open ones.', {})
    for (let n = 0; n < 500; n++) events.add({ kind: 'a' })
    open.set({}, 5)
    expect(lines).toEqual([])
    await clock.advance(60_000)
    events.add({ kind: 'a' })
    for (let n = 0; n < 500; n++) events.add({ kind: 'a' })
    const first = { spanMs: 60_000, values: { 'events_total{kind="a"}': 501, open: 5 } }
    expect(lines).toEqual([['metrics', first]])
    await clock.advance(90_000)
    open.set({}, 4)
    const second = { spanMs: 90_000, values: { 'events_total{kind="a"}': 500, open: 4 } }
    expect(lines).toEqual([
      ['metrics', first],
      ['metrics', second],
    ])
  })

  it('are none while nothing happens, and need no timer', async () => {
    const { clock, lines, events, flush } = logged()
    events.add({ kind: 'a' })
    expect(clock.pending).toBe(0)
    await clock.advance(3_600_000)
    expect(lines).toEqual([])
    flush()
    flush()
    expect(lines).toHaveLength(1)
  })
})

describe('GET /metrics', () => {
  let server: MonitorServer | undefined
  afterEach(() => server?.close())

  const open = async (metrics = new Metrics()) => {
    server = await serveMetrics(metrics, { hostname: '127.0.0.1', port: 0 })
    return `http://127.0.0.1:${server.port}`
  }

  it('answers with the numbers, and nothing else is there', async () => {
    const metrics = new Metrics()
    metrics.gauge('open', 'Open ones.', {})
    const url = await open(metrics)
    const answer = await fetch(`${url}/metrics`)
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(await answer.text()).toContain('\nopen 0\n')
    expect((await fetch(`${url}/`)).status).toBe(404)
    expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405)
  })

  it('refuses a web page of the same machine', async () => {
    const url = await open()
    const statusOf = (headers: Record<string, string>) =>
      new Promise((resolve) => {
        request(`${url}/metrics`, { headers }, ({ statusCode }) => resolve(statusCode)).end()
      })
    expect(await statusOf({ host: 'evil.example' })).toBe(403)
    expect(await statusOf({ origin: 'https://evil.example' })).toBe(403)
    expect(await statusOf({ host: `localhost:${server?.port}` })).toBe(200)
  })
})
