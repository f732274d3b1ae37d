// The latency from a saved file to a client: saves one task at intervals and measures the time
// until the message arrives. The window of 100 ms, which both systems wait on purpose, is
// subtracted.

import { setTimeout as sleep } from 'node:timers/promises'
import { type BenchBoard, idOf, nextRank, saveTask } from './board.ts'
import { type Message, openEvents, read } from './client.ts'
import { randomFrom, rounded, type Summary, summarize } from './statistics.ts'
import type { System, Target } from './target.ts'

export const WINDOW_MS = 100
/** A later message counts as lost: people reload a board sooner than that. */
const LOST_MS = 5_000
const PAUSE_MS = 300
const PAUSE_JITTER_MS = 100
/** The first saves run cold code on both sides, which is not typical of a board. */
const WARM_UP_SAVES = 5
const SEED = 20_260_101

export interface LatencyPlan {
  saves: number
  /** Stops after this, with fewer saves. */
  maxMs: number
}

export interface LatencyRow {
  system: System
  tasks: number
  saves: number
  lost: number
  /** The client got the message, but read the task as it was before the save. */
  stale: number
  /** Beyond the window, in ms. */
  latency: Summary
  values: number[]
}

export async function measureLatency(
  target: Target,
  board: BenchBoard,
  plan: LatencyPlan,
): Promise<LatencyRow> {
  const random = randomFrom(SEED)
  let onMessage: (message: Message, at: number) => void = () => undefined
  const broken = Promise.withResolvers<never>()
  broken.promise.catch(() => undefined)
  const events = await openEvents(
    target,
    (message, at) => onMessage(message, at),
    (why) => broken.reject(new Error(`The stream of ${target.system} broke: ${why}`)),
  )
  const row = { system: target.system, tasks: board.size, saves: 0, lost: 0, stale: 0 }
  const values: number[] = []
  const endsAt = performance.now() + plan.maxMs
  try {
    for (let save = 1; save <= plan.saves + WARM_UP_SAVES; save++) {
      if (performance.now() > endsAt) break
      const n = Math.floor(random() * board.size)
      const rank = nextRank(board)
      const isCounted = save > WARM_UP_SAVES
      const heard = Promise.withResolvers<number | undefined>()
      onMessage = (message, at) => {
        if (message.type === 'tasks-changed' || message.id === idOf(n)) heard.resolve(at)
      }
      saveTask(board, n, rank)
      const savedAt = performance.now()
      const timer = setTimeout(() => heard.resolve(undefined), LOST_MS)
      const at = await Promise.race([heard.promise, broken.promise])
      clearTimeout(timer)
      if (isCounted) row.saves++
      if (at === undefined) row.lost += isCounted ? 1 : 0
      else {
        if (isCounted) values.push(at - savedAt - WINDOW_MS)
        if (!(await shows(target, n, rank))) row.stale++
      }
      const pauseMs = PAUSE_MS + random() * PAUSE_JITTER_MS
      // Not less than half: what a late message leaves behind must not run into the next save.
      await sleep(Math.max(pauseMs / 2, savedAt + pauseMs - performance.now()))
    }
  } finally {
    events.close()
  }
  return { ...row, latency: roundedSummary(values), values: values.map(rounded) }
}

async function shows(target: Target, n: number, rank: number): Promise<boolean> {
  const { status, text } = await read(target, `/api/tasks/${idOf(n)}`)
  return status === 200 && JSON.parse(text).rank === rank
}

function roundedSummary(values: readonly number[]): Summary {
  const { count, p50, p90, p99, max } = summarize(values)
  return { count, p50: rounded(p50), p90: rounded(p90), p99: rounded(p99), max: rounded(max) }
}
