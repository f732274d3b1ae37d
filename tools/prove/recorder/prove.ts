// One run: the real processes, a load, faults in turn, rest, and the history of it all.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Host } from '../../harness/hosts.ts'
import { Seeded } from '../../harness/seeded.ts'
import { BoardClient } from './board-client.ts'
import { FAULTS, type Scene } from './faults.ts'
import { boardLoad } from './loads/board-load.ts'
import { claimerOf } from './loads/claimer.ts'
import { claimTasks } from './loads/claims-load.ts'
import { keepTasks } from './loads/keepers-load.ts'
import { Ending } from './loads/load.ts'
import { paymentsLoad } from './loads/payments-load.ts'
import { processesLoad } from './loads/processes-load.ts'
import { workInTrees } from './loads/trees-load.ts'
import { monthsLater } from './months-later.ts'
import { observe } from './observe.ts'
import { Recorder } from './recorder.ts'
import { boardRests, paymentsRest, writeDown } from './rest.ts'
import { startSystem } from './system.ts'

export interface Plan {
  host: Host
  seed: number
  /** Names, in their order. */
  faults: readonly string[]
  /** How long faults come, in ms; each of them comes once at least. */
  forMs: number
  /** The history's. */
  file: string
  log: (sentence: string) => void
}

/** By name, how much later a client reads: the late see what others should have seen before. */
const CLIENTS = { c1: 0, c2: 0, c3: 60, c4: 0, c5: 30 }
/** They go away now and then, and resume by their last id. */
const RESUMING = ['c4', 'c5']
const STAYS_MS = 3_000
const AWAY_MS = 1_500
/** With so much time for each fault, faults are `full`. */
const FULL_SHARE_MS = 25_000
/** A circuit is open for 30 s. */
const HEALS_MS = 45_000
const CALM_MS = { brief: 300, full: 3_000 }

/** Resolves when the history is written. */
export async function prove(plan: Plan): Promise<void> {
  const { host, seed, forMs, log } = plan
  const recorder = new Recorder(plan.file)
  const ending = new Ending()
  await using stack = new AsyncDisposableStack()
  const faults = faultsIn(plan)
  const about = { seed, host, seconds: forMs / 1_000, faults: faults.map(({ name }) => name) }
  recorder.write({ kind: 'run', ...about, clients: Object.keys(CLIENTS) })
  const random = new Seeded(seed)
  const system = await startSystem(host)
  stack.defer(() => system.close())
  const own = () => ({ system, recorder, random: random.fork(), ending })
  const board = boardLoad(own())
  const claimer = claimerOf(own())
  const agents = () => ({ ...own(), board, claimer })
  const processes = await processesLoad(agents())
  stack.defer(() => processes.close())
  stack.defer(() => recorder.close())
  stack.defer(() => ending.end())
  const payments = paymentsLoad(own())
  const seen = observe(own(), payments.onEvent)
  const clients = Object.entries(CLIENTS).map(
    ([name, readsAfterMs]) => new BoardClient({ name, system, recorder, readsAfterMs }),
  )
  const coming = random.fork()
  const loading = Promise.all([
    board.run(),
    payments.run(),
    claimTasks(agents()),
    keepTasks(agents()),
    workInTrees(agents()),
    processes.run(),
    ending.repeat({ times: 1, pauseMs: () => coming.below(STAYS_MS) }, async () => {
      const leaving = RESUMING[coming.below(RESUMING.length)]
      clients.find(({ name }) => name === leaving)?.leave(coming.below(AWAY_MS))
    }),
  ])
  // Where the run breaks before it is awaited, it is the run's own error that counts.
  loading.catch(() => undefined)

  await sleep(CALM_MS.full)
  const settle = () => board.pause(() => boardRests(recorder, board, clients))
  // A load that breaks ends the run at once: without it the rest would show little.
  const injecting = inject(faults, { system, payments, settle }, recorder, plan)
  await Promise.race([injecting, loading])
  log('healed; waiting for rest')
  ending.end()
  await loading
  await processes.rest()
  await payments.rest()
  await payments.looks.again()
  const boards = boardRests(recorder, board, clients)
  const [rest] = await Promise.all([paymentsRest(system, recorder), boards])
  if (rest.moving) log(`payments did not come to rest: ${rest.moving.join(', ')}`)
  await seen.end()
  await Promise.all(clients.map((client) => client.close()))
  await writeDown(system, recorder, rest)
  await monthsLater(system, recorder, payments, seen.sent)
  recorder.write({ kind: 'rest' })
}

/** The faults of a run, and how long each lasts: briefly where all of them have little time. */
function faultsIn({ faults, forMs }: Plan) {
  const length = forMs / Math.max(faults.length, 1) < FULL_SHARE_MS ? 'brief' : 'full'
  return faults.flatMap((name) => {
    const fault = FAULTS[name]
    const ms = fault?.[length] ?? (faults.length === 1 ? fault?.full : undefined)
    return fault && ms !== undefined ? [{ name, ms, length, run: fault.run } as const] : []
  })
}

async function inject(
  faults: ReturnType<typeof faultsIn>,
  scene: Scene,
  recorder: Recorder,
  { forMs, log }: Plan,
): Promise<void> {
  const until = performance.now() + forMs
  const isOver = () => performance.now() > until
  while (faults.length === 0 && !isOver()) {
    await sleep(CALM_MS.full)
    if (!(await scene.settle())) return
  }
  for (let round = 0; faults.length > 0 && (round === 0 || !isOver()); round++) {
    for (const { name, ms, length, run } of faults) {
      if (round > 0 && isOver()) return
      log(name)
      recorder.write({ kind: 'fault', name, phase: 'begin' })
      const detail = await run(scene, ms, round)
      recorder.write({ kind: 'fault', name, phase: 'end', ...detail })
      await scene.payments.looks.again()
      // The checker will say what is wrong; what comes after it would show nothing.
      if (!(await scene.settle())) return
      await sleep(CALM_MS[length])
      if (length === 'full') await chargesAgain(scene)
    }
  }
}

/** An open circuit that the last fault left must not be counted as the next one's effect. */
async function chargesAgain({ payments }: Scene): Promise<void> {
  const now = performance.now()
  while (!payments.hasChargedSince(now) && performance.now() < now + HEALS_MS) await sleep(100)
}
