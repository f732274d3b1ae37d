// The public types of the client: options, results, states and errors.

import type {
  Activity,
  BoardStatus,
  ListedBoard,
  Message,
  Session,
  Task,
  TaskDetail,
} from '../api/types.ts'

export interface WatchBoardOptions {
  /** URL of the edge, like `https://signalbox.example`. Default: the page's own origin. */
  url?: string
  /** The repository. Optional if the token names exactly one; prefixes (`team/*`) name none. */
  path?: string
  /**
   * A token, or a function that returns one. The function is called again before the token expires,
   * and after the edge refused it. Default: the cookie.
   */
  token?: string | (() => string | Promise<string>)
  /**
   * One task that changed, with all fields; undefined: it was deleted. When most of the board
   * changes at once, it may be called for tasks that did not.
   */
  onTask?(task: TaskDetail | undefined, id: string): void
  /** All tasks, whenever one of them changed. Light rows, without `body` and `checks`. */
  onTasks?(tasks: readonly Task[]): void
  /** All sessions, newest first, whenever one of them changed. */
  onSessions?(sessions: readonly Session[]): void
  /** The board's configuration, its folder and its sidecar, whenever there is news of them. */
  onStatus?(status: BoardStatus): void
  /** Each new state after the first, `connecting`. Not called if only `currentAt` moved. */
  onState?(state: BoardState): void
  /** Each change message, before the client fetches what changed. */
  onSignal?(signal: Signal): void
  /**
   * Reads the stream with this class instead of `fetch`, for hosts whose `fetch` cannot stream
   * (React Native). It hides pings, so the client notices a dead connection later.
   */
  EventSource?: EventSourceClass
  /**
   * Keeps the stream of a hidden page, for an application that notifies its user. Over http, each
   * such page takes one of the six connections that a browser allows to an origin.
   */
  keepWhileHidden?: boolean
  fetch?: typeof fetch
}

/** Which rows of the history: all of these, the newest first. */
export interface ActivityQuery {
  task?: string
  actor?: string
  /** Such as `deleted`. */
  kind?: string
  /** An RFC 3339 time, or an event id. */
  since?: string
  /** The `next` of the answer before. */
  before?: number
  /** 1 to 1,000; 100 by default. */
  limit?: number
}

export interface Signal {
  message: Message
  /** The event id, if the event has one. */
  id?: string
  /** When it arrived, in ms since 1970. */
  at: number
}

export interface BoardWatch {
  readonly state: BoardState
  /** Fetches everything again, and redials if needed. Callbacks get only what changed. */
  refetch(): Promise<void>
  /** Undefined: there is no such task. Rejects with BoardError. */
  task(id: string): Promise<TaskDetail | undefined>
  /** A page of the history of the board. Rejects with BoardError. */
  activity(query?: ActivityQuery): Promise<Activity>
  /** All boards that the token covers, sorted by path. Rejects with BoardError. */
  boards(): Promise<readonly ListedBoard[]>
  /** Ends the watch. When it resolves, no callback, request or timer is left. */
  close(): Promise<void>
}

/**
 * Times are in ms since 1970. `currentAt`: up to this time, the data was certainly that of the
 * folder: the time of the sidecar's last report, at most. Undefined: it never was.
 */
export type BoardState =
  /** The watch was never live so far. `reason`: why connecting takes longer. */
  | { name: 'connecting'; since: number; reason?: LostReason }
  /**
   * The stream is open, and everything that had to be refetched has arrived. `unwatched`: changes
   * come a second or more late, because the watcher of the sidecar has failed.
   */
  | { name: 'live'; since: number; currentAt: number; unwatched?: true }
  /** The watch shows all that the edge has, but the edge gets nothing new. */
  | { name: 'stale'; since: number; currentAt: number; reason: StaleReason }
  | { name: 'reconnecting'; since: number; currentAt?: number; reason: LostReason }
  /** No sidecar has published this repository yet. The stream is open and waits for it. */
  | { name: 'waiting'; since: number }
  /** The edge refused the token or the path. `refetch` tries again. */
  | { name: 'refused'; since: number; currentAt?: number; code: string; error: string }
  | { name: 'closed' }

export type LostReason =
  /** No server answers at that address. */
  | 'unreachable'
  /** The edge answers, but with an error. */
  | 'failing'
  /** The edge ended the stream: a deployment, its age, or too many streams. */
  | 'ended'
  /** The connection died without an end: pings stopped. */
  | 'silent'
  /** The page is hidden, so it has no stream until it is shown. */
  | 'hidden'
  /** The `token` function failed. */
  | 'token'
  /** The stream is open, but a refetch fails or takes too long. */
  | 'behind'

export type StaleReason =
  /** The folder of the board is missing on its machine. */
  | 'missing'
  /** No sidecar has reported for 45 s. */
  | 'offline'

/** Why a request failed. `code` is that of the edge, or one of the client such as `unreachable`. */
export class BoardError extends Error {
  override readonly name = 'BoardError'
  readonly code: string
  /** The HTTP status; 0: there was no response. */
  readonly status: number

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/**
 * The part of EventSource that the client uses; the browser's class and that of the package
 * `eventsource` both fit.
 */
export type EventSourceClass = new (url: string) => EventSourceLike

export interface EventSourceLike {
  readonly readyState: number
  onopen: ((event: never) => unknown) | null
  onmessage: ((event: never) => unknown) | null
  onerror: ((event: never) => unknown) | null
  close(): void
}
