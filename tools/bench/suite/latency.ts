// From a saved file to a client: saves one task at intervals and measures the time until the message
// arrives. The window of 100 ms, which all systems wait on purpose, is subtracted.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Seeded } from '../../harness/seeded.ts'
import { atMost, type Bench } from '../bench.ts'
import { type BenchBoard, counted, idOf, makeBoard, saveTask } from '../board.ts'
import { type Message, Messages, read, type System, startTarget, type Target } from '../target.ts'

const WINDOW_MS = 100
/** A later message counts as lost: people reload a board sooner than that. */
const LOST_MS = 5_000
const PAUSE_MS = 300
const PAUSE_JITTER_MS = 100
/** The first saves run cold code on both sides, which is not typical of a board. */
const WARM_UP_SAVES = 5
const SEED = 20_260_101

/** Most ms of the p99. */
const AIMS: readonly { tasks: number; most: Partial<Record<System, number>> }[] = [
  { tasks: 1_000, most: { signalbox: 20, 'signalbox-node': 10 } },
  { tasks: 20_000, most: { signalbox: 20, 'signalbox-node': 10 } },
  { tasks: 100_000, most: { signalbox: 40, 'signalbox-node': 40 } },
]
/** The rivals get half as many saves, and less time where each save takes long. */
const PLANS: readonly (readonly [System, { saves: number; mostMs: number }])[] = [
  ['signalbox', { saves: 200, mostMs: 120_000 }],
  ['signalbox-node', { saves: 200, mostMs: 120_000 }],
  ['chokidar', { saves: 100, mostMs: 45_000 }],
  ['chokidar-tuned', { saves: 100, mostMs: 60_000 }],
]

export const runLatency: Bench = async ({ workDir, isQuick, report }) => {
  for (const [n, { tasks, most }] of AIMS.slice(0, isQuick ? 1 : AIMS.length).entries()) {
    const board = makeBoard(join(workDir, `board-${tasks}`), tasks)
    // Every second size has the other order, since the first system runs on a cold machine.
    for (const [system, plan] of n % 2 === 0 ? PLANS : PLANS.toReversed()) {
      await using target = await startTarget(system, board.dir, join(workDir, `${system}-${tasks}`))
      const own = isQuick ? { ...plan, saves: 10 } : plan
      const { values, faults } = await measure(target, board, own)
      const what = `save to client beyond the window, ${counted(board)}`
      const limit = most[system]
      const aim = limit === undefined ? undefined : atMost(limit, 'p99')
      report({ what, system: target.system, unit: 'ms' }, values, { aim, faults })
    }
  }
}

async function measure(
  target: Target,
  board: BenchBoard,
  plan: { saves: number; mostMs: number },
): Promise<{ values: number[]; faults: string[] }> {
  const random = new Seeded(SEED)
  using messages = await Messages.open(target)
  const values: number[] = []
  let [saves, lost, stale] = [0, 0, 0]
  const endsAt = performance.now() + plan.mostMs
  for (let save = 1; save <= plan.saves + WARM_UP_SAVES && performance.now() < endsAt; save++) {
    const n = random.below(board.size)
    const rank = ++board.lastRank
    const isMeant = ({ type, id }: Message) => type === 'tasks-changed' || id === idOf(n)
    const next = messages.next(LOST_MS, isMeant)
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
