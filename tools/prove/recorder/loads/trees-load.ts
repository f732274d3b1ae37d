// Agents in linked worktrees that are moved, copied, or lose their git folder while a task is begun
// or finished there. It records the worktrees in the task's row, and each claim that a rival gets.

import { cp, mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { bodyOf } from '../system.ts'
import { type KeptTask, replace, taskText } from './board-load.ts'
import type { AgentsPlan, Held } from './claimer.ts'

const TREES = 4
const TTL_MS = 120_000
const LONGEST_MS = 12_000
const ASKS_EVERY_MS = 1_000
/** Within this time a change is published, on a slow machine and after a fault, too. */
const PUBLISHED_MS = 120_000
/** For so long a task is not given after it was released as done. */
const RESTS_MS = 60_000
const READ_MS = 10_000
/** One that has nothing of any task. */
const OTHER_TREE = 'other'

interface Worktree {
  name: string
  /** It changes as the worktree is moved. */
  dir: string
  task: KeptTask
  /** The status in its copy of the task, where the row must show it. */
  status?: string
}

/** By name, the status that each worktree has by the row of a task. */
type Row = Record<string, string>

export async function workInTrees(plan: AgentsPlan): Promise<void> {
  const { board, claimer, ending, random, recorder, system } = plan
  const around = dirname(dirname(system.store))
  const [beside, elsewhere] = [join(around, 'trees'), join(around, 'elsewhere/deep')]
  const trees = Array.from({ length: TREES }, (_, n): Worktree => {
    const name = `tree-${n}`
    const task = { id: `W-${n}`, version: -101 - n, assignee: 'trees' }
    return { name, dir: join(beside, name), task }
  })

  const asked = (actor: string, { id: task, assignee }: KeptTask, tree: string) => {
    return { actor, task, assignee, tree, ttlMs: TTL_MS }
  }
  const mark = ({ name, task }: Worktree, own: { status: string | null; isSeen?: boolean }) =>
    recorder.write({ kind: 'mark', task: task.id, tree: name, ...own })

  function unmark(tree: Worktree): void {
    delete tree.status
    mark(tree, { status: null })
  }

  /** Undefined: there was no answer. */
  async function rowOf({ task }: Worktree): Promise<Row | undefined> {
    const signal = AbortSignal.timeout(READ_MS)
    const asked = system.askBoard(`/tasks/${task.id}`, { signal })
    type Task = { trees?: { tree: string; status?: string }[] }
    // An object that is evicted may end an answer in its middle.
    const row = await asked.then(bodyOf<Task>).catch(() => undefined)
    const rows = row && (row.trees ?? []).map(({ tree, status = '' }) => [tree, status] as const)
    return rows && Object.fromEntries(rows)
  }

  /** Whether its row comes to say so. */
  async function says(tree: Worktree, isSo: (row: Row) => boolean): Promise<boolean> {
    const look = async () => {
      const row = await rowOf(tree)
      return (row && isSo(row)) || undefined
    }
    return (await ending.within(PUBLISHED_MS, look)) === true
  }

  /** Until then its row is that of before, and shows nothing of what is read again. */
  const leftOut = (tree: Worktree) => says(tree, (row) => !(tree.name in row))

  /** Until the row shows it. */
  async function shown(tree: Worktree, status: string, held?: Held): Promise<void> {
    const isSeen = await says(tree, (row) => row[tree.name] === status)
    if (ending.isOver) return
    if (held) await claimer.renew(held)
    if (isSeen) tree.status = status
    mark(tree, { status, isSeen })
  }

  async function write(dir: string, { id, version, assignee }: KeptTask, own: object) {
    const text = taskText(version, { assignee, ...own })
    await replace(join(dir, '.cairn/tasks', `${id}.md`), text)
  }

  async function save(tree: Worktree, status: string, held?: Held): Promise<void> {
    unmark(tree)
    await write(tree.dir, tree.task, { status })
    await shown(tree, status, held)
  }

  /** The holder renews, the row is read, and a rival claims the task. */
  async function meanwhile(tree: Worktree, held?: Held): Promise<void> {
    const { name, task } = tree
    const until = performance.now() + random.below(LONGEST_MS) ** 2 / LONGEST_MS
    do {
      const { status } = tree
      if (held) await claimer.renew(held)
      // Nobody gets what is finished, in whichever worktree; nor another what one has begun.
      const its = status === 'done' && random.next() < 0.5 ? name : OTHER_TREE
      if (held || status !== undefined) await claimer.rival(asked(`rival-${name}`, task, its))
      const row = status === undefined ? undefined : await rowOf(tree)
      if (row) recorder.write({ kind: 'row', task: task.id, trees: row })
      await ending.pause(Math.min(ASKS_EVERY_MS, Math.max(0, until - performance.now())))
    } while (performance.now() < until && !ending.isOver)
  }

  async function move(tree: Worktree, held?: Held): Promise<void> {
    if (ending.isOver) return
    const { name, dir, status } = tree
    const common = await system.git('rev-parse', '--absolute-git-dir')
    const other = join(beside, `${name}-${random.below(1e9)}`)
    const far = join(elsewhere, name)
    const own = join(common, 'worktrees', name)
    // Not beside it: the next `git worktree repair` would take it for another worktree.
    const forgotten = join(common, `${name}-forgotten`)
    const git = (...args: string[]) => system.git('worktree', ...args)
    const isBack = () => (status === undefined ? undefined : shown(tree, status, held))
    /** What is done, and what ends it. */
    const moves = {
      async mv() {
        await rename(dir, other)
        tree.dir = other
        return async () => void (random.next() < 0.5 && (await git('repair', other)))
      },
      async git() {
        // git moves only what it finds.
        await git('repair', dir)
        await git('move', dir, other)
        tree.dir = other
        return () => undefined
      },
      async gone() {
        await rename(dir, far)
        return async () => {
          await rename(far, dir)
          await isBack()
        }
      },
      async copied() {
        // Of two folders git must know which is the copy. Its status must not count.
        await git('repair', dir)
        await cp(dir, other, { recursive: true })
        await write(other, tree.task, { status: 'open', note: 'copy' })
        return () => rm(other, { recursive: true })
      },
      async forgotten() {
        // git knows it no more, so it is left out until its folder is back.
        unmark(tree)
        await rename(own, forgotten)
        return async () => {
          await leftOut(tree)
          await rename(forgotten, own)
          await isBack()
        }
      },
    }
    const how = random.weighted<keyof typeof moves>([
      [3, 'mv'],
      [2, 'git'],
      [3, 'gone'],
      [2, 'copied'],
      [1, 'forgotten'],
    ])
    recorder.write({ kind: 'moved', tree: name, how })
    const end = await moves[how]()
    await meanwhile(tree, held)
    await end()
    await meanwhile(tree, held)
  }

  async function finish(tree: Worktree, held: Held): Promise<void> {
    await save(tree, 'doing', held)
    await move(tree, held)
    await save(tree, 'done', held)
    if (random.next() < 0.5) await system.git('-C', tree.dir, 'commit', '-qam', 'done')
    await claimer.release(held, random.next() < 0.25 ? 'done' : 'abandoned')
    await move(tree)
  }

  async function work(tree: Worktree, round: number): Promise<void> {
    const { name, task } = tree
    const isFinished = random.next() < 0.7
    // What an agent abandons is free in its own worktree, begun or not: so another abandons it.
    const its = asked(`${name}.${round}`, task, isFinished ? name : OTHER_TREE)
    // No worktree has anything of the task now, so somebody must get it.
    const held = await ending.within(RESTS_MS + PUBLISHED_MS, () => claimer.claim(its))
    if (ending.isOver) return
    recorder.write({ kind: 'offered', task: task.id, isGiven: held !== undefined })
    if (held === undefined) return
    if (isFinished) await finish(tree, held)
    else {
      await claimer.release(held, 'abandoned')
      await save(tree, 'doing')
      await move(tree)
    }
    unmark(tree)
    await system.git('-C', tree.dir, 'reset', '-q', '--hard', 'main')
    // Else the next status is taken for seen where the row is still that of before.
    await leftOut(tree)
  }

  for (const place of [beside, elsewhere]) await mkdir(place, { recursive: true })
  for (const { task } of trees) await board.keep(task, 'open')
  const files = trees.map(({ task }) => `.cairn/tasks/${task.id}.md`)
  await system.git('add', '.cairn/config.yaml', ...files)
  await system.git('commit', '-q', '-m', 'tasks')
  for (const { dir } of trees) await system.git('worktree', 'add', '-q', dir)
  await ending.repeat({ times: TREES, pauseMs: () => random.below(1_000) }, async (who, round) => {
    const tree = trees[who]
    if (tree) await work(tree, round)
  })
}
