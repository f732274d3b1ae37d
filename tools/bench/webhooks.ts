// Callbacks of a gateway. The handlers take turns, each started fresh on a database of its own for
// each measurement, so that other work of the machine affects all of them; then the rows are checked.

import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isTransient } from '../../worker/payments/ledger/libsql/database-libsql.ts'
import { fileIn, type PaymentsDatabase, startLibsql } from '../harness/database.ts'
import { prepareNode } from '../harness/hosts.ts'
import { Seeded } from '../harness/seeded.ts'
import { prepareWorkerd } from '../start/workerd.ts'
import { atLeast, type Bench, percentile } from './bench.ts'
import { faultsIn, seed, signCallbacks } from './payments/callbacks.ts'
import { closedLoad } from './payments/load.ts'
import { API_KEY, startNode, startPayments } from './programs.ts'

/**
 * `supply`: callbacks at hand for a second, more than the quickest machine that we know answers.
 * `times`: the aim, times the naive handler at its best.
 */
const HANDLERS = {
  naive: { label: 'naive handler', supply: 2_000, times: undefined },
  signalbox: { label: 'Signalbox on workerd', supply: 6_000, times: 5 },
  node: { label: 'Signalbox, one Node process', supply: 6_000, times: 6 },
}
type HandlerName = keyof typeof HANDLERS

/** Callbacks at a time. With few of them the naive handler is at its best. */
const CASES: readonly (readonly [HandlerName, at: number])[] = [
  ['naive', 1],
  ['naive', 2],
  ['naive', 4],
  ['naive', 8],
  ['signalbox', 64],
  ['node', 64],
  ['signalbox', 256],
  ['node', 256],
]
/** Callbacks still unanswered `drainMs` after the last was sent have failed. */
const FULL = { rounds: 5, warmUpMs: 2_000, countedMs: 4_000, drainMs: 10_000 }
const QUICK: typeof FULL = { rounds: 1, warmUpMs: 500, countedMs: 1_000, drainMs: 3_000 }
const SEED = 20_260_201

export const runWebhooks: Bench = async ({ workDir, isQuick, report }) => {
  const plan = isQuick ? QUICK : FULL
  const cases = CASES.map(([name, at]) => {
    return { name, at, perSecond: [] as number[], faults: new Set<string>() }
  })
  for (let round = 0; round < plan.rounds; round++) {
    // Every second round has the other order, since the first system runs on a cold machine.
    for (const each of round % 2 === 0 ? cases : cases.toReversed()) {
      const dir = join(workDir, 'webhooks')
      const { perSecond, faults } = await measure(each, dir, plan)
      rmSync(dir, { recursive: true, force: true, maxRetries: 3 })
      each.perSecond.push(perSecond)
      for (const fault of faults) each.faults.add(fault)
    }
  }
  const rivals = cases.filter(({ name }) => name === 'naive')
  const best = Math.max(...rivals.map((it) => percentile(it.perSecond, 50)))
  for (const { name, at, perSecond, faults } of cases) {
    const { label: system, times } = HANDLERS[name]
    const aim = times === undefined ? undefined : atLeast(times * best)
    report({ what: `${at} at a time`, system, unit: '/s' }, perSecond, { aim, faults: [...faults] })
  }
}

/** Started fresh, given pending payments, loaded with a callback of each, and checked. */
async function measure(
  { name, at: connections }: { name: HandlerName; at: number },
  dir: string,
  { warmUpMs, countedMs, drainMs }: typeof FULL,
) {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  await using stack = new AsyncDisposableStack()
  const database = name === 'node' ? fileIn(dir) : await startLibsql({ dir })
  stack.defer(() => database.close())
  const port = await startHandler(name, dir, database, stack)
  const count = Math.ceil((HANDLERS[name].supply * (warmUpMs + countedMs)) / 1_000)
  const requests = shuffled(await signCallbacks(count))
  await seed(database, count)
  const countsFrom = performance.now() + warmUpMs
  let endsAt = countsFrom + countedMs
  const errors = new Set<string>()
  let [sent, ok, counted] = [0, 0, 0]
  await closedLoad({
    port,
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
      } else errors.add(errorOf(reply))
    },
  })
  // Too many concurrent writers cause this. Then the stored rows cannot be checked.
  const faults = await faultsIn(database, { sent, ok }, name !== 'naive').catch((error) => {
    if (!isTransient(error)) throw error
    return ['the database did not answer after the load']
  })
  const perSecond = (counted / (endsAt - countsFrom)) * 1_000
  return { perSecond, faults: [...errors, ...faults] }
}

const errorOf = (reply: { status: number; body: string } | undefined): string => {
  if (!reply) return 'no answer in time'
  return reply.status === 200 ? `200 ${reply.body.slice(0, 40)}` : `HTTP ${reply.status}`
}

/** The port on which it takes callbacks. */
async function startHandler(
  name: HandlerName,
  dir: string,
  database: PaymentsDatabase,
  stack: AsyncDisposableStack,
): Promise<number> {
  if (name !== 'naive') {
    const prepare = name === 'node' ? prepareNode : prepareWorkerd
    return stack.use(await startPayments(prepare, join(dir, 'edge'), database)).port
  }
  const args = [join(import.meta.dirname, 'payments/naive.ts'), database.url, database.token]
  const { program, line } = await startNode([...args, API_KEY], /^naive ready /, { dir })
  stack.use(program)
  return Number(line.split(' ').at(-1))
}

/** Payers do not come in the order of their payments, and the next row in a page is cheap. */
function shuffled(requests: readonly Buffer[]): Buffer[] {
  const random = new Seeded(SEED)
  const keyed = requests.map((request) => ({ request, key: random.next() }))
  return keyed.sort((one, other) => one.key - other.key).map(({ request }) => request)
}
