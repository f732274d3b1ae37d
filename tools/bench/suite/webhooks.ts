// Callbacks of a gateway. The hosts take turns, each started fresh on a database of its own for each
// measurement, so that other work of the machine affects both of them; then the rows are checked.

import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileIn, startLibsql } from '../../harness/database.ts'
import { prepareNode } from '../../harness/hosts.ts'
import { Seeded } from '../../harness/seeded.ts'
import { prepareWorkerd } from '../../start/workerd.ts'
import { atLeast, type Bench } from '../bench.ts'
import { faultsIn, seed, signCallbacks } from '../payments/callbacks.ts'
import { closedLoad } from '../payments/load.ts'
import { startPayments } from '../programs.ts'
import { LABEL } from '../target.ts'

/**
 * `least`: five and six times what one handler did at its best that verifies the same token and
 * writes one transaction for each webhook.
 */
const HOSTS = [
  {
    system: LABEL.signalbox,
    prepare: prepareWorkerd,
    open: (dir: string) => startLibsql({ dir }),
    least: 3_410,
  },
  { system: LABEL['signalbox-node'], prepare: prepareNode, open: fileIn, least: 4_092 },
]
type Host = (typeof HOSTS)[number]

/** Callbacks at a time. */
const LEVELS = [64, 256]
/** Callbacks at hand for a second: more than the quickest machine that we know answers. */
const SUPPLY = 6_000
/** Callbacks still unanswered `drainMs` after the last was sent have failed. */
const FULL = { rounds: 5, warmUpMs: 2_000, countedMs: 4_000, drainMs: 10_000 }
const QUICK: typeof FULL = { rounds: 1, warmUpMs: 500, countedMs: 1_000, drainMs: 3_000 }
const SEED = 20_260_201

export const runWebhooks: Bench = async ({ workDir, isQuick, report }) => {
  const plan = isQuick ? QUICK : FULL
  const cases = LEVELS.flatMap((at) =>
    HOSTS.map((host) => ({ host, at, perSecond: [] as number[], faults: new Set<string>() })),
  )
  for (let round = 0; round < plan.rounds; round++) {
    // Every second round has the other order, since the first host runs on a cold machine.
    for (const each of round % 2 === 0 ? cases : cases.toReversed()) {
      const dir = join(workDir, 'webhooks')
      const { perSecond, faults } = await measure(each, dir, plan)
      rmSync(dir, { recursive: true, force: true, maxRetries: 3 })
      each.perSecond.push(perSecond)
      for (const fault of faults) each.faults.add(fault)
    }
  }
  for (const { host, at, perSecond, faults } of cases) {
    const of = { what: `${at} at a time`, system: host.system, unit: '/s' }
    report(of, perSecond, { aim: atLeast(host.least), faults: [...faults] })
  }
}

/** Started fresh, given pending payments, loaded with a callback of each, and checked. */
async function measure(
  { host, at: connections }: { host: Host; at: number },
  dir: string,
  { warmUpMs, countedMs, drainMs }: typeof FULL,
) {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  await using stack = new AsyncDisposableStack()
  const database = await host.open(dir)
  stack.defer(() => database.close())
  const edge = stack.use(await startPayments(host.prepare, join(dir, 'edge'), database))
  const count = Math.ceil((SUPPLY * (warmUpMs + countedMs)) / 1_000)
  const requests = shuffled(await signCallbacks(count))
  await seed(database, count)
  const countsFrom = performance.now() + warmUpMs
  let endsAt = countsFrom + countedMs
  const errors = new Set<string>()
  let [sent, ok, counted] = [0, 0, 0]
  await closedLoad({
    port: edge.port,
    connections,
    mostMs: warmUpMs + countedMs + drainMs,
    next() {
      const now = performance.now()
      if (now >= endsAt) return undefined
      if (sent === requests.length) endsAt = now
      return requests[sent] && requests[sent++]
    },
    bytes: (request) => request,
    onEnd(_, reply) {
      if (reply?.status === 200 && reply.body === 'ok') {
        ok++
        const now = performance.now()
        if (now >= countsFrom && now <= endsAt) counted++
      } else errors.add(reply ? `HTTP ${reply.status} ${reply.body}` : 'no answer in time')
    },
  })
  const faults = await faultsIn(database, { sent, ok })
  const perSecond = (counted / (endsAt - countsFrom)) * 1_000
  return { perSecond, faults: [...errors, ...faults] }
}

/** Payers do not come in the order of their payments, and the next row in a page is cheap. */
function shuffled(requests: readonly Buffer[]): Buffer[] {
  const random = new Seeded(SEED)
  const keyed = requests.map((request) => ({ request, key: random.next() }))
  return keyed.sort((one, other) => one.key - other.key).map(({ request }) => request)
}
