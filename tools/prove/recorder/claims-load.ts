// Agents that claim tasks: some release them, some fall silent, and some of those come back late.

import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Recorder } from './recorder.ts'
import type { Seeded } from './seeded.ts'
import type { System } from './system.ts'

const CLAIMERS = 5
const TTL_MS = 10_000
const HOLDS_MS = 2_500
/** Beyond the end of the lease, so that another may have taken the task. */
const LATE_MS = 14_000
const ANSWERED_MS = 8_000
const AGAIN_MS = 150

interface Answer {
  status: number
  body: { task?: { id: string }; generation?: number; expiresAt?: string; end?: object }
}

export class ClaimsLoad {
  readonly #system: System
  readonly #recorder: Recorder
  readonly #random: Seeded
  /** The highest that was answered. */
  #known = 0
  #isOver = false

  constructor(system: System, recorder: Recorder, random: Seeded) {
    this.#system = system
    this.#recorder = recorder
    this.#random = random
  }

  async run(): Promise<void> {
    const names = Array.from({ length: CLAIMERS }, (_, n) => `agent-${n}`)
    await Promise.all(names.map((name) => this.#work(name)))
  }

  end(): void {
    this.#isOver = true
  }

  async #work(claimer: string): Promise<void> {
    for (let n = 0; !this.#isOver; n++) {
      await sleep(this.#random.below(400))
      const claim = randomBytes(16).toString('base64url')
      const known = this.#known
      // Another actor each time: one that fell silent still holds what it had.
      const asked = { claim, actor: `${claimer}.${n}`, ttlMs: TTL_MS }
      const { status, body } = await this.#ask('', asked)
      const { task, generation, expiresAt = '' } = body
      if (status > 201 || generation === undefined) continue
      this.#known = Math.max(this.#known, generation)
      const until = Date.parse(expiresAt)
      const given = { claimer, task: task?.id, generation, known, expiresAt: until }
      this.#recorder.write({ kind: 'claim', ...given, beganAt: until - TTL_MS })
      await sleep(this.#random.below(HOLDS_MS))
      await this.#renew(claim, generation)
      if (this.#random.next() < 0.25) {
        void this.#comeLate(claim, generation)
        continue
      }
      this.#recorder.write({ kind: 'release', generation })
      const outcome = this.#random.next() < 0.5 ? 'done' : 'abandoned'
      await this.#ask('/release', { claim, outcome })
    }
  }

  async #comeLate(claim: string, generation: number): Promise<void> {
    await sleep(this.#random.below(2 * LATE_MS))
    if (!this.#isOver) await this.#renew(claim, generation)
  }

  async #renew(claim: string, generation: number): Promise<void> {
    const { status, body } = await this.#ask('/renew', { claim })
    const isHeld = status === 200 && body.end === undefined && body.expiresAt !== undefined
    const until = isHeld ? { expiresAt: Date.parse(body.expiresAt ?? '') } : {}
    this.#recorder.write({ kind: 'renewal', generation, status, ...until })
  }

  /** Until there is an answer: a lost one is asked for again, by the same claim. */
  async #ask(route: string, body: object): Promise<Answer> {
    const { proxies, repo, tokens } = this.#system
    for (;;) {
      try {
        const url = `${proxies.sidecar.url}/api/claims${route}?path=${encodeURIComponent(repo)}`
        const response = await fetch(url, {
          method: 'POST',
          headers: { authorization: `Bearer ${tokens.agent}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
          signal: AbortSignal.timeout(ANSWERED_MS),
        })
        const text = await response.text()
        if (response.status < 500) return { status: response.status, body: JSON.parse(text) }
      } catch {
        // The edge is away, or its answer was cut.
      }
      if (this.#isOver) return { status: 503, body: {} }
      await sleep(AGAIN_MS)
    }
  }
}
