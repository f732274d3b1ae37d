// What goes wrong in a run, each by its name. Every fault ends what it began.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Process } from '../../harness/process.ts'
import { type Holding, holdBatch, undoesRefund } from './held-batch.ts'
import type { PaymentsLoad } from './payments-load.ts'
import type { FaultyProxy } from './proxy.ts'
import type { System } from './system.ts'

export interface Scene {
  system: System
  payments: PaymentsLoad
  /** Whether the board's clients come to have what the files hold. It is recorded. */
  settle(): Promise<boolean>
}

/** How it went, for people who read the history. */
type Detail = Record<string, unknown>

export interface Fault {
  /**
   * How long it lasts, in ms: `brief` in a run that has little time for each fault, `full` in any
   * other. A fault without `brief` is left out of a short run.
   */
  brief?: number
  full: number
  /** `round`: how often it came before in this run. */
  run(scene: Scene, ms: number, round: number): Promise<Detail | undefined>
}

type ProcessName = 'edge' | 'database' | 'sidecar' | 'simulator'
const PROCESSES: readonly ProcessName[] = ['edge', 'database', 'sidecar', 'simulator']
/** Not the simulator: its payments are in its memory, and the checker compares with them. */
const KILLED: readonly ProcessName[] = ['edge', 'database', 'sidecar']

function processOf({ processes, database }: System, name: ProcessName): Process {
  return name === 'database' ? serverOf(database).process : processes[name]
}

function serverOf({ server }: System['database']) {
  if (!server) throw new Error('The database of this host is a file.')
  return server
}

type ProxyName = 'edge-database' | 'sidecar-edge' | 'edge-gateway'

const proxiesOf = ({ proxies, database }: System, name: ProxyName): FaultyProxy[] => {
  if (name === 'edge-database') return [serverOf(database).proxy]
  return name === 'sidecar-edge' ? [proxies.sidecar] : [proxies.gateways, proxies.webhooks]
}

/** The ledger gives a batch up after 6 s and sends it again; this one lands after that. */
const HELD_MS = 8_000
/** The ledger answers every caller within 25 s. */
const ABANDONED_MS = 28_000
/** Until then, a gateway sends a webhook again that was refused, and it is saved. */
const REPEATED_MS = 6_000
/** How long after the eviction the batch under way arrives. */
const EVICTED_UNDER_MS = 1_000
const DELAY_MS = 2_000
const EVICTED_EVERY_MS = 500

const killed = (name: ProcessName): Fault => ({
  brief: 500,
  full: 2_000,
  async run({ system }, ms) {
    await processOf(system, name).kill()
    await sleep(ms)
    await processOf(system, name).start()
  },
})

const stopped = (name: ProcessName): Fault => ({
  brief: 2_000,
  full: 20_000,
  async run({ system }, ms) {
    processOf(system, name).freeze()
    await sleep(ms)
    processOf(system, name).thaw()
  },
})

const onProxies = (
  name: ProxyName,
  times: { brief: number; full: number },
  begin: (proxy: FaultyProxy) => void,
): Fault => ({
  ...times,
  async run({ system }, ms) {
    const proxies = proxiesOf(system, name)
    for (const proxy of proxies) begin(proxy)
    await sleep(ms)
    for (const proxy of proxies) proxy.conditions = {}
  },
})

const REFUNDED = `SELECT DISTINCT transaction_id FROM payment_refunds
  WHERE id IN (SELECT value FROM json_each(:ids))`

/**
 * In every second round any batch is held. In the others it is one that would undo the end of a
 * refund: it lands when that end was seen, and then it is looked at again.
 */
async function holdIn(round: number, { system, payments }: Scene, ms: number, of: Holding = {}) {
  const { proxy } = serverOf(system.database)
  if (round % 2 === 1) return await holdBatch(proxy, ms, of)
  const found = Promise.withResolvers<string[]>()
  const holding = holdBatch(proxy, ms, {
    ...of,
    isSought: undoesRefund,
    async overtaken(ids) {
      const rows = await system.database.query(REFUNDED, { ids: JSON.stringify(ids) })
      const refunded = rows.map((row) => String(row.transaction_id))
      found.resolve(refunded)
      await payments.seesRefundsOver(refunded)
    },
  })
  void holding.then(() => found.resolve([]))
  const calm = payments.calmly(found.promise)
  const detail = await holding
  await payments.seesRefundsOver(await found.promise)
  await calm
  return detail
}

const lateBatch: Fault = {
  brief: HELD_MS,
  full: HELD_MS,
  run: (scene, ms, round) => holdIn(round, scene, ms),
}

/**
 * Every caller of the batch got a 503, and some have asked again, before it lands. In every second
 * round it is the first to land; in the others what is asked again is saved before.
 */
const abandonedBatch: Fault = {
  full: ABANDONED_MS,
  run: (scene, ms, round) =>
    holdIn(round, scene, round % 2 === 0 ? ms + REPEATED_MS : ms, { aloneMs: ms }),
}

const evictLedger: Fault = {
  brief: EVICTED_UNDER_MS,
  full: EVICTED_UNDER_MS,
  run: ({ system }, ms) =>
    holdBatch(serverOf(system.database).proxy, ms, {
      onHeld: () => fetch(`${system.edgeUrl}/evict-ledger`, { method: 'POST' }),
    }),
}

/** The object that decides who holds a task, again and again. */
const evictBoard: Fault = {
  brief: 2_000,
  full: 10_000,
  async run({ system }, ms) {
    const url = `${system.edgeUrl}/evict-board`
    for (let n = 0; n < ms / EVICTED_EVERY_MS; n++) {
      await fetch(url, { method: 'POST', body: system.repo })
      await sleep(EVICTED_EVERY_MS)
    }
    return { times: Math.ceil(ms / EVICTED_EVERY_MS) }
  },
}

const twoLedgers: Fault = {
  brief: 4_000,
  full: 20_000,
  async run({ system, payments }, ms) {
    const { proxies, processes, edgeUrl, secondEdgeUrl } = system
    await processes.secondEdge.start()
    payments.edges = [edgeUrl, secondEdgeUrl]
    proxies.webhooks.targets = [edgeUrl, secondEdgeUrl]
    await sleep(ms)
    payments.edges = [edgeUrl]
    proxies.webhooks.targets = [edgeUrl]
    await processes.secondEdge.stop()
  },
}

/** As a backup or another tool does that takes its time. */
const lockDatabase: Fault = {
  brief: 2_000,
  full: 10_000,
  async run({ system }, ms) {
    const unlock = await system.database.lock?.()
    await sleep(ms)
    unlock?.()
  },
}

const HOUR_MS = 60 * 60 * 1_000
/** Back, as a machine that ran local time; and ahead; and from one to the other. */
const MOVES_MS = [-HOUR_MS, 24 * HOUR_MS, -24 * HOUR_MS, HOUR_MS]

/**
 * In a wrong time zone, until somebody sees it. What was planned then is left to the product, and
 * not made due at the end of the run (`rest.ts`).
 */
const AHEAD_MS = [3 * HOUR_MS]

/** As a time service sets it, or a machine that wakes: steps of 0.1 to 60 s, either way. */
const STEPS_MS = [-100, 400, -600, 400, -9_600, 400, -29_600, 30_400, -29_600]

/** The clock of the machine that the edge, the sidecar and the gateways run on. */
const clockFault = (moves: readonly number[], brief: number, full: number): Fault => ({
  brief,
  full,
  async run({ system }, ms) {
    for (const moved of moves) {
      await system.moveClock(moved)
      await sleep(ms / moves.length)
    }
    await system.moveClock(0)
  },
})

const proxyFaults = (name: ProxyName): Record<string, Fault> => ({
  [`cut-${name}`]: onProxies(name, { brief: 1_000, full: 5_000 }, (proxy) => proxy.cut()),
  [`delay-${name}`]: onProxies(name, { brief: 3_000, full: 10_000 }, (proxy) => {
    proxy.conditions = { delayMs: DELAY_MS }
  }),
  [`tear-${name}`]: onProxies(name, { brief: 1_000, full: 5_000 }, (proxy) => {
    proxy.conditions = { tears: true }
  }),
})

const loses = (name: ProxyName): Fault =>
  onProxies(name, { brief: 1_000, full: 5_000 }, (proxy) => {
    proxy.conditions = { loses: true }
  })

/** In the order of a run. Faults of the gateway come last: they open its circuit for 30 s. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  'late-batch': lateBatch,
  'abandoned-batch': abandonedBatch,
  'two-ledgers': twoLedgers,
  'lock-database': lockDatabase,
  'evict-ledger': evictLedger,
  'evict-board': evictBoard,
  'move-clock': clockFault(MOVES_MS, 4_000, 24_000),
  'ahead-clock': clockFault(AHEAD_MS, 4_000, 18_000),
  'step-clock': clockFault(STEPS_MS, 3_000, 18_000),
  ...Object.fromEntries(KILLED.map((name) => [`kill-${name}`, killed(name)])),
  ...proxyFaults('edge-database'),
  ...proxyFaults('sidecar-edge'),
  'lose-sidecar-edge': loses('sidecar-edge'),
  ...Object.fromEntries(PROCESSES.map((name) => [`stop-${name}`, stopped(name)])),
  ...proxyFaults('edge-gateway'),
  'lose-edge-gateway': loses('edge-gateway'),
}

const OF_SERVER = /^(late|abandoned)-batch$|-database$/
const OF_FILE = 'lock-database'

/**
 * Under Deno and Node the ledger runs in the edge's own process, so `kill-edge` stops it. Node's
 * database is in that process, too, and there is no proxy between the two.
 */
export const faultsOf = (host: System['host']): string[] =>
  Object.keys(FAULTS).filter((name) => {
    if (name.startsWith('evict-')) return host === 'workerd'
    // What runs inside workerd is not told another time from outside.
    if (name.endsWith('-clock')) return host !== 'workerd'
    if (name === OF_FILE) return host === 'node'
    return host !== 'node' || !OF_SERVER.test(name)
  })
