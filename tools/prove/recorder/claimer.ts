// Claims at the edge, through the proxy of the sidecar, and what is recorded of them.

import { randomBytes } from 'node:crypto'
import type { Seeded } from '../../harness/seeded.ts'
import type { BoardLoad } from './board-load.ts'
import type { Ending } from './ending.ts'
import type { Recorder } from './recorder.ts'
import type { System } from './system.ts'

const ANSWERED_MS = 8_000
const AGAIN_MS = 150

/** What the loads of agents get. */
export interface AgentsPlan {
  system: System
  board: BoardLoad
  claimer: Claimer
  recorder: Recorder
  random: Seeded
  ending: Ending
}

interface Answer {
  status: number
  body: { task?: { id: string }; generation?: number; expiresAt?: string; end?: object }
}

interface Asked {
  actor: string
  ttlMs: number
  task?: string
  assignee?: string
  tree?: string
}

export interface Held {
  claim: string
  generation: number
}

export class Claimer {
  readonly #system: System
  readonly #recorder: Recorder
  readonly #ending: Ending
  /** The highest that was answered. */
  #known = 0

  constructor(system: System, recorder: Recorder, ending: Ending) {
    this.#system = system
    this.#recorder = recorder
    this.#ending = ending
  }

  /** Undefined: it was refused. */
  async claim(asked: Asked): Promise<Held | undefined> {
    const given = this.asks(asked.actor, asked.ttlMs)
    const claim = randomBytes(16).toString('base64url')
    const { status, body } = await this.#ask('', { claim, ...asked })
    const { task, generation, expiresAt } = body
    if (status > 201 || generation === undefined) return undefined
    given(generation, task?.id, expiresAt)
    return { claim, generation }
  }

  /** Before a claim is asked for. What it returns records the one that is given. */
  asks(claimer: string, ttlMs: number) {
    const known = this.#known
    return (generation: number, task?: string, end = ''): void => {
      this.#known = Math.max(this.#known, generation)
      const expiresAt = Date.parse(end)
      const times = { beganAt: expiresAt - ttlMs, expiresAt }
      this.#recorder.write({ kind: 'claim', claimer, task, generation, known, ...times })
    }
  }

  /** `end`: of the lease. Absent: nothing is held any more. */
  renewed(generation: number, status: number, end?: string): void {
    const lease = end === undefined ? {} : { expiresAt: Date.parse(end) }
    this.#recorder.write({ kind: 'renewal', generation, status, ...lease })
  }

  /** True: it is held. */
  async renew({ claim, generation }: Held): Promise<true | undefined> {
    const { status, body } = await this.#ask('/renew', { claim })
    const end = status === 200 && body.end === undefined ? body.expiresAt : undefined
    this.renewed(generation, status, end)
    return end === undefined ? undefined : true
  }

  async release({ claim, generation }: Held, outcome: 'done' | 'abandoned'): Promise<void> {
    this.#recorder.write({ kind: 'release', generation })
    await this.#ask('/release', { claim, outcome })
  }

  /** Until there is an answer: a lost one is asked for again, by the same claim. */
  async #ask(route: string, body: object): Promise<Answer> {
    const { proxies, repo, tokens } = this.#system
    do {
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
    } while (await this.#ending.pause(AGAIN_MS))
    return { status: 503, body: {} }
  }
}
