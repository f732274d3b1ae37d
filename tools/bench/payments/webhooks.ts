// One measurement of one handler: started fresh, given pending transactions, loaded, and checked.

import { rmSync } from 'node:fs'
import { DatabaseUnreachable } from '../../../worker/payments/ledger/libsql/database-libsql.ts'
import { cpuMsOf } from '../proc.ts'
import { randomFrom, rounded, type Summary, summarize } from '../statistics.ts'
import { seed, signCallbacks } from './callbacks.ts'
import { type Handler, type HandlerName, startHandler } from './handlers.ts'
import { closedLoad, type Load, openLoad, type Supply } from './load.ts'
import { faultsIn, storedIn } from './stored.ts'

export interface Sample {
  handler: HandlerName
  sent: number
  ok: number
  /** How often each answer but 200 `ok` was met. */
  errors: Record<string, number>
  /** What the database shows that it must not. */
  faults: string[]
  /** Time on a core for each that was answered `ok`: of the handler's process, and of a server. */
  cpuUs: { handler: number; database?: number }
}

export interface RateSample extends Sample {
  connections: number
  perSecond: number
}

export interface PaceSample extends Sample {
  perSecond: number
  latencies: number[]
}

export interface RatePlan {
  handler: HandlerName
  connections: number
  warmUpMs: number
  countedMs: number
  drainMs: number
  /** Callbacks at hand: the load ends early when they are used up. */
  callbacks: number
}

export function measureRate(plan: RatePlan, dir: string): Promise<RateSample> {
  const { handler: name, connections, callbacks } = plan
  return onFresh(name, dir, async (handler) => {
    const supply = await supplyOf(handler, callbacks)
    const [load, cpuUs] = await withCpu(handler, () =>
      closedLoad(supply, { ...plan, port: handler.port }),
    )
    const perSecond = Math.round(load.perSecond)
    return { ...(await checked(name, handler, load)), cpuUs, connections, perSecond }
  })
}

export interface PacePlan {
  perSecond: number
  forMs: number
  warmUpMs: number
  mostConnections: number
  drainMs: number
}

export function measurePace(plan: PacePlan, dir: string): Promise<PaceSample> {
  const name = 'signalbox'
  return onFresh(name, dir, async (handler) => {
    const supply = await supplyOf(handler, Math.ceil((plan.perSecond * plan.forMs) / 1_000))
    const [load, cpuUs] = await withCpu(handler, () =>
      openLoad(supply, { ...plan, port: handler.port }),
    )
    const { perSecond } = plan
    return { ...(await checked(name, handler, load)), cpuUs, perSecond, latencies: load.latencies }
  })
}

async function onFresh<Result>(
  name: HandlerName,
  dir: string,
  measure: (handler: Handler) => Promise<Result>,
): Promise<Result> {
  const handler = await startHandler(name, dir)
  try {
    return await measure(handler)
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
  shuffle(requests)
  return () => requests[next++]
}

/** Payers do not come in the order of their transactions, and the next row in a page is cheap. */
function shuffle(list: unknown[]): void {
  const random = randomFrom(SEED)
  for (let last = list.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1))
    ;[list[last], list[other]] = [list[other], list[last]]
  }
}

/**
 * Dispatches after the answers count as well, as far as they are done when the load ends.
 */
async function withCpu<L extends Load>(
  { pid, databasePid }: Handler,
  run: () => Promise<L>,
): Promise<[L, Sample['cpuUs']]> {
  const used = () => ({ handler: cpuMsOf(pid), database: databasePid && cpuMsOf(databasePid) })
  const before = used()
  const load = await run()
  const after = used()
  const each = (now: number, then: number) => Math.round(((now - then) * 1_000) / load.ok)
  const cpuUs = { handler: each(after.handler, before.handler) }
  if (after.database === undefined || before.database === undefined) return [load, cpuUs]
  return [load, { ...cpuUs, database: each(after.database, before.database) }]
}

const OUTBOX = {
  signalbox: 'taken',
  node: 'taken',
  'hanging-listener': 'hanging',
  naive: 'none',
  'no-database': 'none',
} as const satisfies Record<HandlerName, Parameters<typeof faultsIn>[2]>

async function checked(
  name: HandlerName,
  { database }: Handler,
  load: Load,
): Promise<Omit<Sample, 'cpuUs'>> {
  const { sent, ok, errors } = load
  const base = { handler: name, sent, ok, errors }
  if (!database) return { ...base, faults: [] }
  try {
    const stored = await storedIn(database)
    return { ...base, faults: faultsIn(stored, load, OUTBOX[name]) }
  } catch (error) {
    if (!(error instanceof DatabaseUnreachable)) throw error
    // Too many concurrent writers cause this. Then the stored rows cannot be checked.
    return { ...base, faults: ['the database did not answer after the load'] }
  }
}

/**
 * What is kept of a load at a constant rate: its numbers, and enough of its latencies to see their
 * shape.
 */
export interface PaceRun extends Omit<PaceSample, 'latencies'> {
  latency: Summary
  /** Latencies in even steps from the quickest on, and each of the slowest. */
  spread: number[]
}

const STEPS = 150
const SLOWEST = 25

export function paceRun({ latencies, ...sample }: PaceSample): PaceRun {
  const { count, p50, p90, p99, max } = summarize(latencies)
  const latency = {
    count,
    p50: rounded(p50),
    p90: rounded(p90),
    p99: rounded(p99),
    max: rounded(max),
  }
  return { ...sample, latency, spread: spreadOf(latencies).map(rounded) }
}

function spreadOf(values: readonly number[]): number[] {
  const sorted = values.toSorted((a, b) => a - b)
  const rest = sorted.slice(0, Math.max(sorted.length - SLOWEST, 0))
  const step = Math.max(rest.length / STEPS, 1)
  const even = Array.from({ length: Math.min(rest.length, STEPS) }, (_, n) => Math.floor(n * step))
  return [...even.flatMap((n) => sorted[n] ?? []), ...sorted.slice(rest.length)]
}
