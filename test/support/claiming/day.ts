// A day of agents that work in worktrees of their own, and of people who merge what they did hours
// later, and stash and switch in the main tree meanwhile. A clock makes five minutes of a step.

import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { git as runGit } from '../../../tools/harness/git.ts'
import type { Process } from '../../../tools/harness/process.ts'
import type { Seeded } from '../../../tools/harness/seeded.ts'
import { closedIn, type WorkBoard } from './boards.ts'
import { dataIn, projectIn, signalboxIn } from './signalbox.ts'

interface DayPlan {
  board: WorkBoard
  tasks: number
  agents: number
  hours: number
  random: Seeded
  env: Readonly<Record<string, string>>
  log: (sentence: string) => void
}

export interface DayOutcome {
  /** Tasks that were given to an agent, and how often one was. */
  given: number
  claims: number
  /** Tasks that are closed in the main tree. */
  closed: number
  did: Record<string, number>
  /** Sentences. */
  findings: string[]
}

const MOVED_CLOCK = new URL('../../../tools/prove/recorder/moved-clock.mjs', import.meta.url)
const STEP_MS = 300_000
const STEPS_AN_HOUR = 3_600_000 / STEP_MS
const TTL_MS = 3_600_000
/** In steps. */
const WORKS = 12
const MERGED_AFTER = 48
const LOOKS_MS = 50
const NOTES = 'NOTES.md'
/** What is published is there within a second: this only ends what hangs. */
const PATIENCE_MS = 60_000

/** Of an agent, in its worktree. */
interface Work {
  claim: string
  task: string
  branch: string
  /** The step in which it ends. */
  until: number
}

/** Leaves no process and no file. */
export async function workDay(plan: DayPlan): Promise<DayOutcome> {
  const dir = await mkdtemp(join(tmpdir(), 'signalbox-day-'))
  const clock = join(dir, 'clock')
  const moved = { NODE_OPTIONS: `--import=${MOVED_CLOCK.href}`, MOVED_CLOCK_FILE: clock }
  const signalbox = await signalboxIn(dir, { ...plan.env, ...moved })
  try {
    return await new Day(plan, dir, clock, signalbox).run()
  } finally {
    await signalbox.stop()
    await rm(dir, { recursive: true, force: true, maxRetries: 5 })
  }
}

class Day {
  readonly #plan: DayPlan
  readonly #dir: string
  readonly #project: string
  readonly #clock: string
  readonly #signalbox: Process
  readonly #did: Record<string, number> = {}
  readonly #findings: string[] = []
  /** By task: the agents that were given it. */
  readonly #given = new Map<string, string[]>()
  /** By agent. */
  readonly #work = new Map<string, Work>()
  /** Branches that wait, and the step in which each is merged. */
  readonly #waiting: { branch: string; step: number }[] = []
  #step = 0
  #movedMs = 0
  /** The step in which the main tree is back on its branch. */
  #backAt: number | undefined

  constructor(plan: DayPlan, dir: string, clock: string, signalbox: Process) {
    this.#plan = plan
    this.#dir = dir
    this.#project = projectIn(dir)
    this.#clock = clock
    this.#signalbox = signalbox
  }

  async run(): Promise<DayOutcome> {
    const { agents: count, board, tasks } = this.#plan
    await this.#setClock()
    await this.#makeProject()
    await this.#signalbox.start()
    const agents = Array.from({ length: count }, (_, n) => `agent-${n + 1}`)
    for (const agent of agents) await this.#addTree(agent)
    await this.#published()
    for (this.#step = 1; !this.#isOver(); this.#step++) {
      await this.#setClock()
      await this.#people()
      for (const agent of agents) await this.#act(agent)
      if (this.#step % STEPS_AN_HOUR === 0) await this.#restart()
    }
    await this.#back()
    for (const { branch } of this.#waiting.splice(0)) await this.#merge(branch)
    await this.#published()
    await this.#nothingDeleted()
    const closed = closedIn(board, await this.#texts(Object.keys(board.files(tasks))))
    const lists = [...this.#given.values()]
    const claims = lists.flat().length
    return { given: lists.length, claims, closed, did: this.#did, findings: this.#findings }
  }

  #setClock(): Promise<void> {
    this.#movedMs = this.#step * STEP_MS
    return writeFile(this.#clock, String(this.#movedMs))
  }

  #count(what: string): void {
    this.#did[what] = (this.#did[what] ?? 0) + 1
  }

  #finding(sentence: string): void {
    this.#findings.push(`step ${this.#step}: ${sentence}`)
  }

  /** Nobody works, and nothing is left to be given or the day is over. */
  #isOver(): boolean {
    const { hours, tasks } = this.#plan
    const isLate = this.#step > hours * STEPS_AN_HOUR
    return this.#work.size === 0 && (isLate || this.#given.size === tasks)
  }

  /** In the main tree. Throws with what git says. */
  #git(...args: string[]): Promise<string> {
    return this.#gitIn(this.#project, ...args)
  }

  /** At the time of the day's clock. */
  #gitIn(dir: string, ...args: string[]): Promise<string> {
    const date = new Date(Date.now() + this.#movedMs).toISOString()
    const dates = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date }
    return runGit(dir, { ...this.#plan.env, ...dates }, ...args)
  }

  async #commit(message: string, dir = this.#project): Promise<void> {
    await this.#gitIn(dir, 'add', '-A')
    await this.#gitIn(dir, 'commit', '-q', '--allow-empty', '-m', message)
  }

  /** Those files of the main tree that are there. */
  #texts(names: readonly string[]): Promise<string[]> {
    const read = (name: string) => readFile(join(this.#project, name), 'utf8').catch(() => '')
    return Promise.all(names.map(read))
  }

  /** Asks the edge, until it answers. */
  async #ask<Body>(
    route: string,
    { body, query = '' }: { body?: object; query?: string } = {},
  ): Promise<{ status: number; body: Body }> {
    const until = performance.now() + PATIENCE_MS
    for (;;) {
      try {
        const file = await readFile(join(dataIn(this.#dir), 'local.json'), 'utf8')
        const { url, path, tokens } = JSON.parse(file)
        const asked = `${url}/api${route}?path=${encodeURIComponent(path)}${query}`
        const answer = await fetch(asked, {
          method: body ? 'POST' : 'GET',
          headers: { authorization: `Bearer ${tokens.agent}`, 'content-type': 'application/json' },
          ...(body && { body: JSON.stringify(body) }),
          signal: AbortSignal.timeout(PATIENCE_MS / 6),
        })
        const text = await answer.text()
        if (answer.status < 500) return { status: answer.status, body: JSON.parse(text) }
      } catch {
        // It starts.
      }
      if (performance.now() > until) throw new Error(`${route}: no answer`)
      await sleep(LOOKS_MS)
    }
  }

  /** Half of the tasks are on an older branch, too. */
  async #makeProject(): Promise<void> {
    const { board, tasks } = this.#plan
    const all = Object.entries(board.files(tasks))
    const half = Math.ceil(all.length / 2)
    const write = async (files: readonly [string, string][]) => {
      for (const [name, text] of files) {
        const path = join(this.#project, name)
        await mkdir(dirname(path), { recursive: true })
        await writeFile(path, text)
      }
    }
    await mkdir(this.#project, { recursive: true })
    await this.#git('init', '-q', '-b', 'main')
    await write([[NOTES, 'Of before.\n'], ...all.slice(0, half)])
    await this.#commit('first')
    await this.#git('branch', 'older')
    await write(all.slice(half))
    await this.#commit('second')
  }

  #treeOf(agent: string): string {
    return join(this.#dir, agent)
  }

  async #addTree(agent: string): Promise<void> {
    await this.#git('worktree', 'add', '-q', '--detach', this.#treeOf(agent), 'main')
  }

  async #act(agent: string): Promise<void> {
    const work = this.#work.get(agent)
    if (!work) await this.#begin(agent)
    else if (this.#step < work.until) await this.#goOn(agent, work)
    else await this.#finish(agent, work)
  }

  async #begin(agent: string): Promise<void> {
    const claim = randomBytes(16).toString('base64url')
    const asked = { claim, actor: agent, tree: agent, ttlMs: TTL_MS }
    const { status, body } = await this.#ask<{ task: { id: string } }>('/claims', { body: asked })
    if (status !== 201) return
    const task = body.task.id
    const before = this.#given.get(task) ?? []
    if (before.length > 0) this.#finding(`${agent} got ${task} after ${before.join()}`)
    this.#given.set(task, [...before, agent])
    const branch = `${agent}-${this.#step}`
    await this.#gitIn(this.#treeOf(agent), 'switch', '-q', '-c', branch, 'main')
    await this.#edit(agent, task, 'mark')
    const until = this.#step + 1 + this.#plan.random.below(WORKS)
    this.#work.set(agent, { claim, task, branch, until })
  }

  async #goOn(agent: string, { claim, task }: Work): Promise<void> {
    const renewal = this.#ask<{ end?: object; returning?: boolean }>('/claims/renew', {
      body: { claim },
    })
    const { status, body } = await renewal
    if (status === 200 && (!body.end || body.returning)) return
    this.#finding(`${agent} lost ${task}: ${status} ${JSON.stringify(body)}`)
    await this.#gitIn(this.#treeOf(agent), 'checkout', '-q', '--', '.')
    this.#work.delete(agent)
  }

  async #finish(agent: string, { claim, task, branch }: Work): Promise<void> {
    const { random } = this.#plan
    await this.#edit(agent, task, 'close')
    await this.#commit(`close ${task}`, this.#treeOf(agent))
    const done = { claim, outcome: 'done', summary: `${task} is done` }
    const { status, body } = await this.#ask('/claims/release', { body: done })
    if (status !== 200) {
      this.#finding(`${agent} cannot release ${task}: ${status} ${JSON.stringify(body)}`)
    }
    this.#waiting.push({ branch, step: this.#step + random.below(MERGED_AFTER) })
    this.#work.delete(agent)
    // Some agents remove their worktree, and the next one makes another.
    if (random.next() > 0.25) return
    this.#count('removed worktrees')
    await this.#git('worktree', 'remove', '--force', this.#treeOf(agent))
    await this.#addTree(agent)
  }

  async #edit(agent: string, task: string, how: 'mark' | 'close'): Promise<void> {
    const { board } = this.#plan
    const path = join(this.#treeOf(agent), board.fileOf(task))
    await writeFile(path, board[how](await readFile(path, 'utf8'), task))
  }

  async #people(): Promise<void> {
    if (this.#backAt !== undefined && this.#step >= this.#backAt) await this.#back()
    const { random } = this.#plan
    const what = random.weighted([
      [4, 'nothing'],
      [2, 'stash'],
      [2, 'switch'],
      [1, 'checkout'],
    ])
    if (this.#backAt === undefined && what !== 'nothing') {
      this.#count(what)
      if (what === 'stash') await this.#stash()
      else if (what === 'checkout') await this.#git('checkout', '-q', '--', '.')
      else {
        await this.#git('switch', '-q', 'older')
        this.#backAt = this.#step + 1 + random.below(3)
      }
    }
    if (this.#backAt === undefined) {
      for (const it of this.#waiting.filter(({ step }) => step <= this.#step)) {
        this.#waiting.splice(this.#waiting.indexOf(it), 1)
        await this.#merge(it.branch)
      }
    }
    await this.#published()
  }

  /** Of a file that git has, and of one that it has not. */
  async #stash(): Promise<void> {
    const draft = join(this.#project, 'draft.txt')
    for (const path of [join(this.#project, NOTES), draft]) await writeFile(path, 'Of now.\n')
    await this.#git('stash', '-q', '-u')
    await sleep(this.#plan.random.below(600))
    await this.#git('stash', 'pop', '-q')
    await this.#git('checkout', '-q', '--', '.')
    await rm(draft)
  }

  async #back(): Promise<void> {
    if (this.#backAt === undefined) return
    this.#backAt = undefined
    await this.#git('switch', '-q', 'main')
  }

  async #merge(branch: string): Promise<void> {
    const { random } = this.#plan
    const how = random.weighted([
      [3, 'squash'],
      [2, 'merge'],
      [2, 'cherry-pick'],
    ])
    this.#count(how)
    // Where two did the same task, which is what is looked for, the second changes nothing.
    const theirs = ['-X', 'theirs']
    if (how === 'merge') await this.#git('merge', '-q', ...theirs, '--no-ff', '-m', branch, branch)
    else if (how === 'cherry-pick') {
      await this.#git('cherry-pick', ...theirs, '--keep-redundant-commits', `main..${branch}`)
    } else {
      await this.#git('merge', '-q', ...theirs, '--squash', branch)
      await this.#git('commit', '-q', '--allow-empty', '-m', branch)
    }
    // Unless a worktree is on it.
    const forget = () => this.#git('branch', '-q', '-D', branch).catch(() => undefined)
    if (random.next() < 0.5) await forget()
  }

  /** Nobody deletes a task of a day: whatever looks so is a branch, a stash or a merge. */
  async #nothingDeleted(): Promise<void> {
    const query = '&kind=deleted&limit=1000'
    const { body } = await this.#ask<{
      activity: { at: string; task: string; marks?: string[] }[]
    }>('/activity', { query })
    for (const { at, task, marks = [] } of body.activity) {
      this.#count('tasks that were away')
      if (marks.length > 0) this.#finding(`${task} counts as deleted at ${at}: ${marks.join()}`)
    }
  }

  async #restart(): Promise<void> {
    const isKilled = this.#plan.random.next() < 0.5
    this.#count(isKilled ? 'killed Signalboxes' : 'restarts')
    if (isKilled) await this.#signalbox.kill()
    else await this.#signalbox.stop()
    await this.#signalbox.start()
    await this.#published()
    this.#plan.log(`hour ${this.#step / STEPS_AN_HOUR}: ${JSON.stringify(this.#did)}`)
  }

  /**
   * Until the list says of each task what the files of the main tree say, and where that is: five
   * minutes of the clock must not pass between a switch and what it changed.
   */
  async #published(): Promise<void> {
    const { board, tasks } = this.#plan
    const expected = board.statuses(await this.#texts(Object.keys(board.files(tasks))))
    const head = await this.#git('rev-parse', 'HEAD')
    const until = performance.now() + PATIENCE_MS
    for (;;) {
      const { body: status } = await this.#ask<{ main?: { head: string } }>('/status')
      const { body } = await this.#ask<{
        tasks?: { id: string; status: string; inMain?: boolean }[]
      }>('/tasks')
      const own = body.tasks?.filter(({ id, inMain }) => inMain !== false && board.isTask(id))
      const seen = Object.fromEntries(own?.map((row) => [row.id, row.status]) ?? [])
      if (isDeepStrictEqual(seen, expected) && status.main?.head === head) return
      if (performance.now() > until) {
        this.#finding(`the list is ${JSON.stringify(seen)}, the files ${JSON.stringify(expected)}`)
        return
      }
      await sleep(LOOKS_MS)
    }
  }
}
