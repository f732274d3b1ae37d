// The benchmark `charge`: first the round trips, through a counting proxy, then the time without
// it.

import { join } from 'node:path'
import {
  type ChargeTimes,
  countRoundTrips,
  type RoundTrips,
  timeCharges,
} from './payments/charges.ts'
import { chargePlot } from './plot/charge-plot.ts'
import { type ChargeResult, circumstances, save, type Verdict } from './results.ts'
import type { BenchRun } from './run.ts'

const TARGETS = { roundTrips: 4 }
/** The response time of a fast gateway. */
const GATEWAY_MS = 50
/** Concurrent charges share round trips, so only single charges show their number. */
const ALONE = 1
const TOGETHER = 16
const FULL = { counted: 200, timed: 100, rounds: 5 }
const QUICK: typeof FULL = { counted: 10, timed: 20, rounds: 1 }

export async function runCharge(run: BenchRun): Promise<Verdict[]> {
  const startedAt = performance.now()
  const plan = run.isQuick ? QUICK : FULL
  const dir = join(run.workDir, 'charge')
  const roundTrips: RoundTrips[] = []
  for (const connections of [ALONE, TOGETHER]) {
    const wanted = { connections, charges: plan.counted, gatewayMs: GATEWAY_MS }
    const counted = await countRoundTrips(wanted, dir)
    roundTrips.push(counted)
    run.say(`${connections} at a time: ${counted.perCharge} round trips a charge`)
  }
  const times: ChargeTimes[] = []
  for (let round = 0; round < plan.rounds; round++) {
    for (const connections of [ALONE, TOGETHER]) {
      const charges = plan.timed * (connections === ALONE ? 1 : 2)
      const timed = await timeCharges({ connections, charges, gatewayMs: GATEWAY_MS }, dir)
      times.push(timed)
      const { p50, p99, max } = timed.beside
      run.say(`${connections} at a time: p50 ${p50}, p99 ${p99}, max ${max} ms beside the gateway`)
    }
  }
  const verdicts = roundTrips.filter(({ connections }) => connections === ALONE).map(verdictOf)
  const result: ChargeResult = {
    ...circumstances(run.command, startedAt),
    targets: TARGETS,
    gatewayMs: GATEWAY_MS,
    verdicts,
    roundTrips,
    times,
  }
  save(run.outDir, 'charge', result, chargePlot(result))
  return verdicts
}

const verdictOf = ({ charges, roundTrips, perCharge }: RoundTrips): Verdict => ({
  what: 'round trips to the database for a charge',
  target: `${TARGETS.roundTrips}`,
  measured: `${perCharge} (${roundTrips} for ${charges} charges, one after the other)`,
  reached: roundTrips <= TARGETS.roundTrips * charges,
})
