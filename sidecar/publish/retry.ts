// What to do after a failure: how long to stay quiet, whether a sync must come first, and what of
// it goes into the log. Time comes in as `now`; no I/O but the log.

import { COMPARE_MS } from '../../worker/board/wire.ts'
import { type Backoff, backoffMs } from '../../worker/shared/clock.ts'
import { type Log, messageOf } from '../../worker/shared/log.ts'
import type { Failure } from './edge.ts'

const BACKOFF: Backoff = { firstMs: 200, maxMs: 30_000 }
/** A proxy that says `Retry-After: 86400` must not silence a board for a day. */
const MAX_RETRY_AFTER_MS = 600_000
/** Tokens are rotated, and programs upgraded, by people: asking more often only fills two logs. */
const OPERATOR_MS = 30_000
/**
 * Another sidecar publishes the same repository, most likely a `sync` from cron. The edge says when
 * it has ended: asked so often, a board is muted for 2 s at most after that.
 */
const SUPERSEDED_MS = 1_250
/**
 * A sidecar that waits gets a message on its socket when the other one is gone. If that is frozen,
 * the edge finds out only when it is asked: what changed here waits no longer than this for it.
 */
const ASK_AGAIN_MS = 300_000
/** The same failure is logged once in this time: an edge that is away for a day fills no disk. */
const SAME_FAILURE_MS = 60_000

/** ±20 %, for what repeats: sidecars started together drift apart. */
const jittered = (ms: number, random: number): number => ms * (0.8 + 0.4 * random)

/** A retry cannot help: a wrong token, URL, repository or version, or another sidecar runs. */
export const isFinal = ({ reason, code }: Failure): boolean =>
  code === 'superseded' || ['unauthorized', 'version', 'refused', 'malformed'].includes(reason)

/** What to do next. */
export interface NextTry {
  waitMs: number
  /** What the edge holds is unknown: compare everything before the next change. */
  sync: boolean
  /** The run is of no use any more: ask for a new one. */
  freshRun: boolean
}

/** `attempt`: failures in a row before this one. @forTests Every failure, without a network. */
export function afterFailure(failure: Failure, attempt: number, random: number): NextTry {
  const backoff = backoffMs(attempt + 1, BACKOFF, random)
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
        // With its own run it asks, and takes nothing from the other one.
        return { waitMs: jittered(SUPERSEDED_MS, random), sync: true, freshRun: false }
      }
      // At once the first time, since the edge asked for it; an edge that asks for ever is backed
      // off from like any other that does not work.
      return { waitMs: attempt === 0 ? 0 : backoff, sync: true, freshRun: true }
    case 'too_large':
    case 'refused':
      return { waitMs: backoff, sync: true, freshRun: false }
  }
}

const NEVER = Number.POSITIVE_INFINITY

/** Remembers the failures in a row: the next wait depends on them, and what was already logged. */
export class Retry {
  readonly #log: Log
  readonly #random: () => number
  #attempt = 0
  /** When it asked last, while its socket is to say that the other sidecar has ended. */
  #askedAt = NEVER
  /** Nothing is sent before. */
  due = 0
  #last: { text: string; loggedAt: number; since: number } | undefined

  constructor(log: Log, random: () => number) {
    this.#log = log
    this.#random = random
  }

  /** The last failure, while it lasts. */
  get text(): string | undefined {
    return this.#last?.text
  }

  /** It waits on its socket for the end of another sidecar. */
  get isWaiting(): boolean {
    return this.#askedAt !== NEVER
  }

  /** Waits no longer than until then. */
  tryBy(at: number): void {
    this.due = Math.min(this.due, at)
  }

  /** Something is to be sent. */
  changed(): void {
    this.tryBy(this.#askedAt + ASK_AGAIN_MS)
  }

  /** `hasSocket`: the edge says there when another sidecar has ended. */
  failed(failure: Failure, now: number, hasSocket: boolean): NextTry {
    const next = afterFailure(failure, this.#attempt, this.#random())
    const { reason, status, code, message } = failure
    const isWaiting = code === 'superseded' && hasSocket
    this.#askedAt = isWaiting ? now : NEVER
    this.due = now + (isWaiting ? COMPARE_MS : next.waitMs)
    // An edge that names another sidecar works.
    this.#attempt = code === 'superseded' ? 0 : this.#attempt + 1
    const text = `${code ?? reason}: ${message}`
    // The other sidecar may live for months.
    const isRepeated =
      this.#last?.text === text &&
      (code === 'superseded' || now - this.#last.loggedAt < SAME_FAILURE_MS)
    this.#remember(text, isRepeated ? (this.#last?.loggedAt ?? now) : now, now)
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
    this.#attempt++
    const waitMs = backoffMs(this.#attempt, BACKOFF, this.#random())
    this.due = now + waitMs
    this.#remember(`defect: ${messageOf(error)}`, now, now)
    this.#log('error', 'publish.defect', { error, retryMs: Math.round(waitMs) })
    return { waitMs, sync: true, freshRun: false }
  }

  recovered(now: number): void {
    this.#attempt = 0
    this.#askedAt = NEVER
    if (!this.#last) return
    this.#log('info', 'edge.recovered', { awayMs: now - this.#last.since })
    this.#last = undefined
  }

  #remember(text: string, loggedAt: number, now: number): void {
    this.#last = { text, loggedAt, since: this.#last?.since ?? now }
  }
}
