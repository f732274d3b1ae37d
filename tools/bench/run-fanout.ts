// The plan of `fanout`: from publishing a message until the last of many streams has it. The
// systems take turns, each started fresh for each measurement.

import { join } from 'node:path'
import { type FanoutSample, measureFanout } from './fanout/load.ts'
import { FANOUT_SYSTEMS, type FanoutSystem, hasNchan, startFanout } from './fanout/systems.ts'
import { fanoutPlot } from './plot/fanout-plot.ts'
import { circumstances, type FanoutResult, save, type Verdict } from './results.ts'
import type { BenchRun } from './run.ts'
import { percentile } from './statistics.ts'

/** Of the smallest Worker with a shared subscription: what is checked and resumed costs little. */
const TARGETS = { timesShared: 1.15 }
const FULL = { rounds: 3, streams: [1_000, 5_000], messages: 12 }
const QUICK: typeof FULL = { rounds: 1, streams: [100], messages: 3 }

export async function runFanout(run: BenchRun): Promise<Verdict[]> {
  const startedAt = performance.now()
  const plan = run.isQuick ? QUICK : FULL
  const skipped = hasNchan() ? [] : ['nchan']
  if (skipped.length > 0) {
    run.say('nchan is skipped: apt-get install nginx libnginx-mod-nchan brings it.')
  }
  const turn = FANOUT_SYSTEMS.filter((system) => !skipped.includes(system)).flatMap((system) =>
    plan.streams.map((streams) => ({ system, streams })),
  )
  const samples: FanoutSample[] = []
  for (let round = 0; round < plan.rounds; round++) {
    // Every second round has the other order, since the first system runs on a cold machine.
    for (const { system, streams } of round % 2 === 0 ? turn : turn.toReversed()) {
      const dir = join(run.workDir, `fanout-${samples.length}`)
      const target = await startFanout(system, dir)
      try {
        const sample = await measureFanout(target, { streams, messages: plan.messages })
        samples.push(sample)
        run.say(inWords(sample))
      } finally {
        await target.stop()
      }
    }
  }
  const verdicts = plan.streams.map((streams) => verdictOf(samples, streams))
  const found = { targets: TARGETS, streams: plan.streams, skipped, samples }
  const result: FanoutResult = { ...circumstances(run.command, startedAt), verdicts, ...found }
  save(run.outDir, 'fanout', result, fanoutPlot(result))
  return verdicts
}

function verdictOf(samples: readonly FanoutSample[], streams: number): Verdict {
  const of = (system: FanoutSystem) =>
    samples.filter((s) => s.system === system && s.streams === streams)
  const medianOf = (system: FanoutSystem) =>
    percentile(
      of(system).flatMap((s) => s.lastMs),
      50,
    )
  const [ours, shared] = [medianOf('signalbox'), medianOf('shared-worker')]
  const lost = of('signalbox').reduce((sum, sample) => sum + sample.lost, 0)
  const times = Math.round((ours / shared) * 100) / 100
  return {
    what: `publish to the last of ${streams} streams, median`,
    target: `${TARGETS.timesShared} of the smallest Worker`,
    measured: `${ours} ms, ${times} of ${shared} ms, ${lost} lost`,
    reached: times <= TARGETS.timesShared && lost === 0,
  }
}

function inWords({ system, streams, lastMs, lost, cpuMs, kibAStream }: FanoutSample): string {
  const median = percentile(lastMs, 50)
  return `${system}, ${streams} streams: ${median} ms to the last, ${cpuMs} ms of a core, ${kibAStream} KiB each, ${lost} lost`
}
