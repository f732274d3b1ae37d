// Keeps one board current for its caller: what the stream tells is fetched and passed on.

import type { Session, Task } from '../worker/board/wire.ts'
import { isSame, nextState } from './board-state.ts'
import type { Clock } from './clock.ts'
import { Followed } from './followed.ts'
import type { Lifecycle } from './host.ts'
import type { Link, LinkEvents } from './link.ts'
import { parseMessage, taskRoute } from './message.ts'
import type { Found, Reads } from './reads.ts'
import { isFinal } from './stream-end.ts'
import {
  BoardError,
  type BoardState,
  type BoardWatch,
  type LostReason,
  type TaskDetail,
  type WatchBoardOptions,
} from './types.ts'

/** What a test replaces. */
export interface WatchDeps {
  clock: Clock
  /** The result stops it. */
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
  readonly #tasks: Followed | undefined
  readonly #sessions: Followed | undefined
  /** Tasks that changed, until they have been told. */
  readonly #changed = new Map<string, Followed>()
  /** The tag of what `onTask` was told last. */
  readonly #toldTasks = new Map<string, string>()
  readonly #stopFollowing: () => void
  #state: BoardState
  #isOpen: boolean = false
  #lostReason: LostReason | undefined
  #refusal: BoardError | undefined
  #aliveAt = 0

  constructor(options: WatchBoardOptions, parts: WatchParts) {
    this.#options = options
    this.#parts = parts
    this.#state = { name: 'connecting', since: parts.clock.now() }
    this.#tasks = options.onTasks && this.#followList('tasks')
    this.#sessions = options.onSessions && this.#followList('sessions')
    this.#link = parts.link(this.#linkEvents())
    this.#stopFollowing = parts.followLifecycle({
      wake: () => this.#wake(),
      sleep: () => {
        this.#link.rest()
        this.#lost('silent')
      },
    })
    this.#link.start()
    // Shown as soon as it is there; what changed meanwhile is found once the stream is open.
    for (const list of this.#lists()) list.want()
  }

  get state(): BoardState {
    this.#settle()
    return this.#state
  }

  async refetch(): Promise<void> {
    this.#wake()
    await Promise.all([...this.#followed()].map((followed) => followed.settled()))
  }

  async task(id: string): Promise<TaskDetail | undefined> {
    if (this.#state.name === 'closed') throw new BoardError(0, 'closed', 'The watch is closed.')
    const found = await this.#parts.reads.read(taskRoute(id))
    return found.state === 'found' ? (found.value as TaskDetail) : undefined
  }

  async close(): Promise<void> {
    if (this.#state.name !== 'closed') {
      this.#state = { name: 'closed' }
      this.#stopFollowing()
      for (const followed of this.#followed()) followed.close()
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
        for (const followed of this.#followed()) followed.doubt()
        this.#settle()
      },
      alive: () => {
        this.#aliveAt = this.#parts.clock.now()
        this.#settle()
      },
      told: (data, id) => this.#told(data, id),
      lost: (reason) => this.#lost(reason),
      refused: (error) => this.#refused(error),
    }
  }

  #told(data: string, id: string | undefined): void {
    const at = this.#parts.clock.now()
    const message = parseMessage(data)
    if (message?.type === 'task-changed' && this.#options.onTask)
      this.#followTask(message.id).want()
    // A message names what was written; what follows from it stands in the lists. Where nothing
    // does, reading one again costs a 304.
    for (const list of this.#lists()) list.want()
    if (!message) return
    this.#call(() => this.#options.onSignal?.({ message, ...(id !== undefined && { id }), at }))
  }

  #lost(reason: LostReason): void {
    this.#isOpen = false
    this.#lostReason = reason
    this.#settle()
  }

  #refused(error: BoardError): void {
    this.#isOpen = false
    this.#refusal = error
    this.#settle()
  }

  #wake(): void {
    if (this.#state.name === 'closed') return
    this.#link.wake()
    for (const followed of this.#followed()) followed.doubt()
    this.#settle()
  }

  #followList(name: 'tasks' | 'sessions'): Followed {
    let toldTag: string | undefined
    return this.#follow(`/${name}`, (found) => {
      if (found.state !== 'found' || found.tag === toldTag) return
      toldTag = found.tag
      const items = (found.value as Record<string, unknown>)[name]
      if (name === 'tasks') this.#call(() => this.#options.onTasks?.(items as Task[]))
      else this.#call(() => this.#options.onSessions?.(items as Session[]))
    })
  }

  #followTask(id: string): Followed {
    const known = this.#changed.get(id)
    if (known) return known
    const followed = this.#follow(taskRoute(id), (found) => {
      this.#tellTask(id, found)
      if (followed.unsettledSince === undefined) this.#changed.delete(id)
    })
    this.#changed.set(id, followed)
    return followed
  }

  #tellTask(id: string, found: Found): void {
    if (found.state === 'unpublished') return
    const tag = found.state === 'found' ? found.tag : 'absent'
    if (this.#toldTasks.get(id) === tag) return
    this.#toldTasks.set(id, tag)
    const task = found.state === 'found' ? (found.value as TaskDetail) : undefined
    this.#call(() => this.#options.onTask?.(task, id))
  }

  #follow(route: string, tell: (found: Found) => void): Followed {
    const followed: Followed = new Followed({
      read: () => this.#parts.reads.read(route),
      tell,
      changed: () => {
        const { error } = followed
        if (error && isFinal(error)) {
          this.#link.rest()
          this.#refused(error)
        } else this.#settle()
      },
      clock: this.#parts.clock,
    })
    return followed
  }

  *#lists(): Iterable<Followed> {
    if (this.#tasks) yield this.#tasks
    if (this.#sessions) yield this.#sessions
  }

  *#followed(): Iterable<Followed> {
    yield* this.#lists()
    yield* this.#changed.values()
  }

  /** Brings the state up to date, and tells when it became another. */
  #settle(): void {
    const followed = [...this.#followed()]
    const since = followed.flatMap(({ unsettledSince }) => unsettledSince ?? [])
    const was = this.#state
    this.#state = nextState(
      was,
      {
        isClosed: was.name === 'closed',
        refusal: this.#refusal,
        isOpen: this.#isOpen,
        lostReason: this.#lostReason,
        aliveAt: this.#aliveAt,
        isSure: followed.every(({ isSure }) => isSure),
        isLate: followed.some(({ isLate }) => isLate),
        isUnpublished: followed.some(({ isUnpublished }) => isUnpublished),
        unsettledSince: since.length > 0 ? Math.min(...since) : undefined,
      },
      this.#parts.clock.now(),
    )
    if (!isSame(was, this.#state)) this.#call(() => this.#options.onState?.(this.#state))
  }

  /** A caller's callback. Its exception is theirs, and the next callback comes all the same. */
  #call(callback: () => void): void {
    if (this.#state.name === 'closed') return
    try {
      callback()
    } catch (error) {
      this.#parts.report(error)
    }
  }
}
