// What to do after a failure: how long to stay quiet, whether a sync must come first, and what of
// it goes into the log. Time comes in as `now`; no I/O but the log.

import { messageOf } from '../error-message.ts'
import type { Log } from '../log.ts'
import type { Failure } from './edge.ts'

const BASE_MS = 200
const MAX_MS = 30_000
/** A proxy that says `Retry-After: 86400` must not silence a board for a day. */
const MAX_RETRY_AFTER_MS = 600_000
/** Tokens are rotated, and programs upgraded, by people: asking more often only fills two logs. */
const OPERATOR_MS = 30_000
/**
 * Another sidecar publishes the same repository. The first wait is short, because it was most
 * likely a `sync` from cron that has ended by now; two that live must not take the board from each
 * other more often than the last step.
 */
const SUPERSEDED_MS = [5_000, 60_000, 300_000]
/** A sidecar that kept its run for so long has no rival any more. */
const RIVAL_FORGOTTEN_MS = 1_800_000
/** The same failure is logged once in this time: an edge that is away for a day fills no disk. */
const SAME_FAILURE_MS = 60_000

/** Full jitter: a thousand sidecars of the same edge do not call again in the same second. */
export function backoffMs(attempt: number, random: () => number): number {
  return random() * Math.min(MAX_MS, BASE_MS * 2 ** Math.min(attempt, 20))
}

/** ±20 %, for what repeats: sidecars started together drift apart. */
export const jittered = (ms: number, random: () => number): number => ms * (0.8 + 0.4 * random())

/** What to do next. */
export interface NextTry {
  waitMs: number
  /** What the edge holds is unknown: compare everything before the next change. */
  sync: boolean
  /** The run is of no use any more: ask for a new one. */
  freshRun: boolean
}

export interface History {
  /** Failures in a row before this one. */
  attempt: number
  /** How often another sidecar took over lately, before this time. */
  superseded: number
}

export function afterFailure(failure: Failure, history: History, random: () => number): NextTry {
  const { attempt } = history
  const backoff = backoffMs(attempt, random)
  switch (failure.reason) {
    case 'network':
    case 'timeout':
    case 'busy':
    case 'malformed': {
      const asked = Math.min(failure.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS)
      return { waitMs: asked + backoff, sync: false, freshRun: false }
    }
    case 'unauthorized':
      return { waitMs: jittered(OPERATOR_MS, random), sync: false, freshRun: false }
    case 'version':
      return { waitMs: jittered(OPERATOR_MS, random), sync: true, freshRun: false }
    case 'conflict':
      if (failure.code === 'superseded') {
        const step = Math.min(history.superseded, SUPERSEDED_MS.length - 1)
        const waitMs = SUPERSEDED_MS[step] ?? MAX_MS
        return { waitMs: jittered(waitMs, random), sync: true, freshRun: true }
      }
      // At once the first time, since the edge asked for it; an edge that asks for ever is backed
      // off from like any other that does not work.
      return { waitMs: attempt === 0 ? 0 : backoff, sync: true, freshRun: true }
    case 'too_large':
    case 'refused':
      return { waitMs: backoff, sync: true, freshRun: false }
  }
}

/** Remembers the failures in a row: the next wait depends on them, and what was already logged. */
export class Retry {
  readonly #log: Log
  readonly #random: () => number
  #attempt = 0
  #superseded = 0
  #supersededAt = Number.NEGATIVE_INFINITY
  #last: { text: string; loggedAt: number; since: number; code: string | undefined } | undefined

  constructor(log: Log, random: () => number) {
    this.#log = log
    this.#random = random
  }

  /** The last failure, while it lasts. */
  get text(): string | undefined {
    return this.#last?.text
  }

  /** Another sidecar publishes the board, and this one pauses. */
  get isSuperseded(): boolean {
    return this.#last?.code === 'superseded'
  }

  failed(failure: Failure, now: number): NextTry {
    if (now - this.#supersededAt > RIVAL_FORGOTTEN_MS) this.#superseded = 0
    const history = { attempt: this.#attempt, superseded: this.#superseded }
    const next = afterFailure(failure, history, this.#random)
    this.#attempt++
    const { reason, status, code, message } = failure
    const text = `${code ?? reason}: ${message}`
    const isRepeated =
      code === 'superseded'
        ? this.#superseded > 0
        : this.#last?.text === text && now - this.#last.loggedAt < SAME_FAILURE_MS
    if (code === 'superseded') {
      this.#superseded++
      this.#supersededAt = now
    }
    this.#remember(text, code, isRepeated ? (this.#last?.loggedAt ?? now) : now, now)
    if (isRepeated) return next
    const fields = { reason, status, code, why: message, retryMs: Math.round(next.waitMs) }
    const needsPeople = reason === 'unauthorized' || reason === 'version'
    this.#log(needsPeople ? 'error' : 'warn', 'edge.failed', fields)
    return next
  }

  /**
   * A defect of ours, and no failure of the edge: logged each time, with its stack. The sidecar
   * outlives it, and begins again with a sync, from what is true.
   */
  defect(error: unknown, now: number): NextTry {
    const waitMs = backoffMs(this.#attempt, this.#random)
    this.#attempt++
    this.#remember(`defect: ${messageOf(error)}`, undefined, now, now)
    this.#log('error', 'publish.defect', { error, retryMs: Math.round(waitMs) })
    return { waitMs, sync: true, freshRun: false }
  }

  recovered(now: number): void {
    this.#attempt = 0
    if (!this.#last) return
    this.#log('info', 'edge.recovered', { awayMs: now - this.#last.since })
    this.#last = undefined
  }

  #remember(text: string, code: string | undefined, loggedAt: number, now: number): void {
    this.#last = { text, loggedAt, since: this.#last?.since ?? now, code }
  }
}
