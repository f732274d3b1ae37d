// Claims at the edge, through the proxy of the sidecar, and what is recorded of them.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Recorder } from './recorder.ts'
import type { System } from './system.ts'

const ANSWERED_MS = 8_000
const AGAIN_MS = 150

interface Answer {
  status: number
  body: { task?: { id: string }; generation?: number; expiresAt?: string; end?: object }
}

interface Asked {
  claim: string
  actor: string
  ttlMs: number
  task?: string
  assignee?: string
  tree?: string
}

export class Claimer {
  readonly #system: System
  readonly #recorder: Recorder
  /** The highest that was answered. */
  #known = 0
  isOver = false

  constructor(system: System, recorder: Recorder) {
    this.#system = system
    this.#recorder = recorder
  }

  /** The generation. Undefined: it was refused. */
  async claim(asked: Asked): Promise<number | undefined> {
    const known = this.#known
    const { status, body } = await this.#ask('', asked)
    const { task, generation, expiresAt = '' } = body
    if (status > 201 || generation === undefined) return undefined
    this.#known = Math.max(this.#known, generation)
    const until = Date.parse(expiresAt)
    const given = { claimer: asked.actor, task: task?.id, generation, known, expiresAt: until }
    this.#recorder.write({ kind: 'claim', ...given, beganAt: until - asked.ttlMs })
    return generation
  }

  /** Whether it is held. */
  async renew(claim: string, generation: number): Promise<boolean> {
    const { status, body } = await this.#ask('/renew', { claim })
    const isHeld = status === 200 && body.end === undefined && body.expiresAt !== undefined
    const until = isHeld ? { expiresAt: Date.parse(body.expiresAt ?? '') } : {}
    this.#recorder.write({ kind: 'renewal', generation, status, ...until })
    return isHeld
  }

  async release(asked: { claim: string; outcome: 'done' | 'abandoned' }): Promise<void> {
    await this.#ask('/release', asked)
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
      if (this.isOver) return { status: 503, body: {} }
      await sleep(AGAIN_MS)
    }
  }
}
