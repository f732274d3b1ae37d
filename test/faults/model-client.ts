// A client that follows the protocol and does nothing else: it loads everything once, then refetches
// what each signal names, and the list for derived fields. After a reconnect it gets only signals.
// So if a signal is lost, or comes before its data, its board differs from the files. The fields of
// a task's own file are read only after a signal of this task: from the list, they would also be
// right if that signal never came.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Task } from '../../worker/board/wire.ts'
import type { Repo } from '../support/edge.ts'
import { EventStream } from '../support/event-stream.ts'

type Signal = { type: 'tasks-changed' } | { type: 'task-changed'; id: string } | { type: string }

const isTaskChanged = (signal: Signal): signal is { type: 'task-changed'; id: string } =>
  signal.type === 'task-changed'

const LIST = Symbol('the list of tasks')
const FOLLOWING = Symbol('what follows, in the list of tasks')
type Wish = string | typeof LIST | typeof FOLLOWING
const AGAIN_MS = 30

export class ModelClient {
  readonly tasks = new Map<string, Task>()
  readonly signals: string[] = []
  readonly #repo: Repo
  /** To be fetched, oldest first: a signal during a fetch asks for another one. */
  readonly #wanted = new Set<Wish>([LIST])
  readonly #tags = new Map<Wish, string>()
  #lastId: string | undefined
  #stream: EventStream | undefined
  #isClosed = false
  readonly #running: Promise<unknown>

  constructor(repo: Repo) {
    this.#repo = repo
    this.#running = Promise.all([this.#follow(), this.#fetchAll()])
  }

  /** Nothing is left to fetch. */
  get isIdle(): boolean {
    return this.#wanted.size === 0
  }

  /** Drops its connection; it comes back by itself, with its last id. */
  async drop(): Promise<void> {
    await this.#stream?.close()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.drop()
    await this.#running
  }

  async #follow(): Promise<void> {
    while (!this.#isClosed) {
      try {
        const headers: Record<string, string> =
          this.#lastId === undefined ? {} : { 'Last-Event-ID': this.#lastId }
        const response = await this.#repo.request('/events', { headers })
        if (response.ok) await this.#read(new EventStream(response))
        else await response.body?.cancel()
      } catch (error) {
        // The edge is away: connect again.
        this.signals.push(`(${error instanceof Error ? error.message : String(error)})`)
      }
      await sleep(AGAIN_MS)
    }
  }

  async #read(stream: EventStream): Promise<void> {
    this.#stream = stream
    if (this.#isClosed) await stream.close()
    for (let read = 0; ; ) {
      const isOver = stream.ended
      for (const block of stream.blocks.slice(read)) {
        this.#lastId = block.id ?? this.#lastId
        if (block.data !== undefined) this.#onSignal(block.data as Signal)
        read++
      }
      if (isOver) return
      await sleep(2)
    }
  }

  #onSignal(signal: Signal): void {
    this.signals.push(JSON.stringify(signal))
    if (isTaskChanged(signal)) this.#want(signal.id)
    else if (signal.type === 'tasks-changed') this.#want(LIST)
    this.#want(FOLLOWING)
  }

  #want(what: Wish): void {
    this.#wanted.delete(what)
    this.#wanted.add(what)
  }

  async #fetchAll(): Promise<void> {
    while (!this.#isClosed) {
      const [what] = this.#wanted
      if (what === undefined) {
        await sleep(2)
        continue
      }
      this.#wanted.delete(what)
      try {
        if (what === LIST) await this.#fetchList()
        else if (what === FOLLOWING) await this.#fetchFollowing()
        else await this.#fetchTask(what)
      } catch {
        // The edge is away: the signal still stands.
        if (!this.#wanted.has(what)) this.#wanted.add(what)
        await sleep(AGAIN_MS)
      }
    }
  }

  async #fetchList(): Promise<void> {
    const response = await this.#get(LIST, '/tasks')
    if (response.status === 304) return
    if (response.status === 404) {
      this.tasks.clear()
      return
    }
    const { tasks } = (await response.json()) as { tasks: Task[] }
    this.tasks.clear()
    for (const task of tasks) this.tasks.set(task.id, task)
  }

  async #fetchFollowing(): Promise<void> {
    const response = await this.#get(FOLLOWING, '/tasks')
    if (response.status !== 200) return
    const { tasks } = (await response.json()) as { tasks: Task[] }
    for (const { id, ready } of tasks) {
      const known = this.tasks.get(id)
      if (known) this.tasks.set(id, { ...known, ready })
    }
  }

  async #fetchTask(id: string): Promise<void> {
    const response = await this.#get(id, `/tasks/${encodeURIComponent(id)}`)
    if (response.status === 304) return
    const answer = (await response.json()) as Task & { code?: string }
    if (response.ok) this.tasks.set(id, answer)
    else if (answer.code === 'unknown_task') this.tasks.delete(id)
    else this.tasks.clear()
  }

  /** Conditional for lists alone: of a task, the list may have brought another state meanwhile. */
  async #get(what: Wish, route: string): Promise<Response> {
    const tag = typeof what === 'string' ? undefined : this.#tags.get(what)
    const response = await this.#repo.request(route, {
      headers: tag === undefined ? {} : { 'If-None-Match': tag },
    })
    if (response.status >= 500) throw new Error(`${response.status} ${await response.text()}`)
    this.#tags.set(what, response.headers.get('ETag') ?? '')
    return response
  }
}
