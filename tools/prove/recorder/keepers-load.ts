// Agents whose task is away for a while, as a stash or another branch leaves it, or is closed by
// mistake. Each renews its claim meanwhile, and a rival claims the same task.

import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BoardLoad, KeptTask } from './board-load.ts'
import type { Claimer } from './claimer.ts'
import type { Recorder } from './recorder.ts'
import type { Seeded } from './seeded.ts'

const KEEPERS = 8
const TASKS = 16
/** Longer than the steps of a clock that a fault sets: one that looks just over would end. */
const TTL_MS = 120_000
const SHORT_TTL_MS = 10_000
const RENEWS_EVERY_MS = 4_000
const HOLDS_MS = 2_000
const LONGEST_MS = 90_000
/** Less than the two minutes for which a closed task is its holder's, with what a rest takes. */
const CLOSED_MS = 20_000
/** Within this time a change is published, during a fault, too. */
const PUBLISHED_MS = 60_000
const POLL_MS = 250

type How = 'away' | 'closed' | 'killed' | 'kept'

export class KeepersLoad {
  readonly #board: BoardLoad
  readonly #claimer: Claimer
  readonly #recorder: Recorder
  readonly #random: Seeded
  readonly #busy = new Set<KeptTask>()
  readonly #over = new AbortController()

  constructor(board: BoardLoad, claimer: Claimer, recorder: Recorder, random: Seeded) {
    this.#board = board
    this.#claimer = claimer
    this.#recorder = recorder
    this.#random = random
  }

  async run(): Promise<void> {
    for (const task of KEPT) await this.#board.keep(task, 'open')
    const names = Array.from({ length: KEEPERS }, (_, n) => `keeper-${n}`)
    await Promise.all(names.map((name) => this.#work(name)))
  }

  end(): void {
    this.#over.abort()
  }

  async #work(name: string): Promise<void> {
    for (let n = 0; !this.#over.signal.aborted; n++) {
      await this.#pause(this.#random.below(400))
      const free = KEPT.filter((task) => !this.#busy.has(task))
      const task = free[this.#random.below(free.length)]
      if (task === undefined) continue
      this.#busy.add(task)
      // Another actor each time: one that was killed holds its task until the lease is over.
      await this.#hold(`${name}.${n}`, task)
      this.#busy.delete(task)
    }
  }

  async #hold(actor: string, task: KeptTask): Promise<void> {
    const how = this.#random.weighted<How>([
      [5, 'away'],
      [3, 'closed'],
      [1, 'killed'],
      [2, 'kept'],
    ])
    const secret = randomBytes(16).toString('base64url')
    const ttlMs = how === 'killed' ? SHORT_TTL_MS : TTL_MS
    const given = await this.#claim(secret, actor, task, ttlMs)
    if (given === undefined) return
    await this.#board.keep(task, 'doing')
    await this.#pause(this.#random.below(HOLDS_MS))
    if (how === 'away') await this.#away(task, secret, given)
    if (how === 'closed') await this.#closed(task, secret, given)
    if (how === 'killed') {
      await this.#killed(task, given)
      return
    }
    this.#recorder.write({ kind: 'release', generation: given })
    await this.#claimer.release({ claim: secret, outcome: 'abandoned' })
    await this.#board.keep(task, 'open')
  }

  async #away(task: KeptTask, secret: string, generation: number): Promise<void> {
    const awayMs = this.#random.weighted([
      [6, this.#random.below(1_000)],
      [3, this.#random.below(LONGEST_MS / 6)],
      [1, this.#random.below(LONGEST_MS)],
    ])
    const began = performance.now()
    await this.#board.keep(task, 'away')
    await this.#meanwhile(task, secret, generation, awayMs)
    await this.#returns(task, secret, generation, began)
  }

  async #closed(task: KeptTask, secret: string, generation: number): Promise<void> {
    const began = performance.now()
    await this.#board.keep(task, 'done')
    await this.#meanwhile(task, secret, generation, this.#random.below(CLOSED_MS))
    await this.#returns(task, secret, generation, began, 'closed')
  }

  /** It stops renewing while its task is away: once the lease is over, another agent gets it. */
  async #killed(task: KeptTask, generation: number): Promise<void> {
    await this.#board.keep(task, 'away')
    await this.#pause(this.#random.below(2 * SHORT_TTL_MS))
    await this.#board.keep(task, 'doing')
    const secret = randomBytes(16).toString('base64url')
    const until = performance.now() + SHORT_TTL_MS + PUBLISHED_MS
    let given: number | undefined
    while (given === undefined && performance.now() < until && !this.#claimer.isOver) {
      given = await this.#claim(secret, `next-${generation}`, task)
      if (given === undefined) await sleep(POLL_MS)
    }
    if (this.#claimer.isOver) return
    this.#recorder.write({ kind: 'inherited', generation, isGiven: given !== undefined })
    if (given === undefined) return
    this.#recorder.write({ kind: 'release', generation: given })
    await this.#claimer.release({ claim: secret, outcome: 'abandoned' })
    await this.#board.keep(task, 'open')
  }

  /** The holder renews, and a rival claims the task. */
  async #meanwhile(task: KeptTask, secret: string, generation: number, ms: number): Promise<void> {
    const until = performance.now() + ms
    do {
      await this.#pause(Math.min(RENEWS_EVERY_MS, Math.max(0, until - performance.now())))
      await this.#claimer.renew(secret, generation)
      const rival = randomBytes(16).toString('base64url')
      const taken = await this.#claim(rival, `rival-${generation}`, task)
      // A finding of the checker.
      if (taken !== undefined) await this.#claimer.release({ claim: rival, outcome: 'abandoned' })
    } while (performance.now() < until && !this.#over.signal.aborted)
  }

  /** The file is there again, and open. */
  async #returns(
    task: KeptTask,
    secret: string,
    generation: number,
    began: number,
    how: How = 'away',
  ): Promise<void> {
    await this.#board.keep(task, 'doing')
    const awayMs = Math.round(performance.now() - began)
    const until = performance.now() + PUBLISHED_MS
    let isHeld = await this.#claimer.renew(secret, generation)
    while (!isHeld && performance.now() < until && !this.#claimer.isOver) {
      await sleep(POLL_MS)
      isHeld = await this.#claimer.renew(secret, generation)
    }
    if (this.#claimer.isOver) return
    this.#recorder.write({ kind: 'returned', generation, how, awayMs, isHeld })
  }

  #claim(claim: string, actor: string, { id: task, assignee }: KeptTask, ttlMs = TTL_MS) {
    return this.#claimer.claim({ claim, actor, task, assignee, ttlMs })
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#over.signal }).catch(() => undefined)
  }
}

/** No other task has such a version, which is its title. */
const KEPT = Array.from({ length: TASKS }, (_, n): KeptTask => {
  return { id: `K-${n}`, version: -1 - n, assignee: 'keeper' }
})
