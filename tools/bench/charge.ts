// Charges over HTTP: database round trips per charge, and its time without that of the gateway.

import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type BenchRun, circumstances, type Result, type Verdict } from './bench.ts'
import { type CountingRelay, startCountingRelay } from './counting-relay.ts'
import { Connection } from './payments/connection.ts'
import { startDatabase } from './payments/database.ts'
import { startOurEdge, tokenFor } from './payments/edge.ts'
import { startFakeGateway } from './payments/fake-gateway.ts'
import { measuredOn, type Picture } from './plot/picture.ts'
import { percentile, rounded, type Summary, summarize } from './statistics.ts'

export interface ChargePlan {
  /** Concurrency. */
  connections: number
  charges: number
  gatewayMs: number
}

export interface RoundTrips {
  connections: number
  charges: number
  roundTrips: number
  perCharge: number
}

export interface ChargeTimes {
  connections: number
  /** Our own time without that of the gateway, in ms. */
  beside: Summary
  values: number[]
}

/** The wait for writes after the response, which count as well. */
const SETTLE_MS = 500

/** Not measured. The first charge also fetches the token of the gateway. */
async function countRoundTrips(plan: ChargePlan, dir: string): Promise<RoundTrips> {
  const { connections, charges } = plan
  return withGateway(plan.gatewayMs, dir, async (gateway, database) => {
    const relay = await startCountingRelay(database.port)
    const databaseUrl = relay.url
    const edge = await startOurEdge(`${dir}/edge`, { databaseUrl, gatewayUrl: gateway.url })
    try {
      // The first save of a ledger needs one round trip more.
      await chargeAll(edge.port, { ...plan, charges: 1 }, 'first', () => undefined)
      await sleep(SETTLE_MS)
      const before = roundTripsOf(relay)
      await chargeAll(edge.port, plan, 'count', () => undefined)
      await sleep(SETTLE_MS)
      const roundTrips = roundTripsOf(relay) - before
      return { connections, charges, roundTrips, perCharge: rounded(roundTrips / charges) }
    } finally {
      await edge.stop()
      await relay.close()
    }
  })
}

const WARM_UP_CHARGES = 30

async function timeCharges(plan: ChargePlan, dir: string): Promise<ChargeTimes> {
  return withGateway(plan.gatewayMs, dir, async (gateway, { url: databaseUrl }) => {
    const edge = await startOurEdge(`${dir}/edge`, { databaseUrl, gatewayUrl: gateway.url })
    try {
      const warmUp = { ...plan, charges: Math.max(WARM_UP_CHARGES, plan.connections) }
      await chargeAll(edge.port, warmUp, 'warm', () => undefined)
      const values: number[] = []
      await chargeAll(edge.port, plan, 'time', (orderId, ms) => {
        const heldMs = gateway.heldMs(orderId)
        if (heldMs === undefined) throw new Error(`The gateway was not asked for ${orderId}.`)
        values.push(rounded(ms - heldMs))
      })
      return { connections: plan.connections, beside: summarize(values), values }
    } finally {
      await edge.stop()
    }
  })
}

type Gateway = Awaited<ReturnType<typeof startFakeGateway>>
type Database = Awaited<ReturnType<typeof startDatabase>>

async function withGateway<Result>(
  delayMs: number,
  dir: string,
  measure: (gateway: Gateway, database: Database) => Promise<Result>,
): Promise<Result> {
  mkdirSync(dir, { recursive: true })
  const gateway = await startFakeGateway(delayMs)
  try {
    const database = await startDatabase(dir)
    try {
      return await measure(gateway, database)
    } finally {
      await database.stop()
    }
  } finally {
    await gateway.close()
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Batches and statements so far, each a POST to the database. */
const roundTripsOf = (relay: CountingRelay): number =>
  [...relay.requests()].reduce((sum, [asked, n]) => (asked.startsWith('POST ') ? sum + n : sum), 0)

async function chargeAll(
  port: number,
  { connections, charges }: ChargePlan,
  prefix: string,
  done: (orderId: string, ms: number) => void,
): Promise<void> {
  const bearer = await tokenFor('payments:write')
  let next = 0
  const run = async () => {
    const connection = new Connection(port)
    try {
      while (next < charges) {
        const orderId = `${prefix}-${next++}`
        const request = chargeRequest(orderId, bearer)
        const startedAt = performance.now()
        const { status, body } = await connection.send(request)
        const ms = performance.now() - startedAt
        if (status !== 201)
          throw new Error(`The charge of ${orderId} was answered ${status}: ${body}`)
        done(orderId, ms)
      }
    } finally {
      connection.close('all charges are made')
    }
  }
  await Promise.all(Array.from({ length: connections }, run))
}

function chargeRequest(orderId: string, bearer: string): Buffer {
  const charge = {
    gateway: 'redirect',
    reference: orderId,
    amount: 25_000,
    currency: 'IQD',
    description: 'Two lamps and a chair',
  }
  const body = JSON.stringify(charge)
  const head = [
    'POST /api/payments/charges HTTP/1.1',
    'Host: 127.0.0.1',
    `Authorization: Bearer ${bearer}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
}

const TARGETS = { roundTrips: 4 }
/** The response time of a fast gateway. */
const GATEWAY_MS = 50
/** Concurrent charges share round trips, so only single charges show their number. */
const ALONE = 1
const TOGETHER = 16
const FULL = { counted: 200, timed: 100, rounds: 5 }
const QUICK: typeof FULL = { counted: 10, timed: 20, rounds: 1 }

export interface ChargeResult extends Result {
  targets: { roundTrips: number }
  /** The response time of the gateway. */
  gatewayMs: number
  roundTrips: RoundTrips[]
  times: ChargeTimes[]
}

export async function runCharge(run: BenchRun): Promise<ChargeResult> {
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
  return {
    ...circumstances(run.command, startedAt),
    targets: TARGETS,
    gatewayMs: GATEWAY_MS,
    verdicts,
    roundTrips,
    times,
  }
}

const verdictOf = ({ charges, roundTrips, perCharge }: RoundTrips): Verdict => ({
  what: 'round trips to the database for a charge',
  target: `${TARGETS.roundTrips}`,
  measured: `${perCharge} (${roundTrips} for ${charges} charges, one after the other)`,
  reached: roundTrips <= TARGETS.roundTrips * charges,
})

const COLOR = '#1d63d8'

export function chargePicture(result: ChargeResult): Picture {
  const { machine, gatewayMs, roundTrips, targets, times } = result
  const levels = roundTrips.map(({ connections }) => connections).join(' and ')
  return {
    title: 'A charge, beside what the gateway itself takes',
    about: [
      `One dot is one charge over HTTP: its time, less that of a gateway which answers after ${gatewayMs} ms. Strokes: p50 and p99.`,
      'Below: requests to the database for each charge. Charges that are under way together share them.',
      measuredOn(machine, 'all on the same machine'),
    ],
    parts: [
      {
        axis: {
          from: 0.5,
          to: Math.max(20, ...times.map(({ beside }) => beside.max)) * 1.1,
          label: 'milliseconds beside the gateway, logarithmic',
          format: (ms) => `${ms} ms`,
        },
        groups: [...Map.groupBy(times, ({ connections }) => connections)].map(
          ([connections, runs]) => ({
            label: `${connections} at a time`,
            rows: runs.map(({ beside, values }, n) => ({
              label: `Signalbox, run ${n + 1}`,
              color: COLOR,
              values,
              marks: [percentile(values, 50), percentile(values, 99)],
              note: `p50 ${beside.p50} · p99 ${beside.p99} ms`,
              missing: 0,
            })),
          }),
        ),
      },
      {
        bars: [
          {
            title: `Round trips to the database for a charge, ${levels} at a time`,
            target: targets.roundTrips,
            format: (count) => String(count),
            bars: roundTrips.map(({ perCharge }) => ({ color: COLOR, value: perCharge })),
          },
        ],
      },
    ],
  }
}
