// The benchmark `webhooks`: the handlers take turns, each started fresh for each measurement, so
// that other work of the machine affects all of them.

import { join } from 'node:path'
import { type BenchRun, circumstances, type Result } from './bench.ts'
import { type PaceRun, paceRun } from './payments/pace-run.ts'
import { errorsIn, type Measured, webhookVerdicts } from './payments/verdicts.ts'
import { measurePace, measureRate, type RatePlan, type RateSample } from './payments/webhooks.ts'

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
    ...{ signalbox: 36_000, node: 36_000, 'hanging-listener': 36_000 },
    ...{ naive: 12_000, 'no-database': 4_000 },
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
    ...{ signalbox: 8_000, node: 8_000, 'hanging-listener': 8_000 },
    ...{ naive: 2_000, 'no-database': 2_000 },
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
