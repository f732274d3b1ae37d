// An agent of a day: it claims a task, works at it on a branch of its worktree, closes it there,
// commits, releases the claim, and asks for the next one.

import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Seeded } from '../../harness/seeded.ts'
import type { WorkBoard } from './boards.ts'
import type { GitOfDay } from './day-git.ts'

export interface DayPlan {
  board: WorkBoard
  tasks: number
  agents: number
  hours: number
  random: Seeded
  env: Readonly<Record<string, string>>
  log: (sentence: string) => void
}

/** What agents and people share. */
export interface Day {
  readonly plan: DayPlan
  readonly git: GitOfDay
  /** By task: the agents that were given it. */
  readonly given: Map<string, string[]>
  /** Branches that wait, and the step in which each is merged. */
  readonly waiting: { branch: string; step: number }[]
  readonly step: number
  count(what: string): void
  finding(sentence: string): void
  /** Asks the edge, until it answers. */
  ask<Body>(route: string, body?: object): Promise<{ status: number; body: Body }>
}

const TTL_MS = 3_600_000
/** In steps. */
const WORKS = 12
const MERGED_AFTER = 48

interface Work {
  claim: string
  task: string
  branch: string
  until: number
}

interface Held {
  end?: object
  returning?: boolean
}

export class AgentOfDay {
  readonly #day: Day
  readonly #name: string
  #work: Work | undefined

  static async of(day: Day, name: string): Promise<AgentOfDay> {
    const agent = new AgentOfDay(day, name)
    await agent.#addTree()
    return agent
  }

  constructor(day: Day, name: string) {
    this.#day = day
    this.#name = name
  }

  get isIdle(): boolean {
    return this.#work === undefined
  }

  async step(): Promise<void> {
    if (!this.#work) await this.#begin()
    else if (this.#day.step < this.#work.until) await this.#goOn(this.#work)
    else await this.#finish(this.#work)
  }

  get #dir(): string {
    return join(this.#day.git.project, '..', this.#name)
  }

  async #addTree(): Promise<void> {
    await this.#day.git.run('worktree', 'add', '-q', '--detach', this.#dir, 'main')
  }

  async #begin(): Promise<void> {
    const { given, plan, git, step } = this.#day
    const claim = randomBytes(16).toString('base64url')
    const asked = { claim, actor: this.#name, tree: this.#name, ttlMs: TTL_MS }
    const { status, body } = await this.#day.ask<{ task: { id: string } }>('/claims', asked)
    if (status !== 201) return
    const task = body.task.id
    const before = given.get(task) ?? []
    if (before.length > 0) this.#day.finding(`${this.#name} got ${task} after ${before.join()}`)
    given.set(task, [...before, this.#name])
    const branch = `${this.#name}-${step}`
    await git.runIn(this.#dir, 'switch', '-q', '-c', branch, 'main')
    await this.#edit(task, 'mark')
    this.#work = { claim, task, branch, until: step + 1 + plan.random.below(WORKS) }
  }

  async #goOn({ claim, task }: Work): Promise<void> {
    const { status, body } = await this.#day.ask<Held>('/claims/renew', { claim })
    if (status === 200 && (!body.end || body.returning)) return
    this.#day.finding(`${this.#name} lost ${task}: ${status} ${JSON.stringify(body)}`)
    await this.#day.git.runIn(this.#dir, 'checkout', '-q', '--', '.')
    this.#work = undefined
  }

  async #finish(work: Work): Promise<void> {
    const { git, plan, waiting, step } = this.#day
    const { claim, task, branch } = work
    await this.#edit(task, 'close')
    await git.commit(`close ${task}`, this.#dir)
    const done = { claim, outcome: 'done', summary: `${task} is done` }
    const { status, body } = await this.#day.ask('/claims/release', done)
    if (status !== 200) {
      this.#day.finding(`${this.#name} cannot release ${task}: ${status} ${JSON.stringify(body)}`)
    }
    waiting.push({ branch, step: step + plan.random.below(MERGED_AFTER) })
    this.#work = undefined
    await this.#leave()
  }

  /** Some agents remove their worktree, and the next one makes another. */
  async #leave(): Promise<void> {
    if (this.#day.plan.random.next() > 0.25) return
    this.#day.count('removed worktrees')
    await this.#day.git.run('worktree', 'remove', '--force', this.#dir)
    await this.#addTree()
  }

  async #edit(task: string, how: 'mark' | 'close'): Promise<void> {
    const { board } = this.#day.plan
    const path = join(this.#dir, board.fileOf(task))
    await writeFile(path, board[how](await readFile(path, 'utf8'), task))
  }
}
