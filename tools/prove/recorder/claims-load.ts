// Agents that claim tasks: some release them, some fall silent, and some of those come back late.

import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Claimer } from './claimer.ts'
import type { Recorder } from './recorder.ts'
import type { Seeded } from './seeded.ts'

const CLAIMERS = 5
const TTL_MS = 10_000
const HOLDS_MS = 2_500
/** Beyond the end of the lease, so that another may have taken the task. */
const LATE_MS = 14_000

export class ClaimsLoad {
  readonly #claimer: Claimer
  readonly #recorder: Recorder
  readonly #random: Seeded

  constructor(claimer: Claimer, recorder: Recorder, random: Seeded) {
    this.#claimer = claimer
    this.#recorder = recorder
    this.#random = random
  }

  async run(): Promise<void> {
    const names = Array.from({ length: CLAIMERS }, (_, n) => `agent-${n}`)
    await Promise.all(names.map((name) => this.#work(name)))
  }

  async #work(name: string): Promise<void> {
    for (let n = 0; !this.#claimer.isOver; n++) {
      await sleep(this.#random.below(400))
      const claim = randomBytes(16).toString('base64url')
      // Another actor each time: one that fell silent still holds what it had.
      const asked = { claim, actor: `${name}.${n}`, ttlMs: TTL_MS }
      const generation = await this.#claimer.claim(asked)
      if (generation === undefined) continue
      await sleep(this.#random.below(HOLDS_MS))
      await this.#claimer.renew(claim, generation)
      if (this.#random.next() < 0.25) {
        void this.#comeLate(claim, generation)
        continue
      }
      this.#recorder.write({ kind: 'release', generation })
      const outcome = this.#random.next() < 0.5 ? 'done' : 'abandoned'
      await this.#claimer.release({ claim, outcome })
    }
  }

  async #comeLate(claim: string, generation: number): Promise<void> {
    await sleep(this.#random.below(2 * LATE_MS))
    if (!this.#claimer.isOver) await this.#claimer.renew(claim, generation)
  }
}
