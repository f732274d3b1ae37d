// Thousands of files replaced at once by another process: how long until every one of them is right
// in what clients read. The clock runs from the order to replace, so the writing is in it.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type BenchBoard, idOf, nextRank } from './board.ts'
import { Messages, read } from './client.ts'
import type { ReplaceOrder } from './replace.ts'
import type { Target } from './target.ts'

/** The client also reads without a message, so that a lost message does not count as a lost id. */
const LOOK_MS = 250
/** A pause after a run, so that late messages do not count for the next run. */
const SETTLE_MS = 1_500
/** Every run begins elsewhere in the board. */
const STRIDE = 1_237

export interface BurstPlan {
  files: number
  runs: number
  /** A run in which something is still wrong after this has failed. */
  longestRunMs: number
  /** No run begins after this. */
  mostMs: number
}

/** `values`: ms until all ids were right, of the runs in which they were. */
export async function measureBursts(
  target: Target,
  board: BenchBoard,
  { files, runs, longestRunMs, mostMs }: BurstPlan,
): Promise<{ values: number[]; faults: string[] }> {
  const writer = fork(join(import.meta.dirname, 'replace.ts'))
  const ended = new AbortController()
  const { signal } = ended
  writer.once('exit', () => ended.abort(new Error('The process that replaces files ended.')))
  const found: (number | undefined)[] = []
  const endsAt = performance.now() + mostMs
  const messages = await Messages.open(target)
  try {
    await once(writer, 'message', { signal })
    while (found.length < runs && performance.now() < endsAt) {
      const { dir, size } = board
      const rank = nextRank(board)
      const order = { dir, size, from: (rank * STRIDE) % size, count: files, rank }
      const startedAt = performance.now()
      const written = once(writer, 'message', { signal })
      writer.send(order)
      const rightAt = await whenRight(target, messages, order, startedAt + longestRunMs)
      await written
      found.push(rightAt && rightAt - startedAt)
      await sleep(SETTLE_MS)
    }
  } finally {
    messages.close()
    writer.disconnect()
  }
  const values = found.filter((ms) => ms !== undefined)
  const wrong = found.length - values.length
  const within = `${longestRunMs / 1_000} s`
  return { values, faults: wrong > 0 ? [`${wrong} of ${found.length} wrong after ${within}`] : [] }
}

async function whenRight(
  target: Target,
  messages: Messages,
  { from, count, size, rank }: ReplaceOrder,
  until: number,
): Promise<number | undefined> {
  const wrong = new Set(Array.from({ length: count }, (_, n) => idOf((from + n) % size)))
  let etag: string | undefined
  while (performance.now() < until) {
    // Listens before it reads, so that no message is missed between the two.
    const changed = messages.next(LOOK_MS)
    const answer = await read(target, '/api/tasks', etag ? { 'if-none-match': etag } : {})
    if (answer.status === 200) {
      etag = answer.etag
      const { tasks } = JSON.parse(answer.text) as { tasks: { id: string; rank: number }[] }
      for (const task of tasks) if (task.rank === rank) wrong.delete(task.id)
      if (wrong.size === 0) return performance.now()
    } else if (answer.status !== 304) throw new Error(`The list was answered ${answer.status}.`)
    await changed
  }
  return undefined
}
