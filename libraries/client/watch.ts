// Keeps one board up to date: fetches what a change message names, and calls the callbacks.

import type { Clock } from '../../worker/shared/clock.ts'
import type {
  Activity,
  BoardStatus,
  Boards,
  ListedBoard,
  Session,
  Task,
  TaskDetail,
} from '../api/types.ts'
import { ASK_MS, isSame, nextState, type Report, reportOf } from './board-state.ts'
import type { Connection, ConnectionEvents } from './connection.ts'
import type { Lifecycle } from './host.ts'
import { activityRoute, isNewer, parseMessage, taskRoute } from './message.ts'
import type { ReadResult, Reads } from './reads.ts'
import { BOARDS_ROUTE } from './requests.ts'
import { Resource } from './resource.ts'
import { isFinal } from './stream.ts'
import {
  type ActivityQuery,
  BoardError,
  type BoardState,
  type BoardWatch,
  type LostReason,
  type WatchBoardOptions,
} from './types.ts'
import { WatchedList } from './watched-list.ts'

/** What tests replace. */
export interface WatchDeps {
  clock: Clock
  /** The returned function stops it. */
  followLifecycle(on: Lifecycle): () => void
  isVisible(): boolean
  report(error: unknown): void
}

export interface WatchParts extends WatchDeps {
  reads: Reads
  connection(on: ConnectionEvents): Connection
}

const MAX_TASK_READS = 6

export class Watch implements BoardWatch {
  readonly #options: WatchBoardOptions
  readonly #parts: WatchParts
  readonly #connection: Connection
  readonly #tasks: Resource | undefined
  readonly #sessions: Resource | undefined
  readonly #status: Resource
  /** The newest message that names no task, until `onTask` got those that it means. */
  #unnamed: string | undefined
  /** A change of many tasks is not to open as many connections. */
  readonly #oneByOne = atATime(MAX_TASK_READS)
  /** Tasks that changed, until `onTask` got them. */
  readonly #changedTasks = new Map<string, Resource>()
  /** By task: the tag of what `onTask` got last. */
  readonly #taskTags = new Map<string, string>()
  readonly #stopLifecycle: () => void
  #state: BoardState
  #isOpen: boolean = false
  #lostReason: LostReason | undefined
  #refusal: BoardError | undefined
  #report: Report | undefined
  /** The newest moment whose changes are all shown: by `elapsed`, and as time of day then. */
  #covered: { elapsed: number; time: number } | undefined
  #cancelAsk: () => void = () => undefined

  constructor(options: WatchBoardOptions, parts: WatchParts) {
    this.#options = options
    this.#parts = parts
    this.#state = { name: 'connecting', since: parts.clock.now() }
    const { onTasks, onTask, onSessions } = options
    if (onTasks || onTask) this.#tasks = this.#listResource('tasks')
    if (onSessions) this.#sessions = this.#listResource('sessions')
    this.#status = this.#statusResource()
    this.#connection = parts.connection(this.#connectionEvents())
    this.#stopLifecycle = parts.followLifecycle({
      wake: () => this.#wake(),
      hide: () => {
        if (!this.#isWanted()) this.#sleep()
      },
      sleep: () => this.#sleep(),
    })
    if (this.#isWanted()) this.#connection.start()
    else this.#lostReason = 'hidden'
    // Read at once, to show something early. Once the stream is open, everything is read again.
    for (const resource of this.#resources()) resource.invalidate()
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
    const found = await this.#read(taskRoute(id))
    return found.state === 'found' ? (found.value as TaskDetail) : undefined
  }

  async activity(query: ActivityQuery = {}): Promise<Activity> {
    const found = await this.#read(activityRoute(query))
    return found.state === 'found' ? (found.value as Activity) : { activity: [] }
  }

  async boards(): Promise<readonly ListedBoard[]> {
    const found = await this.#read(BOARDS_ROUTE)
    return found.state === 'found' ? (found.value as Boards).boards : []
  }

  async close(): Promise<void> {
    if (this.#state.name !== 'closed') {
      this.#state = { name: 'closed' }
      this.#stopLifecycle()
      this.#cancelAsk()
      for (const resource of this.#resources()) resource.close()
      this.#parts.reads.close()
    }
    this.#connection.close()
  }

  async #read(route: string): Promise<ReadResult> {
    if (this.#state.name === 'closed') throw new BoardError(0, 'closed', 'The watch is closed.')
    return await this.#parts.reads.read(route)
  }

  #connectionEvents(): ConnectionEvents {
    return {
      opened: () => {
        this.#isOpen = true
        this.#lostReason = undefined
        this.#refusal = undefined
        for (const resource of this.#resources()) resource.revalidate()
        this.#updateState()
      },
      alive: () => this.#updateState(),
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
    // The message of a folder that is gone, of another configuration, and of a first report.
    const isNews = !message || message.type === 'tasks-changed'
    // Only the last of several messages may have an id.
    if (isNews) this.#unnamed = id ?? ''
    // What it writes shows that a silent sidecar is back, long before the next question.
    const { currentAt, reason } = this.#report ?? {}
    if (isNews || currentAt === undefined || reason === 'offline') this.#status.invalidate()
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
    if (this.#isWanted()) this.#connection.wake()
    for (const resource of this.#resources()) resource.revalidate()
    this.#updateState()
  }

  /** A hidden page has no stream: browsers allow six HTTP/1.1 connections to an origin. */
  #isWanted(): boolean {
    return this.#options.keepWhileHidden === true || this.#parts.isVisible()
  }

  #sleep(): void {
    this.#connection.pause()
    this.#lost('hidden')
  }

  #listResource(name: 'tasks' | 'sessions'): Resource {
    const list = new WatchedList(name)
    const read = () => this.#parts.reads.read(`/${name}`, list.place)
    return this.#resource(read, (result) => {
      if (result.state !== 'found') return
      const { isNew, ids } = list.apply(result.value as object, result.seq)
      if (isNew && name === 'tasks') this.#call(() => this.#options.onTasks?.(list.items as Task[]))
      if (isNew && name === 'sessions') {
        this.#call(() => this.#options.onSessions?.(list.items as Session[]))
      }
      if (name === 'tasks') this.#name(ids, list.place)
    })
  }

  /** These are the tasks that a message meant which names none. */
  #name(ids: readonly string[], seq: string | undefined): void {
    if (this.#unnamed === undefined || !this.#options.onTask) return
    if (!isNewer(this.#unnamed, seq)) this.#unnamed = undefined
    for (const id of ids) this.#taskResource(id).invalidate()
  }

  #statusResource(): Resource {
    let lastTag: string | undefined
    return this.#resource(
      () => this.#parts.reads.read('/status'),
      (result) => {
        const now = this.#parts.clock.elapsed()
        this.#askLater()
        if (result.state !== 'found') {
          this.#report = undefined
          return
        }
        const status = result.value as BoardStatus
        this.#report = reportOf(status, result.sentAt, now)
        // The stream is behind, or dead without a sign of it.
        for (const list of this.#lists()) {
          if (list.staleSince === undefined && this.#lacks(list)) list.invalidate()
        }
        if (result.tag === lastTag) return
        lastTag = result.tag
        this.#call(() => this.#options.onStatus?.(status))
      },
    )
  }

  /**
   * Not every host can tell that a sidecar is gone, so its status is read again and again. Each
   * question wakes the repository of the edge, so a hidden page asks none; `wake` begins again.
   */
  #askLater(): void {
    this.#cancelAsk()
    this.#cancelAsk = this.#parts.clock.after(ASK_MS, () => {
      if (this.#isOpen && this.#parts.isVisible()) this.#status.invalidate()
    })
  }

  #taskResource(id: string): Resource {
    const known = this.#changedTasks.get(id)
    if (known) return known
    const read = () => this.#oneByOne(() => this.#parts.reads.read(taskRoute(id)))
    const resource = this.#resource(read, (result) => {
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

  #resource(read: () => Promise<ReadResult>, onRead: (result: ReadResult) => void): Resource {
    const resource: Resource = new Resource({
      read,
      onRead,
      onStatus: () => {
        const { error } = resource
        if (error && isFinal(error)) {
          this.#connection.pause()
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
    yield this.#status
    yield* this.#lists()
    yield* this.#changedTasks.values()
  }

  /** Computes the state, and calls `onState` if it changed. */
  #updateState(): void {
    const resources = [...this.#resources()]
    const was = this.#state
    const isConfirmed = resources.every((resource) => resource.isConfirmed)
    if (this.#isOpen && (isConfirmed || was.name === 'live' || was.name === 'stale')) this.#cover()
    this.#state = nextState(
      was,
      {
        isClosed: was.name === 'closed',
        refusal: this.#refusal,
        isOpen: this.#isOpen,
        lostReason: this.#lostReason,
        isConfirmed,
        isLate: resources.some(({ isLate }) => isLate),
        isUnpublished:
          resources.some(({ isUnpublished }) => isUnpublished) ||
          (this.#report !== undefined && this.#report.currentAt === undefined),
        currentAt: this.#currentAt(),
        staleReason: this.#report?.reason,
        isUnwatched: this.#report?.isUnwatched ?? false,
      },
      this.#parts.clock.now(),
    )
    if (!isSame(was, this.#state)) this.#call(() => this.#options.onState?.(this.#state))
  }

  /** The report covers what is shown where that has each change which the edge had then. */
  #cover(): void {
    const at = this.#report?.currentAt
    const shown = [...this.#lists(), ...this.#changedTasks.values()]
    if (at === undefined || shown.some((resource) => this.#lacks(resource))) return
    if (this.#covered && at <= this.#covered.elapsed) return
    const { clock } = this.#parts
    this.#covered = { elapsed: at, time: clock.now() - (clock.elapsed() - at) }
  }

  /**
   * As a time of day. Where that was set back since, it counts from now; where it went on without
   * us, in a sleep of the machine, it is what it was.
   */
  #currentAt(): number | undefined {
    const { clock } = this.#parts
    const { elapsed, time } = this.#covered ?? {}
    if (elapsed === undefined || time === undefined) return undefined
    return Math.min(time, clock.now() - (clock.elapsed() - elapsed))
  }

  #lacks({ seq }: Resource): boolean {
    return isNewer(this.#status.seq ?? '', seq)
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

/** What it is given begins when fewer than `limit` others are under way, in order. */
function atATime(limit: number) {
  const waiting: (() => void)[] = []
  let running = 0
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (running === limit) await new Promise<void>((begin) => waiting.push(begin))
    else running++
    try {
      return await work()
    } finally {
      const begin = waiting.shift()
      if (begin) begin()
      else running--
    }
  }
}
