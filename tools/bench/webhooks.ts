// Callbacks of a gateway. The handlers take turns, each started fresh on a database of its own for
// each measurement, so that other work of the machine affects all of them; then the rows are checked.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseUnreachable } from '../../worker/payments/ledger/libsql/database-libsql.ts'
import { Seeded } from '../harness/seeded.ts'
import { type Aim, type Bench, type Row, rowOf } from './bench.ts'
import { seed, signCallbacks } from './payments/callbacks.ts'
import { type Handler, type HandlerName, startHandler } from './payments/handlers.ts'
import { closedLoad, type Load, openLoad, type Supply } from './payments/load.ts'
import { faultsIn, storedIn } from './payments/stored.ts'
import { cpuMsOf } from './proc.ts'
import { percentile } from './statistics.ts'

/** Times the naive handler at its best, and shares of others. */
const LEAST = {
  signalbox: { timesNaive: 5, shareOfNoDatabase: 0.5 },
  // It verifies, decides and saves on the same two cores; workerd's comparison stores nothing.
  node: { timesNaive: 6, shareOfNoDatabase: 0.33 },
  shareWhileHanging: 0.9,
}
const MOST_PACE_MS = 50

const FULL = {
  rounds: 5,
  levels: [64, 256],
  /** Where the naive handler may be at its best. */
  naiveLevels: [1, 2, 4, 8],
  times: { warmUpMs: 2_000, countedMs: 4_000, drainMs: 10_000 },
  /** Where it fails: longer, since libSQL's server may write nothing for many seconds. */
  overload: { rounds: 3, countedMs: 10_000 },
  pace: { runs: 3, perSecond: 500, forMs: 22_000, warmUpMs: 2_000 },
}
const QUICK: typeof FULL = {
  rounds: 1,
  levels: FULL.levels,
  naiveLevels: [1, 4],
  times: { warmUpMs: 500, countedMs: 1_000, drainMs: 3_000 },
  overload: { rounds: 1, countedMs: 1_000 },
  pace: { ...FULL.pace, runs: 1, forMs: 3_000, warmUpMs: 1_000 },
}
/** Callbacks at hand for a second, more than the quickest machine that we know answers. */
const SUPPLY: Readonly<Record<HandlerName, number>> = {
  signalbox: 6_000,
  node: 6_000,
  'hanging-listener': 6_000,
  naive: 2_000,
  'no-database': 1_000,
}
const LABEL: Readonly<Record<HandlerName, string>> = {
  signalbox: 'Signalbox on workerd',
  node: 'Signalbox, one Node process',
  'hanging-listener': 'Signalbox on workerd, a listener hangs',
  naive: 'naive handler',
  'no-database': 'no database',
}

interface Rates {
  perSecond: number[]
  /** Time on a core for each that was answered `ok`: of the handler, and of a database server. */
  handlerUs: number[]
  databaseUs: number[]
  faults: Set<string>
}

export const runWebhooks: Bench = async (run, report) => {
  const plan = run.isQuick ? QUICK : FULL
  const dir = join(run.workDir, 'webhooks')
  const found = new Map<string, { name: HandlerName; at: number } & Rates>()
  const measure = async (name: HandlerName, at: number, times: typeof plan.times) => {
    const seconds = (times.warmUpMs + times.countedMs) / 1_000
    const { load, handlerUs, databaseUs, faults } = await onFresh(
      name,
      dir,
      Math.ceil(SUPPLY[name] * seconds),
      (handler, supply) => closedLoad(supply, { ...times, connections: at, port: handler.port }),
    )
    const key = `${name} ${at}`
    const of = found.get(key) ?? { name, at, ...NOTHING() }
    found.set(key, of)
    of.perSecond.push(load.perSecond)
    of.handlerUs.push(handlerUs)
    if (databaseUs !== undefined) of.databaseUs.push(databaseUs)
    for (const fault of faults) of.faults.add(fault)
  }
  const [first = 0] = plan.levels
  const turn: [HandlerName, number][] = [
    ...plan.levels.flatMap((at) =>
      (['signalbox', 'node', 'no-database'] as const).map(
        (name) => [name, at] as [HandlerName, number],
      ),
    ),
    ['hanging-listener', first],
    ...plan.naiveLevels.map((at) => ['naive', at] as [HandlerName, number]),
  ]
  for (let round = 0; round < plan.rounds; round++) {
    // Every second round has the other order, since the first system runs on a cold machine.
    for (const [name, at] of round % 2 === 0 ? turn : turn.toReversed()) {
      await measure(name, at, plan.times)
    }
  }
  const paced = await measurePace(plan, dir)
  // Last, because its load on the disk would affect the other measurements.
  for (let round = 0; round < plan.overload.rounds; round++) {
    for (const at of plan.levels) {
      await measure('naive', at, { ...plan.times, countedMs: plan.overload.countedMs })
    }
  }
  for (const row of rowsOf(found.values(), first)) report(row)
  const aim = { of: 'p99', most: MOST_PACE_MS } as const
  const of = { what: `at ${plan.pace.perSecond} a second`, system: LABEL.signalbox, unit: 'ms' }
  report(rowOf(of, paced.latencies, { aim, faults: paced.faults }))
}

const NOTHING = (): Rates => ({ perSecond: [], handlerUs: [], databaseUs: [], faults: new Set() })

function rowsOf(found: Iterable<{ name: HandlerName; at: number } & Rates>, fewest: number): Row[] {
  const all = [...found]
  const rate = (name: HandlerName, at: number) =>
    percentile(all.find((it) => it.name === name && it.at === at)?.perSecond ?? [], 50)
  const naive = Math.max(
    ...all.filter(({ name }) => name === 'naive').map(({ at }) => rate('naive', at)),
  )
  const leastOf = (name: HandlerName, at: number): number | undefined => {
    if (name === 'hanging-listener') return LEAST.shareWhileHanging * rate('signalbox', at)
    if (name !== 'signalbox' && name !== 'node') return undefined
    const { timesNaive, shareOfNoDatabase } = LEAST[name]
    return Math.max(timesNaive * naive, shareOfNoDatabase * rate('no-database', at))
  }
  return all
    .toSorted((a, b) => a.at - b.at)
    .flatMap(({ name, at, perSecond, handlerUs, databaseUs, faults }) => {
      const least = leastOf(name, at)
      const aim: { aim?: Aim } = least === undefined ? {} : { aim: { of: 'p50', least } }
      const row = (words: string, unit: string, values: number[], more = {}) =>
        rowOf({ what: `${at} at a time${words}`, system: LABEL[name], unit }, values, more)
      const rate = row('', '/s', perSecond, { ...aim, faults: [...faults] })
      // With few at a time only the rate counts: the naive handler is held at its best.
      if (at < fewest) return [rate]
      return [
        rate,
        row(', of a core for each', 'µs', handlerUs),
        ...(databaseUs.length > 0 ? [row(', the database for each', 'µs', databaseUs)] : []),
      ]
    })
}

async function measurePace({ pace, times }: typeof FULL, dir: string) {
  const latencies: number[] = []
  const faults = new Set<string>()
  for (let n = 0; n < pace.runs; n++) {
    const count = Math.ceil((pace.perSecond * pace.forMs) / 1_000)
    const { load, ...of } = await onFresh('signalbox', dir, count, ({ port }, supply) =>
      openLoad(supply, { ...pace, port, mostConnections: 256, drainMs: times.drainMs }),
    )
    latencies.push(...load.latencies)
    for (const fault of of.faults) faults.add(fault)
  }
  return { latencies, faults: [...faults] }
}

/** One measurement: started fresh, given pending transactions, loaded, and checked. */
async function onFresh<L extends Load>(
  name: HandlerName,
  dir: string,
  callbacks: number,
  load: (handler: Handler, supply: Supply) => Promise<L>,
) {
  const handler = await startHandler(name, dir)
  try {
    const supply = await supplyOf(handler, callbacks)
    const used = () => [handler.pid, handler.databasePid].map((pid) => (pid ? cpuMsOf(pid) : 0))
    const [handlerFrom = 0, databaseFrom = 0] = used()
    const loaded = await load(handler, supply)
    const [handlerTo = 0, databaseTo = 0] = used()
    // Dispatches after the answers count as well, as far as they are done when the load ends.
    const each = (ms: number) => (ms * 1_000) / loaded.ok
    return {
      load: loaded,
      handlerUs: each(handlerTo - handlerFrom),
      databaseUs: handler.databasePid && each(databaseTo - databaseFrom),
      faults: await faultsOf(name, handler, loaded),
    }
  } finally {
    await handler.stop()
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 })
  }
}

const SEED = 20_260_201

/** Each callback once, where it is stored; otherwise again and again. */
async function supplyOf({ database }: Handler, count: number): Promise<Supply> {
  const requests = await signCallbacks(0, count)
  let next = 0
  if (!database) return () => requests[next++ % count]
  await seed(database, 0, count)
  // Payers do not come in the order of their transactions, and the next row in a page is cheap.
  const random = new Seeded(SEED)
  for (let last = requests.length - 1; last > 0; last--) {
    const other = random.below(last + 1)
    const [a, b] = [requests[last], requests[other]]
    if (a && b) [requests[last], requests[other]] = [b, a]
  }
  return () => requests[next++]
}

const OUTBOX = {
  signalbox: 'taken',
  node: 'taken',
  'hanging-listener': 'hanging',
  naive: 'none',
  'no-database': 'none',
} as const satisfies Record<HandlerName, Parameters<typeof faultsIn>[2]>

async function faultsOf(name: HandlerName, { database }: Handler, load: Load): Promise<string[]> {
  const errors = Object.entries(load.errors).map(([what]) => what)
  if (!database) return errors
  try {
    return [...errors, ...faultsIn(await storedIn(database), load, OUTBOX[name])]
  } catch (error) {
    if (!(error instanceof DatabaseUnreachable)) throw error
    // Too many concurrent writers cause this. Then the stored rows cannot be checked.
    return [...errors, 'the database did not answer after the load']
  }
}
