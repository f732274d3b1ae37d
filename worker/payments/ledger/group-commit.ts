// Group commit: while one batch is in flight, the next group gathers. A pure algorithm; it knows
// neither SQL nor a database.

import {
  type Backoff,
  backoffMs,
  type Clock,
  DeadlineExceeded,
  pause,
  within,
} from '../../shared/clock.ts'
import { LedgerUnavailable } from './failures.ts'

export interface GroupCommitDeps<Unit, Result> {
  clock: Clock
  /**
   * Writes the units as one transaction and answers a result for each, in their order. Repeating a
   * unit must be harmless. `signal`: the caller does not wait for this attempt any more.
   */
  send(units: readonly Unit[], signal: AbortSignal): Promise<readonly Result[]>
  /** True if the same units may succeed a moment later: the database failed, and not they. */
  isTransient(error: unknown): boolean
  /** Called before each wait. */
  retrying?(setback: { error: unknown; failures: number; waitMs: number }): void
}

/** A save of 256 costs the server a third less for each than one of 64. */
const MAX_UNITS = 256
/**
 * The next group waits a little behind the last one, and gathers. While few wait, groups of two or
 * three would follow each other without a pause, at a third more of a core for each webhook. While
 * many wait, a pause only costs, unless the database is far away or slow: then a unit that comes
 * right after an answer would miss its group, and wait for a whole one.
 */
const gatherMs = (lastMs: number, waiting: number): number => {
  if (waiting < FEW) return Math.min(lastMs / 2, 20)
  return lastMs < SLOW_GROUP_MS ? 0 : Math.min(lastMs / 10, 20)
}
const FEW = 16
const SLOW_GROUP_MS = 60
/** The server kills a transaction at 5 s; after one more the answer is lost, not late. */
const DEADLINE_MS = 6_000
/** Gateways wait 30 s or more for the answer to a webhook, and must get ours before that. */
const PATIENCE_MS = 25_000
const RETRY: Backoff = { firstMs: 50, maxMs: 2_000 }

interface Waiting<Unit, Result> {
  unit: Unit
  since: number
  /** Answered already, because it has waited too long. */
  isOver: boolean
  resolve(result: Result): void
  reject(error: unknown): void
}

/** What was not written because of a transient failure. */
interface Setback<Unit, Result> {
  error: unknown
  left: Waiting<Unit, Result>[]
}

/** It returns what rejects with LedgerUnavailable, or with what `send` threw for a unit alone. */
export function groupCommit<Unit, Result>({
  clock,
  send,
  isTransient,
  retrying,
}: GroupCommitDeps<Unit, Result>): (unit: Unit) => Promise<Result> {
  let queue: Waiting<Unit, Result>[] = []
  let isRunning = false
  /** The last group: when it ended, and how long it took. */
  let last = { endedAt: 0, ms: 0 }
  /** Not answered yet. The first one has waited longest. */
  const unanswered = new Set<Waiting<Unit, Result>>()
  let endWatch: (() => void) | undefined

  async function run(): Promise<void> {
    // Waits one turn, so that units which are submitted together are written together.
    await Promise.resolve()
    let failures = 0
    while (queue.length > 0) {
      const waitsMs = last.endedAt + gatherMs(last.ms, queue.length) - clock.elapsed()
      if (waitsMs > 0) await pause(clock, waitsMs)
      const startedAt = clock.elapsed()
      const setback = await commit(queue.splice(0, MAX_UNITS))
      if (!setback) {
        failures = 0
        const endedAt = clock.elapsed()
        last = { endedAt, ms: endedAt - startedAt }
        continue
      }
      // They stay first, so that they do not wait for units that came later.
      queue = [...setback.left, ...queue]
      failures += 1
      const waitMs = backoffMs(failures, RETRY, clock.random())
      retrying?.({ error: setback.error, failures, waitMs })
      await pause(clock, waitMs)
      queue = queue.filter(({ isOver }) => !isOver)
    }
    isRunning = false
  }

  /** One timer for all: thousands of units come and go before one of them waits too long. */
  function watch(): void {
    const [oldest] = unanswered
    if (!oldest || endWatch) return
    endWatch = clock.after(oldest.since + PATIENCE_MS - clock.elapsed(), () => {
      endWatch = undefined
      for (const waiting of unanswered) {
        if (clock.elapsed() - waiting.since < PATIENCE_MS) break
        waiting.isOver = true
        waiting.reject(new LedgerUnavailable(`the database was out of reach for ${PATIENCE_MS} ms`))
      }
      watch()
    })
  }

  function answered(waiting: Waiting<Unit, Result>): void {
    unanswered.delete(waiting)
    if (unanswered.size > 0) return
    endWatch?.()
    endWatch = undefined
  }

  /** Halves a group that fails, until the unit that causes the failure is alone. */
  async function commit(
    group: readonly Waiting<Unit, Result>[],
  ): Promise<Setback<Unit, Result> | undefined> {
    const waiting = group.filter(({ isOver }) => !isOver)
    if (waiting.length === 0) return undefined
    try {
      const units = waiting.map(({ unit }) => unit)
      const results = await within(clock, DEADLINE_MS, (signal) => send(units, signal))
      for (const [at, result] of results.entries()) waiting[at]?.resolve(result)
      return undefined
    } catch (error) {
      // After a deadline the outcome is unknown: sent again, a unit finds what it wrote.
      if (error instanceof DeadlineExceeded || isTransient(error)) return { error, left: waiting }
      if (waiting.length === 1) {
        waiting[0]?.reject(error)
        return undefined
      }
    }
    const half = Math.ceil(waiting.length / 2)
    const setback = await commit(waiting.slice(0, half))
    if (!setback) return commit(waiting.slice(half))
    return { error: setback.error, left: [...setback.left, ...waiting.slice(half)] }
  }

  return (unit) =>
    new Promise((resolve, reject) => {
      const waiting: Waiting<Unit, Result> = {
        unit,
        since: clock.elapsed(),
        isOver: false,
        resolve(result) {
          answered(waiting)
          resolve(result)
        },
        reject(error) {
          answered(waiting)
          reject(error)
        },
      }
      unanswered.add(waiting)
      watch()
      queue.push(waiting)
      if (isRunning) return
      isRunning = true
      void run()
    })
}
