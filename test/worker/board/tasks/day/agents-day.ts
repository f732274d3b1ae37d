// Eight agents and the people who merge what they did, for a day on a board: at the edge, and in a
// model. A clock makes five minutes of a step.

import { FakeClock } from '../../../../../libraries/testing/fake-clock.ts'
import type { Seeded } from '../../../../../tools/harness/seeded.ts'
import { openRepository } from '../../../../../worker/board/repository/open-repository-sqlite.ts'
import { ProcessRepositories } from '../../../../../worker/board/repository/repositories-process.ts'
import { statusesOf } from '../../../../../worker/board/tasks/to-do.ts'
import type { BoardConfig, DataRecord, Task } from '../../../../../worker/board/wire.ts'
import { openSql } from '../../../../../worker/shared/sql-node.ts'
import { freshHash } from '../../../../support/edge.ts'
import { Model, type ModelTask } from './day-model.ts'

const STEP_MS = 300_000
/** So that what was released as done is not offered again within the day. */
export const STEPS = 286
const TTL_MS = 600_000
const SILENT_AFTER_MS = 20 * 60_000
/** Steps after which an agent asks again that got no task: most of them would find the same. */
const ASKS_AGAIN_AFTER = 4
const ROOM = { all: 9, each: 9 }

interface Agent {
  tree: string
  task?: string
  hash: string
  /** Steps until it finishes. */
  left: number
  /** Steps in which it shows nothing, and in which nobody renews for it. */
  quiet: number
  gone: number
}

export class AgentsDay {
  readonly clock = new FakeClock()
  readonly model: Model
  readonly did: Record<string, number> = {}
  readonly #random: Seeded
  readonly #rows = new Map<string, Task>()
  /** The hashes of the tasks' files. */
  readonly #files = new Map<string, string>()
  readonly #config: BoardConfig
  readonly #closed: string
  readonly #begun: string | undefined
  readonly #agents: Agent[]
  readonly #merges: { task: string; tree: string; step: number }[] = []
  readonly #sql = openSql(':memory:')
  readonly #publisher = openRepository(this.#sql).repository
  readonly repository = new ProcessRepositories({
    openSql: () => this.#sql,
    now: this.clock.now,
    elapsed: this.clock.elapsed,
    after: this.clock.after,
    maxIdle: 8,
    variables: { silentAfterMs: SILENT_AFTER_MS },
    log: () => undefined,
    sendNotice: async () => ({ ok: true, status: 204 }),
    room: ROOM,
    roomOfAll: ROOM,
  }).open('board')
  #run = { run: 0, epoch: '' }
  #batch = 0
  #secrets = 0

  constructor(tasks: readonly Task[], config: BoardConfig, random: Seeded) {
    this.#random = random
    this.#config = config
    const { isToDo, isClosed } = statusesOf(config)
    this.#closed = config.closed[0] ?? 'done'
    this.#begun = config.states.find((state) => !isToDo(state) && !isClosed(state))
    const closesWithParts = config.layout === 'task-master' || config.layout === 'kiro'
    this.model = new Model({ closesWithParts, silentAfterMs: SILENT_AFTER_MS })
    for (const task of tasks) {
      this.#rows.set(task.id, task)
      const known = task.partOf !== undefined && tasks.some(({ id }) => id === task.partOf)
      this.model.tasks.set(task.id, {
        id: task.id,
        main: isClosed(task.status) ? 'closed' : 'open',
        isReady: task.ready,
        isToDo: isToDo(task.status),
        inFile: task.executionState,
        whole: known ? task.partOf : task.parent,
        isPart: task.folder === undefined && !task.optional && task.invalid === undefined,
        isOptional: task.optional === true,
        deps: task.deps ?? [],
        marks: new Map(),
        isDone: false,
      })
    }
    this.#agents = Array.from({ length: 8 }, (_, n) => {
      return { tree: `agent-${n}`, hash: '', left: 0, quiet: 0, gone: 0 }
    })
  }

  /** `onStep` is called some time after each of so many, `STEPS` at most. */
  async run(steps: number, onStep: (step: number) => Promise<void>): Promise<void> {
    const store = { state: 'present', version: '0' } as const
    const root = { step: 'root', run: null, root: '1'.repeat(32), store } as const
    const answer = this.#publisher.sync(root, this.clock.now())
    if (!answer.ok || answer.answer.step !== 'root') throw new Error('no sync')
    this.#run = answer.answer
    const board = { kind: 'board', id: 'board', hash: freshHash(), board: this.#config } as const
    this.#publish([board, ...[...this.#rows.keys()].map((id) => this.#saved(id))])
    for (let step = 1; step <= steps; step++) {
      await this.#people(step)
      for (const agent of this.#agents) await this.#step(agent, step)
      const rest = this.#random.below(STEP_MS)
      await this.clock.advance(rest)
      await onStep(step)
      await this.clock.advance(STEP_MS - rest)
    }
  }

  async #step(agent: Agent, step: number): Promise<void> {
    const { task: id, hash } = agent
    if (agent.gone > 0) {
      agent.gone--
      if (agent.gone === 0) delete agent.task
      return
    }
    if (id === undefined) return await this.#take(agent)
    const task = this.#of(id)
    // Somebody closed the task in the main tree, and with it the claim.
    if (!task.claim) {
      delete agent.task
      return
    }
    if (agent.quiet > 0) {
      agent.quiet--
      await this.repository.claims('renew', { hash })
      task.claim.expiresAt = this.clock.now() + TTL_MS
      return
    }
    const now = this.clock.now()
    await this.repository.claims('renew', { hash, activeAt: now })
    task.claim = { ...task.claim, sign: now, expiresAt: now + TTL_MS }
    const what = this.#random.weighted([
      [20, 'works'],
      [2, 'quiet'],
      [1, 'gone'],
      [1, 'gives up'],
    ] as const)
    if (what === 'quiet') agent.quiet = 1 + this.#random.below(9)
    else if (what === 'gone') agent.gone = 1 + this.#random.below(6)
    else if (what === 'gives up') await this.#release(agent, 'abandoned')
    else if (--agent.left <= 0) await this.#finish(agent, step)
    this.#count(what)
  }

  async #take(agent: Agent): Promise<void> {
    const hash = `hash-${++this.#secrets}`
    const { tree } = agent
    const asked = { hash, actor: tree, tree, ttlMs: TTL_MS, max: 1, force: false }
    const given = await this.repository.claims('claim', asked)
    if (!given.ok) {
      agent.gone = ASKS_AGAIN_AFTER
      return
    }
    const now = this.clock.now()
    const task = this.#of(given.answer.task)
    task.claim = { tree, sign: now, expiresAt: now + TTL_MS }
    Object.assign(agent, { hash, task: task.id, left: 2 + this.#random.below(10) })
    if (this.#begun !== undefined && this.#random.next() < 0.6) this.#mark(task, tree, 'begun')
  }

  async #finish(agent: Agent, step: number): Promise<void> {
    const { tree } = agent
    const task = this.#of(agent.task ?? '')
    const how = this.#random.weighted([
      [5, 'closes in its tree'],
      [2, 'says so alone'],
      [1, 'closes in the main tree'],
    ] as const)
    this.#count(how)
    if (how === 'closes in the main tree') {
      this.#close(task)
      delete agent.task
      return
    }
    if (how === 'closes in its tree') this.#mark(task, tree, 'closed')
    await this.#release(agent, 'done')
    this.#merges.push({ task: task.id, tree, step: step + 12 + this.#random.below(60) })
  }

  async #release(agent: Agent, outcome: 'done' | 'abandoned'): Promise<void> {
    const task = this.#of(agent.task ?? '')
    await this.repository.claims('release', { hash: agent.hash, outcome })
    delete task.claim
    if (outcome === 'done') task.isDone = true
    delete agent.task
  }

  async #people(step: number): Promise<void> {
    for (const merge of this.#merges.filter((it) => it.step === step)) {
      const task = this.#of(merge.task)
      if (task.main !== 'open' || task.claim) continue
      const isDeleted = task.marks.get(merge.tree) === 'closed' && this.#random.next() < 0.15
      this.#count(isDeleted ? 'deletes' : 'merges')
      if (isDeleted) this.#delete(task)
      else this.#close(task)
    }
    // A worktree finishes what it has made itself.
    if (step % 40 === 0) {
      const id = `NEW-${step}`
      const { trees, inMain, ...row } = this.#only(id, { title: id, id, status: this.#closed })
      this.#rows.set(id, { ...row, trees, inMain })
      this.model.tasks.set(id, {
        id,
        main: 'never',
        isReady: false,
        isToDo: false,
        inFile: undefined,
        whole: undefined,
        isPart: true,
        isOptional: false,
        deps: [],
        isDone: false,
        marks: new Map([['agent-0', 'closed']]),
      })
      this.#publish([this.#saved(id)])
    }
  }

  #only(id: string, { title, status }: Pick<Task, 'id' | 'title' | 'status'>) {
    const trees = [{ tree: 'agent-0', dir: '/agent-0', title, status }]
    return { id, title, status, ready: false, held: true, trees, inMain: false } as const
  }

  #mark(task: ModelTask, tree: string, as: 'begun' | 'closed'): void {
    const status = as === 'closed' ? this.#closed : (this.#begun ?? '')
    const row = this.#row(task.id)
    const others = row.trees?.filter((it) => it.tree !== tree) ?? []
    task.marks.set(tree, as)
    this.#put({ ...row, trees: [...others, { tree, dir: `/${tree}`, status, title: row.title }] })
  }

  /** In the main tree: whichever trees have it, it is theirs no more. */
  #close(task: ModelTask): void {
    const { trees: _, ...row } = this.#row(task.id)
    task.main = 'closed'
    task.marks.clear()
    task.isDone = false
    delete task.claim
    this.#rows.set(task.id, { ...row, status: this.#closed, ready: false })
    const waiting = [...this.#rows.values()].filter(
      ({ deps, ready, held, inMain }) => deps && !ready && !held && inMain !== false,
    )
    const freed = waiting.filter(({ id, deps = [] }) => {
      return this.#of(id).main === 'open' && deps.every((dep) => this.#isClosed(dep))
    })
    for (const { id } of freed) {
      this.#rows.set(id, { ...this.#row(id), ready: true })
      this.#of(id).isReady = true
    }
    const follows = freed.map(({ id }) => this.#record(id))
    this.#publish([this.#saved(task.id), ...follows])
  }

  #delete(task: ModelTask): void {
    task.main = 'deleted'
    const row = this.#row(task.id)
    const only = { ready: false, held: true, inMain: false, deletedInMain: true } as const
    this.#put({ ...row, ...only, status: this.#closed })
  }

  #isClosed = (id: string): boolean => this.model.tasks.get(id)?.main === 'closed'

  #put(row: Task): void {
    this.#rows.set(row.id, row)
    this.#publish([this.#saved(row.id)])
  }

  /** The task's file, or a copy of it, is another. */
  #saved(id: string): DataRecord {
    this.#files.set(id, freshHash())
    return this.#record(id)
  }

  #record(id: string): DataRecord {
    const file = this.#files.get(id) ?? freshHash()
    return { kind: 'task', id, hash: freshHash(), file, task: this.#row(id) }
  }

  #publish(upserts: DataRecord[]): void {
    const batch = ++this.#batch
    const { run, epoch } = this.#run
    const request = { run, epoch, batch, upserts, deletes: [] }
    const answer = this.#publisher.changes(request, this.clock.now())
    if (!answer.ok) throw new Error(answer.reason)
  }

  #row(id: string): Task {
    const row = this.#rows.get(id)
    if (!row) throw new Error(`no row ${id}`)
    return row
  }

  #of(id: string): ModelTask {
    const task = this.model.tasks.get(id)
    if (!task) throw new Error(`no task ${id}`)
    return task
  }

  #count(what: string): void {
    this.did[what] = (this.did[what] ?? 0) + 1
  }
}
