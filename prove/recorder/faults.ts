// What goes wrong in a run, each by its name. Every fault ends what it began.

import { setTimeout as sleep } from 'node:timers/promises'
import type { House } from './house.ts'
import type { Answered, Link, Passed } from './link.ts'
import type { PaymentsLoad } from './payments-load.ts'

export interface Scene {
  house: House
  payments: PaymentsLoad
}

/** What is worth knowing of how it went: for whoever reads the history. */
type Detail = Record<string, unknown>

export interface Fault {
  /**
   * How long it lasts, in ms: in a run that has little time for each fault, and in any other.
   * Without `brief` the first kind of run does without it.
   */
  brief?: number
  full: number
  run(scene: Scene, ms: number): Promise<Detail | undefined>
}

const PROCESSES = ['edge', 'database', 'sidecar', 'simulator'] as const
/** The simulator's books are in its memory: killed, it could not be asked what was paid. */
const KILLED = ['edge', 'database', 'sidecar'] as const
const LINKS = {
  'edge-database': ['database'],
  'sidecar-edge': ['sidecar'],
  'edge-gateway': ['gateways', 'webhooks'],
} as const satisfies Record<string, readonly (keyof House['links'])[]>
/** The ledger gives a batch up after 6 s: this one lands when it was sent again. */
const HELD_MS = 8_000
/** The ledger answers everybody within 25 s. */
const ABANDONED_MS = 28_000
/** The ledger is put away while this batch is on its way. */
const EVICTED_UNDER_MS = 1_000
const DELAY_MS = 2_000
/** Under any load there is a batch to hold within this time. */
const NO_BATCH_MS = 5_000

const killed = (name: (typeof KILLED)[number]): Fault => ({
  brief: 500,
  full: 2_000,
  async run({ house }, ms) {
    await house.processes[name].kill()
    await sleep(ms)
    await house.processes[name].start()
    return undefined
  },
})

const stopped = (name: (typeof PROCESSES)[number]): Fault => ({
  brief: 2_000,
  full: 20_000,
  async run({ house }, ms) {
    house.processes[name].freeze()
    await sleep(ms)
    house.processes[name].thaw()
    return undefined
  },
})

const onLink = (
  name: keyof typeof LINKS,
  times: { brief: number; full: number },
  begin: (link: Link) => void,
): Fault => ({
  ...times,
  async run({ house }, ms) {
    const links = LINKS[name].map((each) => house.links[each])
    for (const link of links) begin(link)
    await sleep(ms)
    for (const link of links) link.weather = {}
    return undefined
  },
})

const lateBatch: Fault = {
  brief: HELD_MS,
  full: HELD_MS,
  run: ({ house }, ms) => holdBatch(house.links.database, () => sleep(ms)),
}

/** All who waited for the batch were told 503, and some have asked for the same again. */
const abandonedBatch: Fault = {
  full: ABANDONED_MS,
  run: ({ house }, ms) => holdBatch(house.links.database, () => sleep(ms), { alone: true }),
}

const evictLedger: Fault = {
  brief: EVICTED_UNDER_MS,
  full: EVICTED_UNDER_MS,
  run: ({ house }, ms) =>
    holdBatch(house.links.database, async () => {
      await fetch(`${house.edgeUrl}/evict-ledger`, { method: 'POST' })
      await sleep(ms)
    }),
}

/**
 * One write to the database waits for `meanwhile`, and then lands, whoever still waits for it.
 * `alone`: nothing else comes through until then.
 */
async function holdBatch(
  link: Link,
  meanwhile: () => Promise<unknown>,
  { alone = false } = {},
): Promise<Detail> {
  const { promise: held, resolve: hold } = Promise.withResolvers<Passed>()
  const { promise: landed, resolve: land } = Promise.withResolvers<Answered>()
  let isHeld = false
  link.hold = (passed) => {
    // On a connection that stands, the server would refuse after 10 s what comes so late.
    const isOther = isHeld || (alone && passed.body.includes('"baton":"'))
    if (isOther && alone) return Promise.reject(new Error('held back'))
    if (isOther || !passed.body.includes('BEGIN IMMEDIATE')) return undefined
    isHeld = true
    hold(passed)
    link.onAnswer = (answered) => answered.passed === passed && land(answered)
    return meanwhile().then(() => undefined)
  }
  const isThere = await Promise.race([held.then(() => true), sleep(NO_BATCH_MS, false)])
  if (isThere) await landed
  link.hold = () => undefined
  if (!isThere) return { held: false }
  const { status, answer } = await landed
  return { held: true, status, isCommitted: status === 200 && isCommitted(answer) }
}

interface Pipeline {
  results: { response?: { result?: { step_results?: unknown[] } } }[]
}

/** The last step of each batch but one is its COMMIT. */
function isCommitted(answer: string): boolean {
  const { results } = JSON.parse(answer) as Pipeline
  return results.some(({ response }) => (response?.result?.step_results?.at(-2) ?? null) !== null)
}

const twoLedgers: Fault = {
  brief: 4_000,
  full: 20_000,
  async run({ house, payments }, ms) {
    const { links, processes, edgeUrl, twinUrl } = house
    await processes.twin.start()
    payments.edges = [edgeUrl, twinUrl]
    links.webhooks.targets = [edgeUrl, twinUrl]
    await sleep(ms)
    payments.edges = [edgeUrl]
    links.webhooks.targets = [edgeUrl]
    await processes.twin.stop()
    return undefined
  },
}

const linkFaults = (name: keyof typeof LINKS): Record<string, Fault> => ({
  [`cut-${name}`]: onLink(name, { brief: 1_000, full: 5_000 }, (link) => link.cut()),
  [`delay-${name}`]: onLink(name, { brief: 3_000, full: 10_000 }, (link) => {
    link.weather = { delayMs: DELAY_MS }
  }),
  [`tear-${name}`]: onLink(name, { brief: 1_000, full: 5_000 }, (link) => {
    link.weather = { tears: true }
  }),
})

/** In their order. Those before the gateway come last: they open its circuit for half a minute. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  'late-batch': lateBatch,
  'abandoned-batch': abandonedBatch,
  'two-ledgers': twoLedgers,
  'evict-ledger': evictLedger,
  ...Object.fromEntries(KILLED.map((name) => [`kill-${name}`, killed(name)])),
  ...linkFaults('edge-database'),
  ...linkFaults('sidecar-edge'),
  ...Object.fromEntries(PROCESSES.map((name) => [`stop-${name}`, stopped(name)])),
  ...linkFaults('edge-gateway'),
}

/** Under Deno the ledger is the edge's own process: killing that puts it away. */
export const faultsOf = (host: House['host']): string[] =>
  Object.keys(FAULTS).filter((name) => host === 'workerd' || name !== 'evict-ledger')
