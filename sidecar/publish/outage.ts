// Remembers the failures in a row: what the next wait depends on, and what was already told. Time
// comes in as `now`; no I/O but the log.

import type { Log } from '../log.ts'
import { afterFailure, type Retry } from './backoff.ts'
import type { Failure } from './edge.ts'

/** A sidecar that kept its run for so long has no rival any more. */
const RIVAL_FORGOTTEN_MS = 1_800_000
/** The same failure is told once in this time: an edge that is away for a day fills no disk. */
const SAME_FAILURE_MS = 60_000

export class Outage {
  readonly #log: Log
  readonly #random: () => number
  #attempt = 0
  #superseded = 0
  #supersededAt = Number.NEGATIVE_INFINITY
  #last: { text: string; toldAt: number; since: number; code: string | undefined } | undefined

  constructor(log: Log, random: () => number) {
    this.#log = log
    this.#random = random
  }

  /** The last failure, while it lasts. */
  get text(): string | undefined {
    return this.#last?.text
  }

  /** Another sidecar has the board, and this one stays quiet. */
  get isSuperseded(): boolean {
    return this.#last?.code === 'superseded'
  }

  failed(failure: Failure, now: number): Retry {
    if (now - this.#supersededAt > RIVAL_FORGOTTEN_MS) this.#superseded = 0
    const history = { attempt: this.#attempt, superseded: this.#superseded }
    const retry = afterFailure(failure, history, this.#random)
    this.#attempt++
    const { reason, status, code, message } = failure
    const text = `${code ?? reason}: ${message}`
    const isRepeated =
      code === 'superseded'
        ? this.#superseded > 0
        : this.#last?.text === text && now - this.#last.toldAt < SAME_FAILURE_MS
    if (code === 'superseded') {
      this.#superseded++
      this.#supersededAt = now
    }
    const toldAt = isRepeated ? (this.#last?.toldAt ?? now) : now
    this.#last = { text, toldAt, since: this.#last?.since ?? now, code }
    if (isRepeated) return retry
    const fields = { reason, status, code, why: message, retryMs: Math.round(retry.waitMs) }
    const needsPeople = reason === 'unauthorized' || reason === 'version'
    this.#log(needsPeople ? 'error' : 'warn', 'edge.failed', fields)
    return retry
  }

  recovered(now: number): void {
    this.#attempt = 0
    if (!this.#last) return
    this.#log('info', 'edge.recovered', { awayMs: now - this.#last.since })
    this.#last = undefined
  }
}
