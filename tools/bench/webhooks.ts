// Callbacks of a gateway. The handlers take turns, each started fresh on a database of its own for
// each measurement, so that other work of the machine affects all of them; then the rows are checked.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseUnreachable } from '../../worker/payments/ledger/libsql/database-libsql.ts'
import { Seeded } from '../harness/seeded.ts'
import { type Aim, type Bench, percentile, type Row, rowOf } from './bench.ts'
import { seed, signCallbacks } from './payments/callbacks.ts'
import { type Handler, type HandlerName, startHandler } from './payments/handlers.ts'
import { closedLoad, type Load, type Supply } from './payments/load.ts'
import { faultsIn, storedIn } from './payments/stored.ts'

/** Times the naive handler at its best. */
const TIMES_NAIVE = { signalbox: 5, node: 6 }

const FULL = { rounds: 5, times: { warmUpMs: 2_000, countedMs: 4_000, drainMs: 10_000 } }
const QUICK: typeof FULL = { rounds: 1, times: { warmUpMs: 500, countedMs: 1_000, drainMs: 3_000 } }

interface Case {
  name: HandlerName
  /** Callbacks at a time. */
  at: number
  perSecond: number[]
  faults: Set<string>
}

/** With few at a time the naive handler is at its best. */
const CASES: readonly [HandlerName, at: number][] = [
  ...[1, 2, 4, 8].map((at) => ['naive', at] as [HandlerName, number]),
  ['signalbox', 64],
  ['node', 64],
  ['signalbox', 256],
  ['node', 256],
]
/** Callbacks at hand for a second, more than the quickest machine that we know answers. */
const SUPPLY: Readonly<Record<HandlerName, number>> = {
  signalbox: 6_000,
  node: 6_000,
  naive: 2_000,
}
const LABEL: Readonly<Record<HandlerName, string>> = {
  signalbox: 'Signalbox on workerd',
  node: 'Signalbox, one Node process',
  naive: 'naive handler',
}

export const runWebhooks: Bench = async (run, report) => {
  const { rounds, times } = run.isQuick ? QUICK : FULL
  const cases = CASES.map(([name, at]): Case => ({ name, at, perSecond: [], faults: new Set() }))
  for (let round = 0; round < rounds; round++) {
    // Every second round has the other order, since the first system runs on a cold machine.
    for (const each of round % 2 === 0 ? cases : cases.toReversed()) {
      const { load, faults } = await measure(each, join(run.workDir, 'webhooks'), times)
      each.perSecond.push(load.perSecond)
      for (const fault of faults) each.faults.add(fault)
    }
  }
  for (const row of rowsOf(cases)) report(row)
}

function rowsOf(cases: readonly Case[]): Row[] {
  const rates = cases
    .filter(({ name }) => name === 'naive')
    .map((it) => percentile(it.perSecond, 50))
  const best = Math.max(...rates)
  return cases.map(({ name, at, perSecond, faults }) => {
    const aim: { aim?: Aim } =
      name === 'naive' ? {} : { aim: { of: 'p50', least: TIMES_NAIVE[name] * best } }
    const of = { what: `${at} at a time`, system: LABEL[name], unit: '/s' }
    return rowOf(of, perSecond, { ...aim, faults: [...faults] })
  })
}

/** Started fresh, given pending transactions, loaded, and checked. */
async function measure({ name, at }: Case, dir: string, times: typeof FULL.times) {
  const handler = await startHandler(name, dir)
  try {
    const seconds = (times.warmUpMs + times.countedMs) / 1_000
    const supply = await supplyOf(handler, Math.ceil(SUPPLY[name] * seconds))
    const load = await closedLoad(supply, { ...times, connections: at, port: handler.port })
    return { load, faults: await faultsOf(name, handler, load) }
  } finally {
    await handler.stop()
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 })
  }
}

const SEED = 20_260_201

/** Each callback once. */
async function supplyOf({ database }: Handler, count: number): Promise<Supply> {
  const requests = await signCallbacks(count)
  await seed(database, count)
  // Payers do not come in the order of their transactions, and the next row in a page is cheap.
  const random = new Seeded(SEED)
  for (let last = requests.length - 1; last > 0; last--) {
    const other = random.below(last + 1)
    const [a, b] = [requests[last], requests[other]]
    if (a && b) [requests[last], requests[other]] = [b, a]
  }
  let next = 0
  return () => requests[next++]
}

async function faultsOf(name: HandlerName, { database }: Handler, load: Load): Promise<string[]> {
  try {
    const stored = await storedIn(database)
    return [...load.errors, ...faultsIn(stored, load, { hasOutbox: name !== 'naive' })]
  } catch (error) {
    if (!(error instanceof DatabaseUnreachable)) throw error
    // Too many concurrent writers cause this. Then the stored rows cannot be checked.
    return [...load.errors, 'the database did not answer after the load']
  }
}
