// Charges over HTTP: database round trips for each, and its time without that of the gateway.

import { createServer } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { startLibsql } from '../../harness/database.ts'
import { listen } from '../../harness/free-port.ts'
import { prepareWorkerd } from '../../start/workerd.ts'
import { type Bench, reporter } from '../bench.ts'
import { startCountingRelay } from '../counting-relay.ts'
import { closedLoad, postOf } from '../payments/load.ts'
import { startPayments, tokenFor } from '../programs.ts'
import { LABEL } from '../target.ts'

const MAX_ROUND_TRIPS = 4
/** The response time of a fast gateway. */
const GATEWAY_MS = 50
/** Concurrent charges share round trips, so only single charges show their number. */
const LEVELS = [1, 16]
const FULL = { counted: 200, timed: 100, rounds: 5 }
const QUICK: typeof FULL = { counted: 10, timed: 20, rounds: 1 }
/** The wait for writes after the response, which count as well. */
const SETTLE_MS = 500
const WARM_UP = 30
const MAX_MS = 120_000

export const runCharge: Bench = async (run) => {
  const plan = run.isQuick ? QUICK : FULL
  for (const at of LEVELS) {
    const show = reporter(run, LABEL.signalbox, `${at} at a time`)
    const isAlone = at === 1
    const roundTrips = await countRoundTrips(join(run.workDir, `count-${at}`), at, plan.counted)
    show('', 'round trips', roundTrips, isAlone ? MAX_ROUND_TRIPS : undefined)
    const besideMs: number[] = []
    for (let round = 0; round < plan.rounds; round++) {
      const charges = plan.timed * (isAlone ? 1 : 2)
      const dir = join(run.workDir, `time-${at}-${round}`)
      besideMs.push(...(await timeCharges(dir, at, charges)))
    }
    show(', beside the gateway', 'ms', besideMs)
  }
}

async function countRoundTrips(dir: string, at: number, charges: number): Promise<number> {
  await using shop = await openShop(dir)
  // The first charge also fetches the token of the gateway, and saves for a new ledger.
  await shop.charge(at, 1, 'first')
  await sleep(SETTLE_MS)
  const before = shop.roundTrips()
  await shop.charge(at, charges, 'count')
  await sleep(SETTLE_MS)
  return (shop.roundTrips() - before) / charges
}

/** Of each charge, the ms that the gateway did not take. */
async function timeCharges(dir: string, at: number, charges: number): Promise<number[]> {
  await using shop = await openShop(dir, { isDirect: true })
  await shop.charge(at, Math.max(WARM_UP, at), 'warm')
  return await shop.charge(at, charges, 'time')
}

/** `isDirect`: nothing is counted between the edge and its database. */
async function openShop(dir: string, { isDirect = false } = {}) {
  await using stack = new AsyncDisposableStack()
  /** By order: how long a charge really took at the gateway. */
  const heldMs = new Map<string, number>()
  const gateway = createServer((request, response) => {
    const startedAt = performance.now()
    const answer = (body: object) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (request.url === '/oauth2/token') return answer({ access_token: 'a', expires_in: 3_600 })
    void json(request).then(async (body) => {
      const { orderId } = body as { orderId: string }
      await sleep(GATEWAY_MS)
      heldMs.set(orderId, performance.now() - startedAt)
      const redirectUrl = `https://gateway.test/pay/${orderId}`
      const transactionDetails = { transactionId: `gt-${orderId}`, orderId }
      answer({ status: 'PENDING', transactionDetails, redirectUrl })
    })
  })
  stack.defer(() => gateway.closeAllConnections())
  stack.defer(() => void gateway.close())
  const gatewayUrl = await listen(gateway)
  const { port, url, token, close } = await startLibsql()
  stack.defer(close)
  const relay = stack.use(await startCountingRelay(port))
  const database = { url: isDirect ? url : relay.url, token }
  const edge = stack.use(await startPayments(prepareWorkerd, dir, database, gatewayUrl))
  const bearer = await tokenFor('payments:write')
  const all = stack.move()
  return {
    /** Batches and statements, each a POST to the database. */
    roundTrips: () => relay.counts().POST ?? 0,
    async charge(at: number, charges: number, prefix: string): Promise<number[]> {
      const besideMs: number[] = []
      let sent = 0
      await closedLoad({
        port: edge.port,
        connections: at,
        mostMs: MAX_MS,
        next: () => (sent < charges ? `${prefix}-${sent++}` : undefined),
        bytes: (orderId) => chargeOf(orderId, bearer),
        onEnd(orderId, reply, tookMs) {
          const held = heldMs.get(orderId)
          if (reply?.status !== 201 || held === undefined) {
            throw new Error(`${orderId} was answered ${reply?.status}: ${reply?.body}`)
          }
          besideMs.push(tookMs - held)
        },
      })
      return besideMs
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

function chargeOf(reference: string, bearer: string): Buffer {
  const order = { gateway: 'redirect', description: 'Two lamps and a chair', reference }
  const body = JSON.stringify({ ...order, amount: 25_000, currency: 'IQD' })
  return postOf('/api/payments/charges', body, [`Authorization: Bearer ${bearer}`])
}
