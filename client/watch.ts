// Keeps one board up to date: fetches what a change message names, and calls the callbacks.

import type { Session, Task, TaskDetail } from '../api/types.ts'
import { isSame, nextState } from './board-state.ts'
import type { Clock } from './clock.ts'
import type { Lifecycle } from './host.ts'
import type { Link, LinkEvents } from './link.ts'
import { parseMessage, taskRoute } from './message.ts'
import type { ReadResult, Reads } from './reads.ts'
import { Resource } from './resource.ts'
import { isFinal } from './stream.ts'
import {
  BoardError,
  type BoardState,
  type BoardWatch,
  type LostReason,
  type WatchBoardOptions,
} from './types.ts'

/** What tests replace. */
export interface WatchDeps {
  clock: Clock
  /** The returned function stops it. */
  followLifecycle(on: Lifecycle): () => void
  report(error: unknown): void
}

export interface WatchParts extends WatchDeps {
  reads: Reads
  link(on: LinkEvents): Link
}

export class Watch implements BoardWatch {
  readonly #options: WatchBoardOptions
  readonly #parts: WatchParts
  readonly #link: Link
  readonly #tasks: Resource | undefined
  readonly #sessions: Resource | undefined
  /** Tasks that changed, until `onTask` got them. */
  readonly #changedTasks = new Map<string, Resource>()
  /** By task: the tag of what `onTask` got last. */
  readonly #taskTags = new Map<string, string>()
  readonly #stopLifecycle: () => void
  #state: BoardState
  #isOpen: boolean = false
  #lostReason: LostReason | undefined
  #refusal: BoardError | undefined
  #aliveAt = 0

  constructor(options: WatchBoardOptions, parts: WatchParts) {
    this.#options = options
    this.#parts = parts
    this.#state = { name: 'connecting', since: parts.clock.now() }
    this.#tasks = options.onTasks && this.#listResource('tasks')
    this.#sessions = options.onSessions && this.#listResource('sessions')
    this.#link = parts.link(this.#linkEvents())
    this.#stopLifecycle = parts.followLifecycle({
      wake: () => this.#wake(),
      sleep: () => {
        this.#link.pause()
        this.#lost('silent')
      },
    })
    this.#link.start()
    // Read at once, to show something early. Once the stream is open, everything is read again.
    for (const list of this.#lists()) list.invalidate()
  }

  get state(): BoardState {
    this.#updateState()
    return this.#state
  }

  async refetch(): Promise<void> {
    this.#wake()
    await Promise.all([...this.#resources()].map((resource) => resource.settled()))
  }

  async task(id: string): Promise<TaskDetail | undefined> {
    if (this.#state.name === 'closed') throw new BoardError(0, 'closed', 'The watch is closed.')
    const found = await this.#parts.reads.read(taskRoute(id))
    return found.state === 'found' ? (found.value as TaskDetail) : undefined
  }

  async close(): Promise<void> {
    if (this.#state.name !== 'closed') {
      this.#state = { name: 'closed' }
      this.#stopLifecycle()
      for (const resource of this.#resources()) resource.close()
      this.#parts.reads.close()
    }
    await this.#link.close()
  }

  #linkEvents(): LinkEvents {
    return {
      opened: () => {
        this.#isOpen = true
        this.#lostReason = undefined
        this.#refusal = undefined
        this.#aliveAt = this.#parts.clock.now()
        for (const resource of this.#resources()) resource.revalidate()
        this.#updateState()
      },
      alive: () => {
        this.#aliveAt = this.#parts.clock.now()
        this.#updateState()
      },
      message: (data, id) => this.#onMessage(data, id),
      lost: (reason) => this.#lost(reason),
      refused: (error) => this.#refused(error),
    }
  }

  #onMessage(data: string, id: string | undefined): void {
    const at = this.#parts.clock.now()
    const message = parseMessage(data)
    if (message?.type === 'task-changed' && this.#options.onTask) {
      this.#taskResource(message.id).invalidate()
    }
    // A message names only what was written. Other tasks and sessions may change as a result, so
    // the lists are read again, too. If they did not change, that is a 304.
    for (const list of this.#lists()) list.invalidate()
    if (!message) return
    this.#call(() => this.#options.onSignal?.({ message, ...(id !== undefined && { id }), at }))
  }

  #lost(reason: LostReason): void {
    this.#isOpen = false
    this.#lostReason = reason
    this.#updateState()
  }

  #refused(error: BoardError): void {
    this.#isOpen = false
    this.#refusal = error
    this.#updateState()
  }

  #wake(): void {
    if (this.#state.name === 'closed') return
    this.#link.wake()
    for (const resource of this.#resources()) resource.revalidate()
    this.#updateState()
  }

  #listResource(name: 'tasks' | 'sessions'): Resource {
    let lastTag: string | undefined
    return this.#resource(`/${name}`, (result) => {
      if (result.state !== 'found' || result.tag === lastTag) return
      lastTag = result.tag
      const items = (result.value as Record<string, unknown>)[name]
      if (name === 'tasks') this.#call(() => this.#options.onTasks?.(items as Task[]))
      else this.#call(() => this.#options.onSessions?.(items as Session[]))
    })
  }

  #taskResource(id: string): Resource {
    const known = this.#changedTasks.get(id)
    if (known) return known
    const resource = this.#resource(taskRoute(id), (result) => {
      this.#callOnTask(id, result)
      if (resource.staleSince === undefined) this.#changedTasks.delete(id)
    })
    this.#changedTasks.set(id, resource)
    return resource
  }

  #callOnTask(id: string, result: ReadResult): void {
    if (result.state === 'unpublished') return
    const tag = result.state === 'found' ? result.tag : 'absent'
    if (this.#taskTags.get(id) === tag) return
    this.#taskTags.set(id, tag)
    const task = result.state === 'found' ? (result.value as TaskDetail) : undefined
    this.#call(() => this.#options.onTask?.(task, id))
  }

  #resource(route: string, onRead: (result: ReadResult) => void): Resource {
    const resource: Resource = new Resource({
      read: () => this.#parts.reads.read(route),
      onRead,
      onStatus: () => {
        const { error } = resource
        if (error && isFinal(error)) {
          this.#link.pause()
          this.#refused(error)
        } else this.#updateState()
      },
      clock: this.#parts.clock,
    })
    return resource
  }

  *#lists(): Iterable<Resource> {
    if (this.#tasks) yield this.#tasks
    if (this.#sessions) yield this.#sessions
  }

  *#resources(): Iterable<Resource> {
    yield* this.#lists()
    yield* this.#changedTasks.values()
  }

  /** Computes the state, and calls `onState` if it changed. */
  #updateState(): void {
    const resources = [...this.#resources()]
    const since = resources.flatMap(({ staleSince }) => staleSince ?? [])
    const was = this.#state
    this.#state = nextState(
      was,
      {
        isClosed: was.name === 'closed',
        refusal: this.#refusal,
        isOpen: this.#isOpen,
        lostReason: this.#lostReason,
        aliveAt: this.#aliveAt,
        isConfirmed: resources.every(({ isConfirmed }) => isConfirmed),
        isLate: resources.some(({ isLate }) => isLate),
        isUnpublished: resources.some(({ isUnpublished }) => isUnpublished),
        staleSince: since.length > 0 ? Math.min(...since) : undefined,
      },
      this.#parts.clock.now(),
    )
    if (!isSame(was, this.#state)) this.#call(() => this.#options.onState?.(this.#state))
  }

  /** Calls a callback. An exception in it is reported, and does not stop later callbacks. */
  #call(callback: () => void): void {
    if (this.#state.name === 'closed') return
    try {
      callback()
    } catch (error) {
      this.#parts.report(error)
    }
  }
}
