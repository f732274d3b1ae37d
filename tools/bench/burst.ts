// Thousands of files replaced at once by another process: how long until every one of them is right
// in what clients read. The clock runs from the order to replace, so the writing is in it.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type BenchBoard, idOf, nextRank } from './board.ts'
import { openEvents, read } from './client.ts'
import type { Replaced, ReplaceOrder } from './replace.ts'
import { rounded } from './statistics.ts'
import type { System, Target } from './target.ts'

/** The client also reads without a message, so that a lost message does not count as a lost id. */
const LOOK_MS = 250
/** A pause after a run, so that late messages do not count for the next run. */
const SETTLE_MS = 1_500
/** Every run begins elsewhere in the board. */
const STRIDE = 1_237

/**
 * On a disk the other process needs longer to write than anyone to notice: how long depends on the
 * disk. In memory the files are there at once.
 */
export type Medium = 'memory' | 'disk'

export interface BurstPlan {
  place: Medium
  files: number
  runs: number
  /** A run in which something is still wrong after this has failed. */
  longestRunMs: number
  /** No run begins after this. */
  maxMs: number
}

export interface BurstRun {
  /** Until all ids were right; null: they were not in time. */
  ms: number | null
  /** Part of it: until the other process had replaced the last file. */
  writtenMs: number
  signals: number
  /** Ids that were wrong at the end. */
  wrong: number
}

export interface BurstRow {
  system: System
  /** The folder of the board. */
  place: Medium
  tasks: number
  files: number
  /** A run in which something was still wrong after this has failed. */
  withinMs: number
  runs: BurstRun[]
}

export async function measureBursts(
  target: Target,
  board: BenchBoard,
  plan: BurstPlan,
): Promise<BurstRow> {
  const writer = fork(join(import.meta.dirname, 'replace.ts'))
  const ended = new AbortController()
  const { signal } = ended
  writer.once('exit', () => ended.abort(new Error('The process that replaces files ended.')))
  const runs: BurstRun[] = []
  const endsAt = performance.now() + plan.maxMs
  try {
    await once(writer, 'message', { signal })
    while (runs.length < plan.runs && performance.now() < endsAt) {
      const { dir, size } = board
      const rank = nextRank(board)
      const order = { dir, size, from: (rank * STRIDE) % size, count: plan.files, rank }
      runs.push(
        await measureBurst(target, order, plan, async () => {
          writer.send(order)
          const [replaced] = await once(writer, 'message', { signal })
          return (replaced as Replaced).ms
        }),
      )
    }
  } finally {
    writer.disconnect()
  }
  const { place, files, longestRunMs: withinMs } = plan
  return { system: target.system, place, tasks: board.size, files, withinMs, runs }
}

async function measureBurst(
  target: Target,
  order: ReplaceOrder,
  plan: BurstPlan,
  replace: () => Promise<number>,
): Promise<BurstRun> {
  const model = new ReadModel(target, order)
  let signals = 0
  let wake: () => void = () => undefined
  const broken = Promise.withResolvers<never>()
  broken.promise.catch(() => undefined)
  const events = await openEvents(
    target,
    () => {
      signals++
      wake()
    },
    (why) => broken.reject(new Error(`The stream of ${target.system} broke: ${why}`)),
  )
  try {
    const startedAt = performance.now()
    const writing = replace()
    let ms: number | null = null
    for (let seen = 0; performance.now() - startedAt < plan.longestRunMs; ) {
      if (seen === signals) {
        const signalled = Promise.withResolvers<void>()
        wake = signalled.resolve
        await Promise.race([signalled.promise, sleep(LOOK_MS), broken.promise])
      }
      seen = signals
      if (!(await model.isRight())) continue
      ms = rounded(performance.now() - startedAt)
      break
    }
    const writtenMs = rounded(await writing)
    await sleep(SETTLE_MS)
    return { ms, writtenMs, signals, wrong: model.wrong }
  } finally {
    events.close()
  }
}

/** The read model as a client sees it. */
class ReadModel {
  readonly #target: Target
  readonly #rank: number
  readonly #ids = new Set<string>()
  #etag: string | undefined

  constructor(target: Target, { from, count, size, rank }: ReplaceOrder) {
    this.#target = target
    this.#rank = rank
    for (let i = 0; i < count; i++) this.#ids.add(idOf((from + i) % size))
  }

  /** Ids that were not right when last looked at. */
  get wrong(): number {
    return this.#ids.size
  }

  async isRight(): Promise<boolean> {
    const answer = await read(this.#target, '/api/tasks', this.#etag)
    if (answer.status === 304) return false
    if (answer.status !== 200) throw new Error(`GET /api/tasks answered ${answer.status}.`)
    this.#etag = answer.etag
    const { tasks } = JSON.parse(answer.text) as { tasks: { id: string; rank: number }[] }
    for (const { id, rank } of tasks) if (rank === this.#rank) this.#ids.delete(id)
    return this.#ids.size === 0
  }
}
