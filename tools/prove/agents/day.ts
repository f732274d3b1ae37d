// A day of agents that work in worktrees of their own, and of people who merge what they did hours
// later, and stash and switch in the main tree meanwhile. A clock makes five minutes of a step.

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Process } from '../../harness/process.ts'
import { closedIn } from './boards.ts'
import { AgentOfDay, type Day, type DayPlan } from './day-agent.ts'
import { GitOfDay } from './day-git.ts'
import { dataIn, projectIn, signalboxIn } from './signalbox.ts'

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

const MOVED_CLOCK = new URL('../recorder/moved-clock.mjs', import.meta.url)
const STEP_MS = 300_000
const STEPS_AN_HOUR = 3_600_000 / STEP_MS
const LOOKS_MS = 50
const NOTES = 'NOTES.md'
/** What is published is there within a second: this only ends what hangs. */
const PATIENCE_MS = 60_000

interface Deleted {
  at: string
  task: string
  marks?: string[]
}

interface Row {
  id: string
  status: string
  inMain?: boolean
}

/** Leaves no process and no file. */
export async function workDay(plan: DayPlan): Promise<DayOutcome> {
  const dir = await mkdtemp(join(tmpdir(), 'signalbox-day-'))
  const clock = join(dir, 'clock')
  const git = new GitOfDay(projectIn(dir), plan.env, async () => {
    const moved = Number(await readFile(clock, 'utf8'))
    return new Date(Date.now() + moved)
  })
  await writeFile(clock, '0')
  const moved = { NODE_OPTIONS: `--import=${MOVED_CLOCK.href}`, MOVED_CLOCK_FILE: clock }
  const signalbox = await signalboxIn(dir, { ...plan.env, ...moved })
  const running = new RunningDay(plan, git, { signalbox, clock, data: dataIn(dir) })
  try {
    return await running.run()
  } finally {
    await signalbox.stop()
    await rm(dir, { recursive: true, force: true, maxRetries: 5 })
  }
}

class RunningDay implements Day {
  readonly plan: DayPlan
  readonly git: GitOfDay
  readonly given = new Map<string, string[]>()
  readonly waiting: { branch: string; step: number }[] = []
  step = 0
  readonly #signalbox: Process
  readonly #clock: string
  readonly #data: string
  readonly #did: Record<string, number> = {}
  readonly #findings: string[] = []
  /** The step in which the main tree is back on its branch. */
  #backAt: number | undefined

  constructor(
    plan: DayPlan,
    git: GitOfDay,
    { signalbox, clock, data }: { signalbox: Process; clock: string; data: string },
  ) {
    this.plan = plan
    this.git = git
    this.#signalbox = signalbox
    this.#clock = clock
    this.#data = data
  }

  async run(): Promise<DayOutcome> {
    const { plan, git } = this
    await this.#makeProject()
    await this.#signalbox.start()
    const agents: AgentOfDay[] = []
    for (let n = 1; n <= plan.agents; n++) agents.push(await AgentOfDay.of(this, `agent-${n}`))
    await this.#published()
    for (this.step = 1; !this.#isOver(agents); this.step++) {
      await writeFile(this.#clock, String(this.step * STEP_MS))
      await this.#people()
      for (const agent of agents) await agent.step()
      if (this.step % STEPS_AN_HOUR === 0) await this.#restart()
    }
    await this.#back()
    for (const { branch } of this.waiting.splice(0)) await this.#merge(branch)
    await this.#published()
    await this.#nothingDeleted()
    const names = Object.keys(plan.board.files(plan.tasks))
    const closed = closedIn(plan.board, await git.texts(names))
    const lists = [...this.given.values()]
    const claims = lists.reduce((sum, list) => sum + list.length, 0)
    return { given: lists.length, claims, closed, did: this.#did, findings: this.#findings }
  }

  count(what: string): void {
    this.#did[what] = (this.#did[what] ?? 0) + 1
  }

  finding(sentence: string): void {
    this.#findings.push(`step ${this.step}: ${sentence}`)
  }

  async ask<Body>(
    route: string,
    body?: object,
    query = '',
  ): Promise<{ status: number; body: Body }> {
    const until = performance.now() + PATIENCE_MS
    for (;;) {
      try {
        const { url, path, tokens } = JSON.parse(
          await readFile(join(this.#data, 'local.json'), 'utf8'),
        ) as { url: string; path: string; tokens: { agent: string } }
        const asked = `${route}?path=${encodeURIComponent(path)}${query}`
        const answer = await fetch(`${url}/api${asked}`, {
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

  /** All agents are idle and nothing is left for them, or the day is over. */
  #isOver(agents: readonly AgentOfDay[]): boolean {
    if (this.step > this.plan.hours * STEPS_AN_HOUR) return agents.every(({ isIdle }) => isIdle)
    return this.given.size === this.plan.tasks && agents.every(({ isIdle }) => isIdle)
  }

  /** Half of the tasks are on an older branch, too. */
  async #makeProject(): Promise<void> {
    const { board, tasks } = this.plan
    const all = Object.entries(board.files(tasks))
    const half = Math.ceil(all.length / 2)
    await mkdir(this.git.project, { recursive: true })
    await this.git.run('init', '-q', '-b', 'main')
    await this.#write([[NOTES, 'Of before.\n'], ...all.slice(0, half)])
    await this.git.commit('first')
    await this.git.run('branch', 'older')
    await this.#write(all.slice(half))
    await this.git.commit('second')
  }

  async #write(files: readonly [string, string][]): Promise<void> {
    for (const [name, text] of files) {
      const path = join(this.git.project, name)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, text)
    }
  }

  async #people(): Promise<void> {
    if (this.#backAt !== undefined && this.step >= this.#backAt) await this.#back()
    const { random } = this.plan
    const what = random.weighted([
      [4, 'nothing'],
      [2, 'stash'],
      [2, 'switch'],
      [1, 'checkout'],
    ])
    if (this.#backAt === undefined && what !== 'nothing') {
      this.count(what)
      if (what === 'stash') await this.#stash()
      else if (what === 'checkout') await this.git.run('checkout', '-q', '--', '.')
      else {
        await this.git.run('switch', '-q', 'older')
        this.#backAt = this.step + 1 + random.below(3)
      }
    }
    if (this.#backAt === undefined) {
      const due = this.waiting.filter(({ step }) => step <= this.step)
      for (const it of due) {
        this.waiting.splice(this.waiting.indexOf(it), 1)
        await this.#merge(it.branch)
      }
    }
    await this.#published()
  }

  /** Of a file that git has, and of one that it has not. */
  async #stash(): Promise<void> {
    const [notes, draft] = [NOTES, 'draft.txt'].map((name) => join(this.git.project, name))
    for (const path of [notes, draft]) if (path) await writeFile(path, 'Of now.\n')
    await this.git.run('stash', '-q', '-u')
    await sleep(this.plan.random.below(600))
    await this.git.run('stash', 'pop', '-q')
    await this.git.run('checkout', '-q', '--', '.')
    if (draft) await rm(draft)
  }

  async #back(): Promise<void> {
    if (this.#backAt === undefined) return
    this.#backAt = undefined
    await this.git.run('switch', '-q', 'main')
  }

  async #merge(branch: string): Promise<void> {
    const { random } = this.plan
    const how = random.weighted([
      [3, 'squash'],
      [2, 'merge'],
      [2, 'cherry-pick'],
    ] as const)
    this.count(how)
    await this.git.merge(branch, how)
    if (random.next() < 0.5) await this.git.forget(branch)
  }

  /** Nobody deletes a task of a day: whatever looks so is a branch, a stash or a merge. */
  async #nothingDeleted(): Promise<void> {
    const query = '&kind=deleted&limit=1000'
    const { body } = await this.ask<{ activity: Deleted[] }>('/activity', undefined, query)
    for (const { at, task, marks = [] } of body.activity) {
      this.count('tasks that were away')
      if (marks.length > 0) this.finding(`${task} counts as deleted at ${at}: ${marks.join()}`)
    }
  }

  async #restart(): Promise<void> {
    const isKilled = this.plan.random.next() < 0.5
    this.count(isKilled ? 'killed Signalboxes' : 'restarts')
    if (isKilled) await this.#signalbox.kill()
    else await this.#signalbox.stop()
    await this.#signalbox.start()
    await this.#published()
    this.plan.log(`hour ${this.step / STEPS_AN_HOUR}: ${JSON.stringify(this.#did)}`)
  }

  /**
   * Until the list says of each task what the files of the main tree say, and where that is: five
   * minutes of the clock must not pass between a switch and what it changed.
   */
  async #published(): Promise<void> {
    const { board, tasks } = this.plan
    const texts = await this.git.texts(Object.keys(board.files(tasks)))
    const head = (await this.git.run('rev-parse', 'HEAD')).trim()
    const expected = board.statuses(texts)
    const until = performance.now() + PATIENCE_MS
    for (;;) {
      const { body: status } = await this.ask<{ main?: { head: string } }>('/status')
      const { body } = await this.ask<{ tasks?: Row[] }>('/tasks')
      const own = body.tasks?.filter(({ id, inMain }) => inMain !== false && board.isTask(id))
      const seen = Object.fromEntries(own?.map(({ id, status }) => [id, status]) ?? [])
      if (isDeepStrictEqual(seen, expected) && status.main?.head === head) return
      if (performance.now() > until) {
        this.finding(`the list is ${JSON.stringify(seen)}, the files ${JSON.stringify(expected)}`)
        return
      }
      await sleep(LOOKS_MS)
    }
  }
}
