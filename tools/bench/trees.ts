// What linked worktrees of a repository cost: one board and its copies, beside the board alone. Each
// tree changed a few tasks, the others are as in the main tree.

import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BenchRun, Verdict } from './bench.ts'
import { type BenchBoard, boardIn, makeBoard, nextRank, saveTask } from './board.ts'
import { type Events, type Message, openEvents, type Streaming } from './client.ts'
import { tokenFor } from './payments/edge.ts'
import { memoryOf, ownMiBOf } from './proc.ts'
import { startEdge, startWatch } from './serve-and-watch.ts'
import { percentile, rounded } from './statistics.ts'

export interface TreesRow {
  tasks: number
  trees: number
  /** From the start until the edge has the board, with nothing changed since the last start. */
  readyMs: number[]
  readyMedianMs: number
  /** At rest, with what it shares with other processes counted in part. */
  memoryMiB: number
  peakMiB: number
  /** From a save in the main tree, or in a linked one, until the message. Medians. */
  saveMs: number
  treeSaveMs?: number
}

interface TreesPlan {
  tasks: number
  trees: number
  changedEach: number
  starts: number
  /** V8 gives memory back that it took at the start only when nothing happened for a while. */
  restMs: number
  saves: number
}

const FULL: TreesPlan = {
  tasks: 5_000,
  trees: 20,
  changedEach: 5,
  starts: 5,
  restMs: 60_000,
  saves: 20,
}
const QUICK: TreesPlan = { tasks: 50, trees: 2, changedEach: 1, starts: 1, restMs: 0, saves: 1 }
const TARGETS = { timesMemory: 1.5, timesReady: 1.5 }
const SAVE_WAIT_MS = 30_000

export async function measureTrees(run: BenchRun): Promise<TreesRow[]> {
  const plan = run.isQuick ? QUICK : FULL
  const workDir = join(run.workDir, 'worktrees')
  const main = join(workDir, 'main')
  const board = makeBoard(main, plan.tasks)
  const trees = Array.from({ length: plan.trees }, (_, n) => join(workDir, `tree-${n}`))
  const git = (...args: string[]) => execFileSync('git', [...IDENTITY, ...args], { cwd: main })
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '--message', 'the board')
  const copies = trees.map((dir, n) => {
    git('worktree', 'add', '--quiet', '-b', `tree-${n}`, dir)
    const copy = boardIn(dir, plan.tasks)
    for (let k = 0; k < plan.changedEach; k++)
      saveTask(copy, n * plan.changedEach + k, 2 * RANK + n)
    return copy
  })
  const rows: TreesRow[] = []
  for (const some of [[], copies]) {
    const row = await measure(plan, join(workDir, `work-${some.length}`), board, some)
    rows.push(row)
    run.say(inWords(row))
  }
  return rows
}

const IDENTITY = ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost']
/** No save has it. */
const RANK = 1_000_000

async function measure(
  { tasks, starts, restMs, saves }: TreesPlan,
  workDir: string,
  board: BenchBoard,
  copies: readonly BenchBoard[],
): Promise<TreesRow> {
  mkdirSync(workDir, { recursive: true })
  await using stack = new AsyncDisposableStack()
  const edge = await startEdge(workDir)
  stack.defer(edge.stop)
  const flags = copies.length === 0 ? ['--no-worktrees'] : []
  const start = () => startWatch(board.dir, 'bench', edge.url, workDir, flags)
  // The first reads the files.
  const first = await start()
  await sleep(restMs === 0 ? 0 : 5_000)
  await first.stop()
  const readyMs: number[] = []
  for (let n = 1; n < starts; n++) {
    const startedAt = performance.now()
    const child = await start()
    readyMs.push(Math.round(performance.now() - startedAt))
    await child.stop()
  }
  const startedAt = performance.now()
  const child = await start()
  readyMs.push(Math.round(performance.now() - startedAt))
  stack.defer(child.stop)
  await sleep(restMs)
  const memoryMiB = rounded(ownMiBOf(child.pid))
  const { peakMiB } = memoryOf(child.pid)
  const authorization = `Bearer ${await tokenFor('board:read', { repos: ['*'] })}`
  const url = (path: string) => new URL(`${path}?path=bench`, edge.url)
  const heard = await Heard.open({ system: 'signalbox-node', url, headers: { authorization } })
  stack.defer(heard.close)
  const median = async (of: (n: number) => BenchBoard) => {
    const took: number[] = []
    for (let n = 0; n < saves; n++) {
      // Another task each time, and bytes that no tree has.
      const rank = nextRank(board)
      took.push(await saveAndHear(of(n), tasks - rank, RANK + rank, heard))
    }
    return rounded(percentile(took, 50))
  }
  const saveMs = await median(() => board)
  const inTree = (n: number) => copies[n % copies.length] ?? board
  return {
    tasks,
    trees: copies.length,
    readyMs,
    readyMedianMs: percentile(readyMs, 50),
    memoryMiB,
    peakMiB: rounded(peakMiB),
    saveMs,
    ...(copies.length > 0 && { treeSaveMs: await median(inTree) }),
  }
}

async function saveAndHear(
  board: BenchBoard,
  n: number,
  rank: number,
  heard: Heard,
): Promise<number> {
  const savedAt = performance.now()
  const at = heard.next(`BENCH-${n}`)
  saveTask(board, n, rank)
  return (await at) - savedAt
}

/** When the next message about a task came. */
class Heard {
  #waiting: { id: string; take: (at: number) => void } | undefined
  readonly #events: Promise<Events>

  private constructor(target: Streaming) {
    const onMessage = ({ id }: Message, at: number) => {
      if (id === this.#waiting?.id) this.#waiting?.take(at)
    }
    this.#events = openEvents(target, onMessage, (why) => {
      throw new Error(`The stream ended: ${why}`)
    })
  }

  static async open(target: Streaming): Promise<Heard> {
    const heard = new Heard(target)
    await heard.#events
    return heard
  }

  close = async (): Promise<void> => (await this.#events).close()

  next(id: string): Promise<number> {
    return new Promise((take, fail) => {
      const timer = setTimeout(
        () => fail(new Error(`${id} was not told within ${SAVE_WAIT_MS} ms`)),
        SAVE_WAIT_MS,
      )
      this.#waiting = {
        id,
        take: (at) => {
          clearTimeout(timer)
          take(at)
        },
      }
    })
  }
}

export function treesVerdicts(rows: readonly TreesRow[]): Verdict[] {
  const alone = rows.find(({ trees }) => trees === 0)
  const all = rows.find(({ trees }) => trees > 0)
  if (!alone || !all) return []
  const verdict = (what: string, times: number, target: number) => ({
    what: `${what} of a board with ${all.trees} worktrees, by that of the board alone`,
    target: `${target} times`,
    measured: `${times.toFixed(1)} times`,
    reached: times <= target,
  })
  return [
    verdict('memory', all.memoryMiB / alone.memoryMiB, TARGETS.timesMemory),
    verdict('start', all.readyMedianMs / alone.readyMedianMs, TARGETS.timesReady),
  ]
}

const inWords = (row: TreesRow) =>
  `${row.tasks} tasks with ${row.trees} worktrees: ready in ${row.readyMs.join(', ')} ms; ` +
  `${row.memoryMiB} MiB, at most ${row.peakMiB}; a save is told after ${row.saveMs} ms` +
  (row.treeSaveMs === undefined ? '' : `, one in a worktree after ${row.treeSaveMs}`)
