import { expect, it } from 'vitest'
import { paceRun } from '../../../bench/payments/pace-run.ts'
import type { RateSample } from '../../../bench/payments/webhooks.ts'
import { chargePlot } from '../../../bench/plot/charge-plot.ts'
import { webhooksPlot } from '../../../bench/plot/webhooks-plot.ts'

const about = {
  command: 'npm run bench',
  date: '2026-01-01T00:00:00.000Z',
  commit: '0',
  machine: { platform: 'Linux 6', cores: 2, cpu: 'a cpu', memoryGiB: 8, node: '24.0.0' },
  tookMs: 1,
  verdicts: [],
}
const sample = { sent: 9, ok: 9, errors: {}, faults: [], cpuUs: { handler: 1 } }
const rate = (handler: RateSample['handler'], connections: number, perSecond: number) => ({
  ...sample,
  handler,
  connections,
  perSecond,
})

it('draws a dot for each run of each handler, and what a p99 hides', () => {
  const rates = [
    ...[64, 256].flatMap((at) => [rate('signalbox', at, 3_000), rate('no-database', at, 5_000)]),
    ...[1, 4].map((at) => rate('naive', at, 400)),
    { ...rate('naive', 64, 30), errors: { 'HTTP 500': 1_200 } },
  ]
  const pace = [paceRun({ ...rate('signalbox', 0, 500), latencies: [4, 5, 40] })]
  const svg = webhooksPlot({
    ...about,
    targets: {
      ...{ timesNaive: 5, shareOfNoDatabase: 0.5, shareWhileHanging: 0.9, paceMs: 50 },
      node: { timesNaive: 6, shareOfNoDatabase: 0.33 },
    },
    levels: [64, 256],
    naiveLevels: [1, 4],
    rates,
    pace,
  })
  expect(svg.match(/<circle/g)).toHaveLength(rates.length + 3)
  expect(svg).toContain('target 2,500/s')
  expect(svg).toContain('30/s, errors: 1,200')
  expect(svg).not.toContain('NaN')
})

it('draws a dot for each charge, and the round trips beneath', () => {
  const values = [3, 4, 5]
  const beside = { count: 3, p50: 4, p90: 5, p99: 5, max: 5 }
  const svg = chargePlot({
    ...about,
    targets: { roundTrips: 2 },
    gatewayMs: 50,
    roundTrips: [1, 16].map((connections) => ({
      connections,
      charges: 10,
      roundTrips: 20,
      perCharge: 2,
    })),
    times: [1, 16].map((connections) => ({ connections, beside, values })),
  })
  expect(svg.match(/<circle/g)).toHaveLength(6)
  expect(svg).toContain('1 and 16 at a time')
  expect(svg).not.toContain('NaN')
})
