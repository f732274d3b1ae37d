// Agents in linked worktrees that are moved, copied, or lose their git folder while a task is begun
// or finished there. It records the worktrees in the task's row, and each claim that a rival gets.

import { cp, mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
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

interface Worktree {
  name: string
  /** It changes as the worktree is moved. */
  dir: string
  task: KeptTask
  /** The status in its copy of the task, where the row must show it. */
  status?: string
}

export class TreesLoad {
  readonly #plan: AgentsPlan
  readonly #places: Record<'beside' | 'elsewhere', string>

  constructor(plan: AgentsPlan) {
    this.#plan = plan
    const around = dirname(dirname(plan.system.store))
    this.#places = { beside: join(around, 'trees'), elsewhere: join(around, 'elsewhere/deep') }
  }

  async run(): Promise<void> {
    for (const place of Object.values(this.#places)) await mkdir(place, { recursive: true })
    const trees = TASKS.map((task, n): Worktree => {
      const name = `tree-${n}`
      return { name, dir: join(this.#places.beside, name), task }
    })
    const { board, system } = this.#plan
    for (const task of TASKS) await board.keep(task, 'open')
    const files = TASKS.map(({ id }) => `.cairn/tasks/${id}.md`)
    await system.git('add', '.cairn/config.yaml', ...files)
    await system.git('commit', '-q', '-m', 'tasks')
    for (const { dir } of trees) await system.git('worktree', 'add', '-q', dir)
    await Promise.all(trees.map((tree) => this.#work(tree)))
  }

  async #work(tree: Worktree): Promise<void> {
    const { claimer, random, ending } = this.#plan
    for (let n = 0; await ending.pause(random.below(1_000)); n++) {
      const isFinished = random.next() < 0.7
      const actor = `${tree.name}.${n}`
      // What an agent abandons is free in its own worktree, begun or not: so another abandons it.
      const held = await this.#take(tree, actor, isFinished ? tree.name : OTHER_TREE)
      if (held === undefined) continue
      if (isFinished) await this.#finish(tree, held)
      else {
        await claimer.release(held, 'abandoned')
        await this.#save(tree, 'doing')
        await this.#move(tree)
      }
      await this.#reset(tree)
    }
  }

  async #finish(tree: Worktree, held: Held): Promise<void> {
    const { claimer, random, system } = this.#plan
    await this.#save(tree, 'doing', held)
    await this.#move(tree, held)
    await this.#save(tree, 'done', held)
    if (random.next() < 0.5) await system.git('-C', tree.dir, 'commit', '-qam', 'done')
    await claimer.release(held, random.next() < 0.25 ? 'done' : 'abandoned')
    await this.#move(tree)
  }

  /** No worktree has anything of the task now, so somebody must get it. */
  async #take({ task }: Worktree, actor: string, tree: string): Promise<Held | undefined> {
    const { ending, recorder } = this.#plan
    const held = await ending.within(RESTS_MS + PUBLISHED_MS, () => this.#claim(actor, task, tree))
    if (ending.isOver) return undefined
    recorder.write({ kind: 'offered', task: task.id, isGiven: held !== undefined })
    return held
  }

  async #save(tree: Worktree, status: string, held?: Held): Promise<void> {
    this.#unmark(tree)
    const { id, version, assignee } = tree.task
    const text = taskText(version, { status, assignee })
    await replace(join(tree.dir, '.cairn/tasks', `${id}.md`), text)
    await this.#shown(tree, status, held)
  }

  /** Until the row shows it. */
  async #shown(tree: Worktree, status: string, held?: Held): Promise<void> {
    const { claimer, ending } = this.#plan
    const isSeen = await this.#saysRow(tree, (trees) => trees[tree.name] === status)
    if (ending.isOver) return
    if (held) await claimer.renew(held)
    if (isSeen) tree.status = status
    this.#mark(tree, { status, isSeen })
  }

  #unmark(tree: Worktree): void {
    delete tree.status
    this.#mark(tree, { status: null })
  }

  #mark({ name, task }: Worktree, own: Readonly<Record<string, unknown>>): void {
    this.#plan.recorder.write({ kind: 'mark', task: task.id, tree: name, ...own })
  }

  async #reset(tree: Worktree): Promise<void> {
    this.#unmark(tree)
    await this.#plan.system.git('-C', tree.dir, 'reset', '-q', '--hard', 'main')
    // Else the next status is taken for seen where the row is still that of before.
    await this.#leftOut(tree)
  }

  async #move(tree: Worktree, held?: Held): Promise<void> {
    const { ending, random, recorder, system } = this.#plan
    if (ending.isOver) return
    const how = random.weighted<'mv' | 'git' | 'gone' | 'copied' | 'forgotten'>([
      [3, 'mv'],
      [2, 'git'],
      [3, 'gone'],
      [2, 'copied'],
      [1, 'forgotten'],
    ])
    const { name, dir } = tree
    const beside = join(this.#places.beside, `${name}-${random.below(1e9)}`)
    const elsewhere = join(this.#places.elsewhere, name)
    const common = await system.git('rev-parse', '--absolute-git-dir')
    const own = join(common, 'worktrees', name)
    // Not beside it: the next `git worktree repair` would take it for another worktree.
    const forgotten = join(common, `${name}-forgotten`)
    recorder.write({ kind: 'moved', tree: name, how })
    // git moves only what it finds; and of two folders it must know which is the copy.
    if (how === 'git' || how === 'copied') await system.git('worktree', 'repair', dir)
    if (how === 'mv') await rename(dir, beside)
    if (how === 'git') await system.git('worktree', 'move', dir, beside)
    if (how === 'mv' || how === 'git') tree.dir = beside
    if (how === 'gone') await rename(dir, elsewhere)
    if (how === 'copied') await this.#copy(tree, beside)
    const { status } = tree
    // git knows it no more, so it is left out until its folder is back.
    if (how === 'forgotten') {
      this.#unmark(tree)
      await rename(own, forgotten)
    }
    await this.#meanwhile(tree, held)
    if (how === 'mv' && random.next() < 0.5) {
      await system.git('worktree', 'repair', beside)
    }
    if (how === 'gone') {
      await rename(elsewhere, dir)
      if (status !== undefined) await this.#shown(tree, status, held)
    }
    if (how === 'copied') await rm(beside, { recursive: true })
    if (how === 'forgotten') {
      await this.#leftOut(tree)
      await rename(forgotten, own)
      if (status !== undefined) await this.#shown(tree, status, held)
    }
    await this.#meanwhile(tree, held)
  }

  /** Until then its row is that of before, and shows nothing of what is read again. */
  async #leftOut(tree: Worktree): Promise<void> {
    await this.#saysRow(tree, (trees) => !(tree.name in trees))
  }

  /** Its task has another status, which must not count. */
  async #copy({ dir, task: { id, version, assignee } }: Worktree, to: string): Promise<void> {
    await cp(dir, to, { recursive: true })
    const text = taskText(version, { status: 'open', assignee, note: 'copy' })
    await replace(join(to, '.cairn/tasks', `${id}.md`), text)
  }

  /** The holder renews, the row is read, and a rival claims the task. */
  async #meanwhile(tree: Worktree, held?: Held): Promise<void> {
    const { claimer, ending, random, recorder } = this.#plan
    const until = performance.now() + random.below(LONGEST_MS) ** 2 / LONGEST_MS
    do {
      if (held) await claimer.renew(held)
      if (held || tree.status !== undefined) await this.#rival(tree)
      const trees = tree.status === undefined ? undefined : await this.#row(tree)
      if (trees) recorder.write({ kind: 'row', task: tree.task.id, trees })
      await ending.pause(Math.min(ASKS_EVERY_MS, Math.max(0, until - performance.now())))
    } while (performance.now() < until && !ending.isOver)
  }

  /** Nobody gets what is finished, in whichever worktree; nor another what one has begun. */
  async #rival({ name, task, status }: Worktree): Promise<void> {
    const { claimer, random } = this.#plan
    const tree = status === 'done' && random.next() < 0.5 ? name : OTHER_TREE
    const taken = await this.#claim(`rival-${name}`, task, tree)
    // A finding of the checker.
    if (taken !== undefined) await claimer.release(taken, 'abandoned')
  }

  /** Whether its row comes to say so. */
  async #saysRow(
    tree: Worktree,
    says: (trees: Record<string, string>) => boolean,
  ): Promise<boolean> {
    const look = async () => {
      const trees = await this.#row(tree)
      return (trees && says(trees)) || undefined
    }
    return (await this.#plan.ending.within(PUBLISHED_MS, look)) === true
  }

  /** The status that each worktree has by the row. Undefined: there was no answer. */
  async #row({ task }: Worktree): Promise<Record<string, string> | undefined> {
    const asked = this.#plan.system.askBoard(`/tasks/${task.id}`, AbortSignal.timeout(READ_MS))
    // An object that is evicted may end an answer in its middle.
    const body: unknown = await asked
      .then((it) => (it.ok ? it.json() : undefined))
      .catch(() => undefined)
    if (!body) return undefined
    const { trees = [] } = body as { trees?: { tree: string; status?: string }[] }
    return Object.fromEntries(trees.map(({ tree, status = '' }) => [tree, status]))
  }

  #claim(actor: string, { id: task, assignee }: KeptTask, tree: string) {
    return this.#plan.claimer.claim({ actor, task, assignee, tree, ttlMs: TTL_MS })
  }
}

/** One that has nothing of any task. */
const OTHER_TREE = 'other'

/** No other task has such a version, which is its title. */
const TASKS = Array.from({ length: TREES }, (_, n): KeptTask => {
  return { id: `W-${n}`, version: -101 - n, assignee: 'trees' }
})
