// Keeps one board current for its caller: what the stream tells is fetched and passed on.

import type { Message, Session, Task } from '../../board/wire.ts'
import {
  BoardError,
  type BoardState,
  type BoardWatch,
  type TaskDetail,
  type WatchBoardOptions,
} from './board-watch.ts'
import { type Clock, hostClock } from './clock.ts'
import { Connection } from './connection.ts'
import { Credentials } from './credentials.ts'
import { Edge } from './edge.ts'
import { Followed } from './followed.ts'
import { onWake, pageOrigin, report } from './host.ts'
import type { Link, LinkEvents } from './link.ts'
import { type Found, Reads } from './reads.ts'
import { isSame, nextState } from './standing.ts'
import { isFinal } from './stream-end.ts'
import { fetchStreams } from './stream-fetch.ts'

/** What a test replaces. */
export interface WatchDeps {
  clock: Clock
  /** Calls back whenever the host woke up; the result stops it. */
  onWake(call: () => void): () => void
  report(error: unknown): void
}

/** Watches a board until `close`. Throws TypeError when no `url` is given outside of a page. */
export const watchBoard = (options: WatchBoardOptions): BoardWatch =>
  openWatch(options, { clock: hostClock, onWake, report })

export function openWatch(options: WatchBoardOptions, deps: WatchDeps): BoardWatch {
  const url = options.url ?? pageOrigin()
  if (url === undefined) throw new TypeError('watchBoard needs a url where there is no page')
  return new Watch(url.replace(/\/+$/, ''), options, deps)
}

class Watch implements BoardWatch {
  readonly #options: WatchBoardOptions
  readonly #deps: WatchDeps
  readonly #reads: Reads
  readonly #link: Link
  readonly #tasks: Followed | undefined
  readonly #sessions: Followed | undefined
  /** Tasks that changed, until they have been told. */
  readonly #changed = new Map<string, Followed>()
  /** The tag of what `onTask` was told last. */
  readonly #toldTasks = new Map<string, string>()
  readonly #stopWaking: () => void
  #state: BoardState
  #isOpen: boolean = false
  #lostReason: (BoardState & { name: 'reconnecting' })['reason'] | undefined
  #refusal: BoardError | undefined
  #aliveAt = 0

  constructor(url: string, options: WatchBoardOptions, deps: WatchDeps) {
    this.#options = options
    this.#deps = deps
    const { clock } = deps
    this.#state = { name: 'connecting', since: clock.now() }
    const edge = new Edge({
      url,
      path: options.path,
      credentials: new Credentials(options.token, clock),
      fetch: options.fetch ?? ((input, init) => fetch(input, init)),
      clock,
    })
    this.#reads = new Reads(edge)
    this.#tasks = options.onTasks && this.#followList('tasks')
    this.#sessions = options.onSessions && this.#followList('sessions')
    this.#link = new Connection({
      streams: fetchStreams(edge),
      clock,
      on: { ...this.#linkEvents(), place: () => undefined },
    })
    this.#stopWaking = deps.onWake(() => this.#wake())
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
    const found = await this.#reads.read(taskRoute(id))
    return found.state === 'found' ? (found.value as TaskDetail) : undefined
  }

  async close(): Promise<void> {
    if (this.#state.name !== 'closed') {
      this.#state = { name: 'closed' }
      this.#stopWaking()
      for (const followed of this.#followed()) followed.close()
      this.#reads.close()
    }
    await this.#link.close()
  }

  #linkEvents(): LinkEvents {
    return {
      opened: () => {
        this.#isOpen = true
        this.#lostReason = undefined
        this.#refusal = undefined
        this.#aliveAt = this.#deps.clock.now()
        for (const followed of this.#followed()) followed.doubt()
        this.#settle()
      },
      alive: () => {
        this.#aliveAt = this.#deps.clock.now()
        this.#settle()
      },
      told: (data, id) => this.#told(data, id),
      lost: (reason) => {
        this.#isOpen = false
        this.#lostReason = reason
        this.#settle()
      },
      refused: (error) => this.#refused(error),
    }
  }

  #told(data: string, id: string | undefined): void {
    const at = this.#deps.clock.now()
    const message = parseMessage(data)
    if (message?.type === 'task-changed' && this.#options.onTask)
      this.#followTask(message.id).want()
    // A window of both tasks and sessions tells of its tasks alone.
    if (message?.type !== 'session-changed') this.#tasks?.want()
    this.#sessions?.want()
    if (!message) return
    this.#call(() => this.#options.onSignal?.({ message, ...(id !== undefined && { id }), at }))
  }

  #refused(error: BoardError): void {
    this.#isOpen = false
    this.#refusal = error
    this.#settle()
  }

  #wake(): void {
    if (this.#state.name === 'closed') return
    this.#refusal = undefined
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
      read: () => this.#reads.read(route),
      tell,
      changed: () => {
        const { error } = followed
        if (error && isFinal(error)) {
          this.#link.rest()
          this.#refused(error)
        } else this.#settle()
      },
      isFinal,
      clock: this.#deps.clock,
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
      this.#deps.clock.now(),
    )
    if (!isSame(was, this.#state)) this.#call(() => this.#options.onState?.(this.#state))
  }

  /** A caller's callback. Its exception is theirs, and the next callback comes all the same. */
  #call(callback: () => void): void {
    if (this.#state.name === 'closed') return
    try {
      callback()
    } catch (error) {
      this.#deps.report(error)
    }
  }
}

/** Undefined for what this version does not know: then everything may have changed. */
function parseMessage(data: string): Message | undefined {
  try {
    const message = JSON.parse(data) as Message
    switch (message.type) {
      case 'task-changed':
        return typeof message.id === 'string' ? message : undefined
      case 'tasks-changed':
      case 'session-changed':
        return message
    }
  } catch {
    return undefined
  }
  return undefined
}

const taskRoute = (id: string): string => `/tasks/${encodeURIComponent(id)}`
