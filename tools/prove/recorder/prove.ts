// One run: the real processes, a load, faults in turn, rest, and the history of it all.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Host } from '../../harness/hosts.ts'
import { Seeded } from '../../harness/seeded.ts'
import { BoardClient } from './board-client.ts'
import { BoardLoad } from './board-load.ts'
import { Claimer } from './claimer.ts'
import { claimTasks } from './claims-load.ts'
import { Ending } from './ending.ts'
import { FAULTS, type Scene } from './faults.ts'
import { keepTasks } from './keepers-load.ts'
import { monthsLater } from './months-later.ts'
import { observe } from './observe.ts'
import { PaymentsLoad } from './payments-load.ts'
import { ProcessesLoad } from './processes-load.ts'
import { Recorder } from './recorder.ts'
import { boardRests, comeToRest, writeDown } from './rest.ts'
import { startSystem } from './system.ts'
import { TreesLoad } from './trees-load.ts'

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

/** Some read later than others, and two go away now and then and resume by their last id. */
const CLIENTS = {
  c1: {},
  c2: {},
  c3: { readsAfterMs: 60 },
  c4: {},
  c5: { readsAfterMs: 30 },
}
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
  const faults = faultsIn(plan)
  const names = faults.map(({ name }) => name)
  const clientNames = Object.keys(CLIENTS)
  const seconds = forMs / 1_000
  recorder.write({ kind: 'run', seed, host, seconds, faults: names, clients: clientNames })
  const random = new Seeded(seed)
  const system = await startSystem(host)
  const ending = new Ending()
  const board = new BoardLoad(system.store, recorder, random.fork())
  const claimer = new Claimer(system, recorder, ending)
  const agents = () => ({ system, board, claimer, recorder, random: random.fork(), ending })
  const processes = new ProcessesLoad(agents())
  try {
    const payments = new PaymentsLoad(system, recorder, random.fork())
    const onEvent = payments.onEvent.bind(payments)
    system.people.record(recorder, random.fork())
    const seen = observe(system, recorder, { random: random.fork(), onEvent })
    const clients = Object.entries(CLIENTS).map(
      ([name, options]) => new BoardClient(name, system, recorder, options),
    )
    const leaving = new AbortController()
    const coming = comeAndGo(clients, random.fork(), leaving.signal)
    const loading = Promise.all([
      board.run(),
      payments.run(),
      claimTasks(agents()),
      keepTasks(agents()),
      new TreesLoad(agents()).run(),
      processes.run(),
    ])
    // Where the run breaks before it is awaited, it is the run's own error that counts.
    loading.catch(() => undefined)

    await sleep(CALM_MS.full)
    const settle = () => board.pause(() => boardRests(recorder, board, clients))
    // A load that breaks ends the run at once: without it the rest would show little.
    const injecting = inject(faults, { system, payments, settle }, recorder, plan)
    await Promise.race([injecting, loading])
    log('healed; waiting for rest')
    leaving.abort()
    board.end()
    ending.end()
    payments.end()
    await Promise.all([loading, coming])
    system.people.takeAll()
    await processes.rest()
    await payments.rest()
    await payments.lookAgain()
    const rest = await comeToRest(system, recorder, board, clients)
    if (rest.moving) log(`payments did not come to rest: ${rest.moving.join(', ')}`)
    await seen.end()
    for (const client of clients) client.mute()
    await writeDown(system, recorder, rest)
    await monthsLater(system, recorder, payments, seen.sent)
    recorder.write({ kind: 'rest' })
    await Promise.all(clients.map((client) => client.close()))
  } finally {
    ending.end()
    recorder.close()
    await processes.close()
    await system.close()
  }
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
      await scene.payments.lookAgain()
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

async function comeAndGo(
  clients: readonly BoardClient[],
  random: Seeded,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(random.below(STAYS_MS))
    const name = RESUMING[random.below(RESUMING.length)]
    clients.find((client) => client.name === name)?.leave(random.below(AWAY_MS))
  }
}
