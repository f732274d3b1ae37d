// Charges over HTTP: database round trips for each, and its time without that of the gateway.

import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Bench, reporter } from './bench.ts'
import { startCountingRelay } from './counting-relay.ts'
import { startOurEdge, tokenFor } from './payments/bench-edge.ts'
import { Connection } from './payments/connection.ts'
import { startDatabase } from './payments/database.ts'
import { startFakeGateway } from './payments/fake-gateway.ts'
import { LABEL } from './target.ts'

const MOST_ROUND_TRIPS = 4
/** The response time of a fast gateway. */
const GATEWAY_MS = 50
/** Concurrent charges share round trips, so only single charges show their number. */
const LEVELS = [1, 16]
const FULL = { counted: 200, timed: 100, rounds: 5 }
const QUICK: typeof FULL = { counted: 10, timed: 20, rounds: 1 }
/** The wait for writes after the response, which count as well. */
const SETTLE_MS = 500
const WARM_UP = 30

export const runCharge: Bench = async (run, report) => {
  const plan = run.isQuick ? QUICK : FULL
  for (const at of LEVELS) {
    const show = reporter(report, LABEL.signalbox)
    const isAlone = at === 1
    const roundTrips = await countRoundTrips(join(run.workDir, `count-${at}`), at, plan.counted)
    show(`${at} at a time`, 'round trips', roundTrips, isAlone ? MOST_ROUND_TRIPS : undefined)
    const besideMs: number[] = []
    for (let round = 0; round < plan.rounds; round++) {
      const charges = plan.timed * (isAlone ? 1 : 2)
      besideMs.push(...(await timeCharges(join(run.workDir, `time-${at}`), at, charges)))
    }
    show(`${at} at a time, beside the gateway`, 'ms', besideMs)
  }
}

/** Not timed. The first charge also fetches the token of the gateway. */
const countRoundTrips = (dir: string, at: number, charges: number): Promise<number> =>
  withGateway(dir, async (gateway, database) => {
    const relay = await startCountingRelay(database.port)
    // Batches and statements, each a POST to the database.
    const counted = () =>
      [...relay.requests()].reduce((sum, [of, n]) => (of.startsWith('POST ') ? sum + n : sum), 0)
    const to = { databaseUrl: relay.url, gatewayUrl: gateway.url }
    const edge = await startOurEdge(join(dir, 'edge'), to)
    try {
      // The first save of a ledger needs one round trip more.
      await chargeAll(edge.port, at, 1, 'first')
      await sleep(SETTLE_MS)
      const before = counted()
      await chargeAll(edge.port, at, charges, 'count')
      await sleep(SETTLE_MS)
      return (counted() - before) / charges
    } finally {
      await edge.stop()
      await relay.close()
    }
  })

const timeCharges = (dir: string, at: number, charges: number): Promise<number[]> =>
  withGateway(dir, async (gateway, { url: databaseUrl }) => {
    const to = { databaseUrl, gatewayUrl: gateway.url }
    const edge = await startOurEdge(join(dir, 'edge'), to)
    try {
      await chargeAll(edge.port, at, Math.max(WARM_UP, at), 'warm')
      const took = await chargeAll(edge.port, at, charges, 'time')
      return took.map(({ orderId, ms }) => {
        const heldMs = gateway.heldMs(orderId)
        if (heldMs === undefined) throw new Error(`The gateway was not asked for ${orderId}.`)
        return ms - heldMs
      })
    } finally {
      await edge.stop()
    }
  })

type Gateway = Awaited<ReturnType<typeof startFakeGateway>>
type Database = Awaited<ReturnType<typeof startDatabase>>

async function withGateway<Result>(
  dir: string,
  measure: (gateway: Gateway, database: Database) => Promise<Result>,
): Promise<Result> {
  mkdirSync(dir, { recursive: true })
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rmSync(dir, { recursive: true, force: true, maxRetries: 3 }))
  const gateway = await startFakeGateway(GATEWAY_MS)
  stack.defer(() => gateway.close())
  const database = await startDatabase(dir)
  stack.defer(() => database.stop())
  return await measure(gateway, database)
}

async function chargeAll(port: number, at: number, charges: number, prefix: string) {
  const bearer = await tokenFor('payments:write')
  const took: { orderId: string; ms: number }[] = []
  let next = 0
  const run = async () => {
    const connection = new Connection(port)
    try {
      while (next < charges) {
        const orderId = `${prefix}-${next++}`
        const request = chargeRequest(orderId, bearer)
        const startedAt = performance.now()
        const { status, body } = await connection.send(request)
        if (status !== 201) throw new Error(`${orderId} was answered ${status}: ${body}`)
        took.push({ orderId, ms: performance.now() - startedAt })
      }
    } finally {
      connection.close('all charges are made')
    }
  }
  await Promise.all(Array.from({ length: at }, run))
  return took
}

function chargeRequest(reference: string, bearer: string): Buffer {
  const of = { gateway: 'redirect', description: 'Two lamps and a chair' }
  const body = JSON.stringify({ ...of, reference, amount: 25_000, currency: 'IQD' })
  const head = [
    'POST /api/payments/charges HTTP/1.1',
    'Host: 127.0.0.1',
    `Authorization: Bearer ${bearer}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
}
