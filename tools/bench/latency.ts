// From a saved file to a client: saves one task at intervals and measures the time until the message
// arrives. The window of 100 ms, which all systems wait on purpose, is subtracted.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Seeded } from '../harness/seeded.ts'
import { type Bench, type Row, rowOf } from './bench.ts'
import { type BenchBoard, idOf, makeBoard, nextRank, saveTask } from './board.ts'
import { Messages, read } from './client.ts'
import { LABEL, SYSTEMS, type System, startTarget, type Target } from './target.ts'

const WINDOW_MS = 100
/** A later message counts as lost: people reload a board sooner than that. */
const LOST_MS = 5_000
const PAUSE_MS = 300
const PAUSE_JITTER_MS = 100
/** The first saves run cold code on both sides, which is not typical of a board. */
const WARM_UP_SAVES = 5
const SEED = 20_260_101

/** Most ms of the p99. */
const AIMS = [
  { tasks: 1_000, signalbox: 20, 'signalbox-node': 10 },
  { tasks: 20_000, signalbox: 20, 'signalbox-node': 10 },
  { tasks: 100_000, signalbox: 40, 'signalbox-node': 40 },
]
/** The rivals get half as many saves, and less time where each save takes long. */
const PLANS: Readonly<Record<System, { saves: number; mostMs: number }>> = {
  signalbox: { saves: 200, mostMs: 120_000 },
  'signalbox-node': { saves: 200, mostMs: 120_000 },
  chokidar: { saves: 100, mostMs: 45_000 },
  'chokidar-tuned': { saves: 100, mostMs: 60_000 },
}

export const runLatency: Bench = async (run, report) => {
  const aims = run.isQuick ? AIMS.slice(0, 1) : AIMS
  for (const [n, { tasks, ...most }] of aims.entries()) {
    const board = makeBoard(join(run.workDir, `board-${tasks}`), tasks)
    // Every second size has the other order, since the first system runs on a cold machine.
    for (const system of n % 2 === 0 ? SYSTEMS : SYSTEMS.toReversed()) {
      const dataDir = join(run.workDir, `data-${system}-${tasks}`)
      const target = await startTarget(system, board.dir, dataDir)
      const plan = PLANS[system]
      try {
        const { values, faults } = await measure(
          target,
          board,
          run.isQuick ? { ...plan, saves: 10 } : plan,
        )
        const what = `save to client beyond the window, ${tasks.toLocaleString('en')} tasks`
        const aim: Pick<Row, 'aim'> =
          system in most ? { aim: { of: 'p99', most: most[system as keyof typeof most] } } : {}
        report(rowOf({ what, system: LABEL[system], unit: 'ms' }, values, { ...aim, faults }))
      } finally {
        await target.stop()
      }
    }
  }
}

async function measure(
  target: Target,
  board: BenchBoard,
  plan: { saves: number; mostMs: number },
): Promise<{ values: number[]; faults: string[] }> {
  const random = new Seeded(SEED)
  const messages = await Messages.open(target)
  const values: number[] = []
  let [saves, lost, stale] = [0, 0, 0]
  const endsAt = performance.now() + plan.mostMs
  try {
    for (let save = 1; save <= plan.saves + WARM_UP_SAVES; save++) {
      if (performance.now() > endsAt) break
      const n = random.below(board.size)
      const rank = nextRank(board)
      const next = messages.next(LOST_MS, ({ type, id }) => {
        return type === 'tasks-changed' || id === idOf(n)
      })
      saveTask(board, n, rank)
      const savedAt = performance.now()
      const at = await next
      if (save > WARM_UP_SAVES) {
        saves++
        if (at === undefined) lost++
        else values.push(at - savedAt - WINDOW_MS)
      }
      if (at !== undefined && !(await shows(target, n, rank))) stale++
      const pauseMs = PAUSE_MS + random.next() * PAUSE_JITTER_MS
      // Not less than half: what a late message leaves behind must not run into the next save.
      await sleep(Math.max(pauseMs / 2, savedAt + pauseMs - performance.now()))
    }
  } finally {
    messages.close()
  }
  const faults = [
    ...(lost > 0 ? [`${lost} of ${saves} lost`] : []),
    // The client got the message, but read the task as it was before the save.
    ...(stale > 0 ? [`${stale} stale`] : []),
  ]
  return { values, faults }
}

async function shows(target: Target, n: number, rank: number): Promise<boolean> {
  const { status, text } = await read(target, `/api/tasks/${idOf(n)}`)
  return status === 200 && JSON.parse(text).rank === rank
}
