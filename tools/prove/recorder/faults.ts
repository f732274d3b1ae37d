// What goes wrong in a run, each by its name. Every fault ends what it began.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Host } from '../../harness/hosts.ts'
import type { Process } from '../../harness/process.ts'
import { type Holding, holdBatch, undoesRefund } from './held-batch.ts'
import type { PaymentsLoad } from './loads/payments-load.ts'
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

interface Fault {
  /**
   * How long it lasts, in ms: `brief` in a run that has little time for each fault, `full` in any
   * other. A fault without `brief` is left out of a short run.
   */
  brief?: number
  full: number
  /** `round`: how often it came before in this run. */
  run(scene: Scene, ms: number, round: number): Promise<Detail | undefined>
}

/** What `begin` returns ends it. */
const lasting = (
  brief: number,
  full: number,
  begin: (scene: Scene) => Promise<() => unknown> | (() => unknown),
): Fault => ({
  brief,
  full,
  async run(scene, ms) {
    const end = await begin(scene)
    await sleep(ms)
    await end()
    return undefined
  },
})

function serverOf({ server }: System) {
  if (!server) throw new Error('The database of this host is a file.')
  return server
}

type ProcessName = 'edge' | 'database' | 'sidecar' | 'simulator'

const processOf = (system: System, name: ProcessName): Process =>
  name === 'database' ? serverOf(system).process : system.processes[name]

const kill = (name: ProcessName): Fault =>
  lasting(500, 2_000, async ({ system }) => {
    const killed = processOf(system, name)
    await killed.kill()
    return () => killed.start()
  })

const stop = (name: ProcessName): Fault =>
  lasting(2_000, 20_000, ({ system }) => {
    const stopped = processOf(system, name)
    stopped.freeze()
    return () => stopped.thaw()
  })

type ProxyName = 'edge-database' | 'sidecar-edge' | 'edge-gateway'

const proxiesOf = (system: System, name: ProxyName): FaultyProxy[] => {
  if (name === 'edge-database') return [serverOf(system).proxy]
  const { gateways, webhooks, sidecar } = system.proxies
  return name === 'sidecar-edge' ? [sidecar] : [gateways, webhooks]
}

const DELAY_MS = 2_000
const CONDITIONS = { delay: { delayMs: DELAY_MS }, tear: { tears: true }, lose: { loses: true } }

const onProxies = (how: 'cut' | keyof typeof CONDITIONS, name: ProxyName): Fault => {
  const [brief, full] = how === 'delay' ? [3_000, 10_000] : [1_000, 5_000]
  return lasting(brief, full, ({ system }) => {
    const proxies = proxiesOf(system, name)
    for (const proxy of proxies) {
      if (how === 'cut') proxy.cut()
      else proxy.conditions = CONDITIONS[how]
    }
    return () => {
      for (const proxy of proxies) proxy.conditions = {}
    }
  })
}

/** The ledger gives a batch up after 6 s and sends it again; this one lands after that. */
const HELD_MS = 8_000
/** The ledger answers every caller within 25 s. */
const ABANDONED_MS = 28_000
/** Until then, a gateway sends a webhook again that was refused, and it is saved. */
const REPEATED_MS = 6_000
/** How long after the eviction the batch under way arrives. */
const EVICTED_UNDER_MS = 1_000
const EVICTED_EVERY_MS = 500

const REFUNDED = `SELECT DISTINCT transaction_id FROM payment_refunds
  WHERE id IN (SELECT value FROM json_each(:ids))`

/**
 * In every second round any batch is held. In the others it is one that would undo the end of a
 * refund: it lands when that end was seen, and then it is looked at again.
 */
async function holdIn(round: number, { system, payments }: Scene, ms: number, of: Holding = {}) {
  const { proxy } = serverOf(system)
  if (round % 2 === 1) return await holdBatch(proxy, ms, of)
  const found = Promise.withResolvers<string[]>()
  const holding = holdBatch(proxy, ms, {
    ...of,
    isSought: undoesRefund,
    async overtaken(ids) {
      const rows = await system.query(REFUNDED, { ids: JSON.stringify(ids) })
      const refunded = rows.map((row) => String(row.transaction_id))
      found.resolve(refunded)
      await payments.looks.untilOver(refunded)
    },
  })
  void holding.then(() => found.resolve([]))
  const calm = payments.calmly(found.promise)
  const detail = await holding
  await payments.looks.untilOver(await found.promise)
  await calm
  return detail
}

/** The object that decides who holds a task, again and again. */
async function evictBoard({ system }: Scene, ms: number): Promise<Detail> {
  const times = Math.ceil(ms / EVICTED_EVERY_MS)
  for (let n = 0; n < times; n++) {
    await fetch(`${system.edgeUrl}/evict-board`, { method: 'POST', body: system.repo })
    await sleep(EVICTED_EVERY_MS)
  }
  return { times }
}

const evictLedger = ({ system }: Scene, ms: number): Promise<Detail> =>
  holdBatch(serverOf(system).proxy, ms, {
    onHeld: () => fetch(`${system.edgeUrl}/evict-ledger`, { method: 'POST' }),
  })

async function twoLedgers({ system, payments }: Scene) {
  const { proxies, processes, edgeUrl, secondEdgeUrl } = system
  const share = (urls: readonly string[]) => {
    payments.shop.edges = urls
    proxies.webhooks.targets = urls
  }
  await processes.secondEdge.start()
  share([edgeUrl, secondEdgeUrl])
  return () => {
    share([edgeUrl])
    return processes.secondEdge.stop()
  }
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
const clock = (moves: readonly number[], brief: number, full: number): Fault => ({
  brief,
  full,
  async run({ system }, ms) {
    for (const moved of moves) {
      await system.moveClock(moved)
      await sleep(ms / moves.length)
    }
    await system.moveClock(0)
    return undefined
  },
})

/** In the order of a run. Faults of the gateway come last: they open its circuit for 30 s. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  'late-batch': {
    brief: HELD_MS,
    full: HELD_MS,
    run: (scene, ms, round) => holdIn(round, scene, ms),
  },
  /**
   * Every caller of the batch got a 503, and some have asked again, before it lands. In every
   * second round it is the first to land; in the others what is asked again is saved before.
   */
  'abandoned-batch': {
    full: ABANDONED_MS,
    run: (scene, ms, round) =>
      holdIn(round, scene, round % 2 === 0 ? ms + REPEATED_MS : ms, { aloneMs: ms }),
  },
  'two-ledgers': lasting(4_000, 20_000, twoLedgers),
  // As a backup or another tool does that takes its time.
  'lock-database': lasting(2_000, 10_000, ({ system }) => system.lock()),
  'evict-ledger': { brief: EVICTED_UNDER_MS, full: EVICTED_UNDER_MS, run: evictLedger },
  'evict-board': { brief: 2_000, full: 10_000, run: evictBoard },
  'move-clock': clock(MOVES_MS, 4_000, 24_000),
  'ahead-clock': clock(AHEAD_MS, 4_000, 18_000),
  'step-clock': clock(STEPS_MS, 3_000, 18_000),
  'kill-edge': kill('edge'),
  'kill-database': kill('database'),
  // Not the simulator: its payments are in its memory, and the checker compares with them.
  'kill-sidecar': kill('sidecar'),
  'cut-edge-database': onProxies('cut', 'edge-database'),
  'delay-edge-database': onProxies('delay', 'edge-database'),
  'tear-edge-database': onProxies('tear', 'edge-database'),
  'cut-sidecar-edge': onProxies('cut', 'sidecar-edge'),
  'delay-sidecar-edge': onProxies('delay', 'sidecar-edge'),
  'tear-sidecar-edge': onProxies('tear', 'sidecar-edge'),
  'lose-sidecar-edge': onProxies('lose', 'sidecar-edge'),
  'stop-edge': stop('edge'),
  'stop-database': stop('database'),
  'stop-sidecar': stop('sidecar'),
  'stop-simulator': stop('simulator'),
  'cut-edge-gateway': onProxies('cut', 'edge-gateway'),
  'delay-edge-gateway': onProxies('delay', 'edge-gateway'),
  'tear-edge-gateway': onProxies('tear', 'edge-gateway'),
  'lose-edge-gateway': onProxies('lose', 'edge-gateway'),
}

const OF_SERVER = /^(late|abandoned)-batch$|-database$/
const OF_FILE = 'lock-database'

/**
 * Under Deno and Node the ledger runs in the edge's own process, so `kill-edge` stops it. Node's
 * database is in that process, too, and there is no proxy between the two.
 */
export const faultsOf = (host: Host): string[] =>
  Object.keys(FAULTS).filter((name) => {
    if (name.startsWith('evict-')) return host === 'workerd'
    // Nothing outside can change the time inside workerd.
    if (name.endsWith('-clock')) return host !== 'workerd'
    if (name === OF_FILE) return host === 'node'
    return host !== 'node' || !OF_SERVER.test(name)
  })
