// The picture of webhooks.json.

import type { HandlerName } from '../payments/handlers.ts'
import { bestOfNaive, errorsIn, median, rateOf, samplesOf } from '../payments/verdicts.ts'
import type { WebhooksResult } from '../webhooks.ts'
import { type DotGroup, type DotRow, dotRows, dotRowsHeight } from './dot-rows.ts'
import { drawing, text } from './svg.ts'
import { heading } from './systems.ts'

const WIDTH = 900
const TOP = 150
const GAP = 44

const LOOKS: Record<HandlerName, { label: string; color: string }> = {
  signalbox: { label: 'Signalbox', color: '#1d63d8' },
  node: { label: 'Signalbox on Node', color: '#0f8a6a' },
  'hanging-listener': { label: 'Signalbox, a listener hangs', color: '#6aa0f2' },
  naive: { label: 'naive handler', color: '#c2570c' },
  'no-database': { label: 'no database', color: '#7a8490' },
}

export function webhooksPlot(result: WebhooksResult): string {
  const { machine, pace } = result
  const rates = rateGroups(result)
  const fastest = Math.max(100, ...result.rates.map(({ perSecond }) => perSecond))
  const title = 'Callbacks of a payment gateway, from the request to the answer'
  const about = [
    'Each moves another payment; record, move and event are stored before the answer. One dot is one run; stroke: median.',
    'Naive: one Node process, one transaction of three statements for each. No database: on workerd too, the signature alone.',
    'On Node: edge and database are one process. The others that store have libSQL’s server beside them.',
    'The naive handler stands at what is best for it, and at what breaks it. Every handler and database is started fresh for each run.',
    `${machine.cores} cores, Node ${machine.node}, ${machine.platform}; load, handler and database on the same machine.`,
  ]
  const rateAxis = {
    from: 10,
    to: fastest * 1.2,
    label: 'callbacks a second, logarithmic',
    format: (rate: number) => rate.toLocaleString('en'),
  }
  const times = paceGroup(result)
  const slowest = Math.max(result.targets.paceMs * 2, ...pace.map(({ latency }) => latency.max))
  const timeAxis = {
    from: 0.5,
    to: slowest * 1.1,
    label: 'milliseconds from the moment that each was to be sent, logarithmic',
    format: (ms: number) => `${ms} ms`,
  }
  const box = { x: 32, y: TOP, width: WIDTH - 64 }
  const below = TOP + dotRowsHeight(rates) + GAP
  const height = below + dotRowsHeight([times]) + 20
  const note =
    'Of each run the latencies in even steps, and all of the slowest; strokes: p50 and p99.'
  return drawing(WIDTH, height, title, [
    ...heading(title, about),
    ...dotRows(box, rateAxis, rates),
    text(32, below - 12, note, { size: 12 }),
    ...dotRows({ ...box, y: below }, timeAxis, [times]),
  ])
}

function rateGroups({ rates, levels, naiveLevels, targets }: WebhooksResult): DotGroup[] {
  const best = bestOfNaive(rates).perSecond
  const row = (handler: HandlerName, at: number, label = LOOKS[handler].label): DotRow[] => {
    const samples = samplesOf(rates, handler, at)
    if (samples.length === 0) return []
    const values = samples.map(({ perSecond }) => perSecond)
    const errors = samples.reduce((sum, sample) => sum + errorsIn(sample), 0)
    const rate = `${median(values).toLocaleString('en')}/s`
    const drawn = {
      color: LOOKS[handler].color,
      label,
      values,
      marks: [median(values)],
      note: errors > 0 ? `${rate}, errors: ${errors.toLocaleString('en')}` : rate,
      missing: 0,
    }
    return [drawn]
  }
  return [
    {
      label: 'naive handler, few at a time',
      rows: naiveLevels.flatMap((at) => row('naive', at, `${at} at a time`)),
    },
    ...levels.map((at) => {
      const half = rateOf(rates, 'no-database', at) * targets.shareOfNoDatabase
      const least = Math.max(best * targets.timesNaive, half)
      const target = { value: least, label: `target ${Math.round(least).toLocaleString('en')}/s` }
      const handlers = ['signalbox', 'node', 'hanging-listener', 'naive', 'no-database'] as const
      return { label: `${at} at a time`, target, rows: handlers.flatMap((name) => row(name, at)) }
    }),
  ]
}

function paceGroup({ pace, targets }: WebhooksResult): DotGroup {
  return {
    label: `at ${pace[0]?.perSecond} a second`,
    target: { value: targets.paceMs, label: `target: p99 ${targets.paceMs} ms` },
    rows: pace.map(({ handler, latency, spread, ...sample }, n) => ({
      color: LOOKS[handler].color,
      label: `${LOOKS[handler].label}, run ${n + 1}`,
      values: spread,
      marks: [latency.p50, latency.p99],
      note: `p50 ${latency.p50} · p99 ${latency.p99} ms`,
      missing: errorsIn(sample),
    })),
  }
}
