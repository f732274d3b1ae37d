// What the measurements of callbacks come to, held against the targets. Pure.

import type { Verdict } from '../bench.ts'
import { percentile } from '../statistics.ts'
import type { HandlerName } from './handlers.ts'
import type { PaceRun, RateSample, Sample } from './webhooks.ts'

export const median = (values: readonly number[]): number => percentile(values, 50)

export const samplesOf = (rates: readonly RateSample[], handler: HandlerName, at: number) =>
  rates.filter((sample) => sample.handler === handler && sample.connections === at)

/** Callbacks a second, the median of the runs. */
export const rateOf = (rates: readonly RateSample[], handler: HandlerName, at: number): number =>
  median(samplesOf(rates, handler, at).map(({ perSecond }) => perSecond))

export interface Best {
  connections: number
  perSecond: number
}

/** The naive handler with as many at a time as suit it best. Its errors do not count against it. */
export function bestOfNaive(rates: readonly RateSample[]): Best {
  const tried = new Set(rates.flatMap((it) => (it.handler === 'naive' ? it.connections : [])))
  const all = [...tried].map((connections) => ({
    connections,
    perSecond: rateOf(rates, 'naive', connections),
  }))
  return all.reduce((best, each) => (each.perSecond > best.perSecond ? each : best), {
    connections: 0,
    perSecond: 0,
  })
}

export const errorsIn = ({ errors }: Pick<Sample, 'errors'>): number =>
  Object.values(errors).reduce((sum, count) => sum + count, 0)

const OURS: ReadonlySet<HandlerName> = new Set(['signalbox', 'node', 'hanging-listener'])

/** What was measured, and what it is held against. */
export interface Measured {
  targets: {
    timesNaive: number
    shareOfNoDatabase: number
    /** One process of Node, on a database in a file. */
    node: { timesNaive: number; shareOfNoDatabase: number }
    shareWhileHanging: number
    paceMs: number
  }
  /** Concurrency: that of the verdicts, and the levels tried with the naive handler. */
  levels: readonly number[]
  naiveLevels: readonly number[]
  rates: RateSample[]
  pace: PaceRun[]
}

export function webhookVerdicts({ targets, levels, rates, pace }: Measured): Verdict[] {
  const [hangingAt = 0] = levels
  return [
    ...levels.flatMap((at) => [
      ...toOthers(rates, 'signalbox', at, targets),
      ...toOthers(rates, 'node', at, targets.node),
    ]),
    ratio(`webhooks, ${hangingAt} at a time, while a listener hangs, to one that does not`, {
      least: targets.shareWhileHanging,
      ours: rateOf(rates, 'hanging-listener', hangingAt),
      other: rateOf(rates, 'signalbox', hangingAt),
    }),
    flawless([...rates.filter(({ handler }) => OURS.has(handler)), ...pace]),
    paceVerdict(pace, targets.paceMs),
  ]
}

/** Nothing where it was not measured. */
function toOthers(
  rates: readonly RateSample[],
  handler: 'signalbox' | 'node',
  at: number,
  least: { timesNaive: number; shareOfNoDatabase: number },
): Verdict[] {
  if (samplesOf(rates, handler, at).length === 0) return []
  const best = bestOfNaive(rates)
  const what = `webhooks${handler === 'node' ? ' on Node' : ''}, ${at} at a time`
  const ours = rateOf(rates, handler, at)
  return [
    ratio(`${what}, to naive at its best (${best.connections} at a time)`, {
      least: least.timesNaive,
      ours,
      other: best.perSecond,
    }),
    ratio(`${what}, to a handler without a database`, {
      least: least.shareOfNoDatabase,
      ours,
      other: rateOf(rates, 'no-database', at),
    }),
  ]
}

interface Ratio {
  least: number
  ours: number
  other: number
}

function ratio(what: string, { least, ours, other }: Ratio): Verdict {
  const times = ours / other
  return {
    what,
    target: `${least}×`,
    measured: `${times.toFixed(2)}× (${ours}/s to ${other}/s)`,
    reached: times >= least,
  }
}

function flawless(samples: readonly Sample[]): Verdict {
  const sum = (count: (sample: Sample) => number) =>
    samples.reduce((total, sample) => total + count(sample), 0)
  const errors = sum(errorsIn)
  const faults = [...new Set(samples.flatMap((sample) => sample.faults))]
  const wrong = faults.length === 0 ? 'all Paid once, each with one event' : faults.join('; ')
  return {
    what: 'webhooks, errors shown',
    target: '0',
    measured: `${errors} of ${sum(({ sent }) => sent)}; ${wrong}`,
    reached: errors === 0 && faults.length === 0,
  }
}

function paceVerdict(pace: readonly PaceRun[], paceMs: number): Verdict {
  const each = pace.map(({ latency }) => latency.p99)
  const p99 = median(each)
  return {
    what: `webhook p99 at ${pace[0]?.perSecond}/s, the median of ${pace.length} runs`,
    target: `${paceMs} ms`,
    measured: `${p99} ms (${each.join(', ')})`,
    reached: p99 <= paceMs,
  }
}
