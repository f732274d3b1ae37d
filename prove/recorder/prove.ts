// One run: the real processes, a load, faults in turn, rest, and the history of it all.

import { setTimeout as sleep } from 'node:timers/promises'
import { BoardClient } from './board-client.ts'
import { BoardLoad } from './board-load.ts'
import { FAULTS, type Scene } from './faults.ts'
import { type Host, openHouse } from './house.ts'
import { PaymentsLoad } from './payments-load.ts'
import { Recorder } from './record.ts'
import { comeToRest, writeDown } from './rest.ts'
import { Seeded } from './seeded.ts'
import { witness } from './witness.ts'

export interface Plan {
  host: Host
  seed: number
  /** Names, in their order. */
  faults: readonly string[]
  /** How long faults come, in ms; each of them comes once at least. */
  forMs: number
  /** Of the history. */
  file: string
  /** Told what happens, in words. */
  say: (sentence: string) => void
}

const CLIENTS = ['c1', 'c2', 'c3', 'c4', 'c5'] as const
/** These go away now and then, and come back by their last id. */
const RESUMING = ['c4', 'c5']
const STAYS_MS = 3_000
const AWAY_MS = 1_500
/** A fault that has so long may last as long as it does in earnest. */
const FULL_SHARE_MS = 25_000
/** A circuit is open for 30 s. */
const HEALS_MS = 45_000
const CALM_MS = { brief: 600, full: 3_000 }

/** Resolves when the history is written. */
export async function prove(plan: Plan): Promise<Recorder> {
  const { host, seed, faults, forMs, say } = plan
  const recorder = new Recorder(plan.file)
  recorder.write({ kind: 'run', seed, host, faults, seconds: forMs / 1_000 })
  const random = new Seeded(seed)
  const house = await openHouse(host)
  try {
    const board = new BoardLoad(house.store, recorder, random.fork())
    const payments = new PaymentsLoad(house, recorder, random.fork())
    const onEvent = payments.onEvent.bind(payments)
    const seen = witness(house, recorder, { random: random.fork(), onEvent })
    const clients = CLIENTS.map((name) => new BoardClient(name, house, recorder))
    const leaving = new AbortController()
    const coming = comeAndGo(clients, random.fork(), leaving.signal)
    const loading = Promise.all([board.run(), payments.run()])

    await sleep(CALM_MS.full)
    await misbehave(plan, { house, payments }, recorder)
    say('healed; waiting for rest')
    leaving.abort()
    board.end()
    payments.end()
    await Promise.all([loading, coming])
    await payments.rest()
    await comeToRest(house, recorder, board, clients)
    await seen.end()
    for (const client of clients) client.mute()
    await writeDown(house, recorder, board)
    await Promise.all(clients.map((client) => client.close()))
  } finally {
    recorder.close()
    await house.close()
  }
  return recorder
}

async function misbehave(plan: Plan, scene: Scene, recorder: Recorder): Promise<void> {
  const { faults, forMs, say } = plan
  const length = forMs / Math.max(faults.length, 1) < FULL_SHARE_MS ? 'brief' : 'full'
  const until = performance.now() + forMs
  const isOver = () => performance.now() > until
  if (faults.length === 0) await sleep(forMs)
  for (let round = 0; faults.length > 0 && (round === 0 || !isOver()); round++) {
    for (const name of faults) {
      const fault = FAULTS[name]
      const ms = fault?.[length] ?? (faults.length === 1 ? fault?.full : undefined)
      if (!fault || ms === undefined || (round > 0 && isOver())) continue
      say(name)
      recorder.write({ kind: 'fault', name, phase: 'begin' })
      const detail = await fault.run(scene, ms)
      recorder.write({ kind: 'fault', name, phase: 'end', ...detail })
      await sleep(CALM_MS[length])
      if (length === 'full') await chargesAgain(scene)
    }
  }
}

/** What the last fault left, such as a circuit that it opened, is not the next one's doing. */
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
