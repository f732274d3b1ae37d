// What one change costs a viewer: bytes and time of the read after a message. The whole list as it
// is sent without `?since=` and compression, and what the client reads now, after the same change.

import { join } from 'node:path'
import { type Bench, reporter } from './bench.ts'
import { idOf, makeBoard, nextRank, saveTask } from './board.ts'
import { Messages, read } from './client.ts'
import { startTarget, type Target } from './target.ts'

/** Beyond this, it would not be flat. */
const MOST_BYTES = 2_048
const FULL = { sizes: [100, 1_000, 5_000, 20_000], saves: 50 }
const QUICK: typeof FULL = { sizes: [100, 1_000], saves: 5 }
const WAIT_MS = 30_000

export const runRefetch: Bench = async (run, report) => {
  const { sizes, saves } = run.isQuick ? QUICK : FULL
  for (const tasks of sizes) {
    const board = makeBoard(join(run.workDir, `board-${tasks}`), tasks)
    const target = await startTarget('signalbox-node', board.dir, join(run.workDir, `d-${tasks}`))
    const messages = await Messages.open(target)
    const costs = { changed: [] as Cost[], whole: [] as Cost[] }
    try {
      let { seq } = await readList(target, 'nothing')
      for (let save = 0; save <= saves; save++) {
        const next = messages.next(WAIT_MS)
        const [n, rank] = [save % board.size, nextRank(board)]
        saveTask(board, n, rank)
        await next
        const now = await readList(target, seq)
        if (now.ranks.get(idOf(n)) !== rank) throw new Error('The answer lacks the change.')
        seq = now.seq
        const all = await readList(target, undefined)
        // The first save runs cold code on both sides.
        if (save === 0) continue
        costs.changed.push(now.cost)
        costs.whole.push(all.cost)
      }
    } finally {
      messages.close()
      await target.stop()
    }
    for (const [system, of] of [
      ['what changed', costs.changed],
      ['the whole list, not compressed', costs.whole],
    ] as const) {
      const what = `the read after one change, ${tasks.toLocaleString('en')} tasks`
      const show = reporter(report, system)
      const bytes = of.map((cost) => cost.bytes)
      show(what, 'bytes', bytes, of === costs.changed ? MOST_BYTES : undefined)
      show(
        what,
        'ms',
        of.map((cost) => cost.ms),
      )
    }
  }
}

interface Cost {
  bytes: number
  /** With unpacking and parsing, as the viewer pays for both. */
  ms: number
}

/** `since` undefined: the whole list, not compressed. */
async function readList(target: Target, since: string | undefined) {
  const from = performance.now()
  const { text, bytes } =
    since === undefined
      ? await read(target, '/api/tasks')
      : await read(target, `/api/tasks?since=${since}`, { 'accept-encoding': 'gzip' })
  const { tasks, seq = '' } = JSON.parse(text) as {
    tasks: { id: string; rank?: number }[]
    seq?: string
  }
  const cost: Cost = { bytes, ms: performance.now() - from }
  return { cost, seq, ranks: new Map(tasks.map(({ id, rank }) => [id, rank])) }
}
