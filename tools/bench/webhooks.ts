// The benchmark `webhooks`: the handlers take turns, each started fresh for each measurement, so
// that other work of the machine affects all of them.

import { join } from 'node:path'
import { type BenchRun, circumstances, type Result } from './bench.ts'
import type { HandlerName } from './payments/handlers.ts'
import {
  bestOfNaive,
  errorsIn,
  type Measured,
  median,
  rateOf,
  samplesOf,
  webhookVerdicts,
} from './payments/verdicts.ts'
import {
  measurePace,
  measureRate,
  type PaceRun,
  paceRun,
  type RatePlan,
  type RateSample,
} from './payments/webhooks.ts'
import type { DotGroup, DotRow } from './plot/dot-rows.ts'
import { measuredOn, type Picture } from './plot/picture.ts'

const TARGETS = {
  timesNaive: 5,
  shareOfNoDatabase: 0.5,
  // It verifies, decides and saves on the same two cores; workerd's comparison stores nothing.
  node: { timesNaive: 6, shareOfNoDatabase: 0.33 },
  shareWhileHanging: 0.9,
  paceMs: 50,
}
const FULL = {
  rounds: 5,
  levels: [64, 256],
  /** Where the naive handler may be at its best. */
  naiveLevels: [1, 2, 4, 8],
  /**
   * Rounds of the naive handler at `levels`, where it fails. Shown, but not part of the comparison.
   */
  overloadRounds: 3,
  warmUpMs: 2_000,
  countedMs: 4_000,
  /** Longer, since libSQL's server may write nothing for many seconds. */
  overloadMs: 10_000,
  drainMs: 10_000,
  /** Enough for the quickest machine that we know. */
  callbacks: {
    signalbox: 36_000,
    node: 36_000,
    'hanging-listener': 36_000,
    naive: 12_000,
    'no-database': 4_000,
  },
  paceRuns: 3,
  pace: {
    perSecond: 500,
    forMs: 22_000,
    warmUpMs: 2_000,
    mostConnections: 256,
    drainMs: 10_000,
  },
}
const QUICK: typeof FULL = {
  ...FULL,
  rounds: 1,
  naiveLevels: [1, 4],
  overloadRounds: 1,
  warmUpMs: 500,
  countedMs: 1_000,
  overloadMs: 1_000,
  drainMs: 3_000,
  callbacks: {
    signalbox: 8_000,
    node: 8_000,
    'hanging-listener': 8_000,
    naive: 2_000,
    'no-database': 2_000,
  },
  paceRuns: 1,
  pace: { ...FULL.pace, forMs: 3_000, warmUpMs: 1_000 },
}

export type WebhooksResult = Result & Measured

export async function runWebhooks(run: BenchRun): Promise<WebhooksResult> {
  const startedAt = performance.now()
  const plan = run.isQuick ? QUICK : FULL
  const dir = join(run.workDir, 'webhooks')
  const rates: RateSample[] = []
  const measured = async (wanted: RatePlan) => {
    const sample = await measureRate(wanted, dir)
    rates.push(sample)
    run.say(inWords(sample))
  }
  for (let round = 0; round < plan.rounds; round++) {
    const turn = plansOf(plan)
    // Every second round has the other order, since the first system runs on a cold machine.
    for (const wanted of round % 2 === 0 ? turn : turn.toReversed()) await measured(wanted)
  }
  const pace: PaceRun[] = []
  for (let n = 0; n < plan.paceRuns; n++) {
    const paced = paceRun(await measurePace(plan.pace, dir))
    pace.push(paced)
    run.say(paceInWords(paced))
  }
  // Last, because its load on the disk would affect the other measurements.
  for (let round = 0; round < plan.overloadRounds; round++) {
    for (const connections of plan.levels) {
      await measured({ ...planOf(plan, 'naive', connections), countedMs: plan.overloadMs })
    }
  }
  const { levels, naiveLevels } = plan
  const found = { targets: TARGETS, levels, naiveLevels, rates, pace }
  const verdicts = webhookVerdicts(found)
  return { ...circumstances(run.command, startedAt), verdicts, ...found }
}

function plansOf(plan: typeof FULL): RatePlan[] {
  const { levels, naiveLevels } = plan
  return [
    ...levels.flatMap((at) =>
      (['signalbox', 'node', 'no-database'] as const).map((name) => planOf(plan, name, at)),
    ),
    ...levels.slice(0, 1).map((at) => planOf(plan, 'hanging-listener', at)),
    ...naiveLevels.map((at) => planOf(plan, 'naive', at)),
  ]
}

function planOf(plan: typeof FULL, handler: RatePlan['handler'], connections: number): RatePlan {
  const { warmUpMs, countedMs, drainMs } = plan
  const callbacks = plan.callbacks[handler]
  return { handler, connections, warmUpMs, countedMs, drainMs, callbacks }
}

function inWords(sample: RateSample): string {
  const { handler, connections, perSecond, faults, cpuUs } = sample
  const cpu = `${cpuUs.handler}${cpuUs.database === undefined ? '' : ` + ${cpuUs.database}`} µs of a core`
  const wrong = faults.length > 0 ? `; ${faults.join('; ')}` : ''
  return `${handler}, ${connections} at a time: ${perSecond}/s, ${cpu}, ${errorsShown(sample)}${wrong}`
}

function paceInWords(paced: PaceRun): string {
  const { p50, p90, p99, max } = paced.latency
  const times = `p50 ${p50}, p90 ${p90}, p99 ${p99}, max ${max} ms`
  return `${paced.handler} at ${paced.perSecond}/s: ${times}, ${errorsShown(paced)}`
}

function errorsShown(sample: Pick<RateSample, 'errors' | 'sent'>): string {
  const kinds = Object.entries(sample.errors).map(([what, count]) => `${count} × ${what}`)
  return kinds.length === 0 ? 'no error' : `${errorsIn(sample)} errors (${kinds.join(', ')})`
}

const LOOKS: Record<HandlerName, { label: string; color: string }> = {
  signalbox: { label: 'Signalbox', color: '#1d63d8' },
  node: { label: 'Signalbox on Node', color: '#0f8a6a' },
  'hanging-listener': { label: 'Signalbox, a listener hangs', color: '#6aa0f2' },
  naive: { label: 'naive handler', color: '#c2570c' },
  'no-database': { label: 'no database', color: '#7a8490' },
}

export function webhooksPicture(result: WebhooksResult): Picture {
  const { machine, pace, targets } = result
  const fastest = Math.max(100, ...result.rates.map(({ perSecond }) => perSecond))
  const slowest = Math.max(targets.paceMs * 2, ...pace.map(({ latency }) => latency.max))
  return {
    title: 'Callbacks of a payment gateway, from the request to the answer',
    about: [
      'Each moves another payment; record, move and event are stored before the answer. One dot is one run; stroke: median.',
      'Naive: one Node process, one transaction of three statements for each. No database: on workerd too, the signature alone.',
      'On Node: edge and database are one process. The others that store have libSQL’s server beside them.',
      'The naive handler stands at what is best for it, and at what breaks it. Every handler and database is started fresh for each run.',
      measuredOn(machine, 'load, handler and database on the same machine'),
    ],
    parts: [
      {
        axis: {
          from: 10,
          to: fastest * 1.2,
          label: 'callbacks a second, logarithmic',
          format: (rate) => rate.toLocaleString('en'),
        },
        groups: rateGroups(result),
      },
      {
        note: 'Of each run the latencies in even steps, and all of the slowest; strokes: p50 and p99.',
        axis: {
          from: 0.5,
          to: slowest * 1.1,
          label: 'milliseconds from the moment that each was to be sent, logarithmic',
          format: (ms) => `${ms} ms`,
        },
        groups: [paceGroup(result)],
      },
    ],
  }
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
