// The public face as types: what a watch is told, what it answers, what it says of itself.

import type { Message, Run, Session, Task } from '../worker/board/wire.ts'
import type { EventSourceClass } from './event-source.ts'

export interface WatchBoardOptions {
  /** Of the edge, like `https://signalbox.example`. Left out: the page's own origin. */
  url?: string
  /** The repository. May be left out where the token names exactly one. */
  path?: string
  /**
   * A token, or what gives one: it is asked again before the token ends and after a refusal.
   * Left out: the cookie.
   */
  token?: string | (() => string | Promise<string>)
  /** One task that changed, whole; undefined: it is gone. A change of many comes by `onTasks`. */
  onTask?(task: TaskDetail | undefined, id: string): void
  /** All tasks, whenever one of them changed: light rows, without `body` and `checks`. */
  onTasks?(tasks: readonly Task[]): void
  /** All sessions, newest first, whenever one of them changed. */
  onSessions?(sessions: readonly Session[]): void
  /** Each state after the first, which is `connecting`; not for a later `currentAt` alone. */
  onState?(state: BoardState): void
  /** Each change message as it came, before what it points to is fetched. */
  onSignal?(signal: Signal): void
  /**
   * Reads the stream with this instead of `fetch`, where `fetch` cannot stream (React Native).
   * It hides pings, so a connection that died without a word is noticed later.
   */
  EventSource?: EventSourceClass
  fetch?: typeof fetch
}

/** A task with all that belongs to it, as `GET /api/tasks/{id}` answers it. */
export interface TaskDetail extends Task {
  runs: Run[]
  sessions: Session[]
}

export interface Signal {
  message: Message
  /** The event's id, where it has one. */
  id?: string
  /** When it came, in ms since 1970. */
  at: number
}

export interface BoardWatch {
  readonly state: BoardState
  /** Fetches everything again (nothing that did not change is told), and redials if need be. */
  refetch(): Promise<void>
  /** Undefined: there is no such task. Rejects with BoardError. */
  task(id: string): Promise<TaskDetail | undefined>
  /** Ends it: no callback, no request and no timer is left when this resolves. */
  close(): Promise<void>
}

/**
 * Times are in ms since 1970. `currentAt`: until when what was shown was surely current; undefined
 * where it never was.
 */
export type BoardState =
  /** It has not been live yet. `reason`: why it takes longer. */
  | { name: 'connecting'; since: number; reason?: LostReason }
  /** The stream is open, and all that it asked to refetch has arrived. */
  | { name: 'live'; since: number; currentAt: number }
  | { name: 'reconnecting'; since: number; currentAt?: number; reason: LostReason }
  /** No sidecar has published this repository yet. The stream is open; it will tell. */
  | { name: 'waiting'; since: number }
  /** Nothing changes until the token or the path does; `refetch` tries again. */
  | { name: 'refused'; since: number; currentAt?: number; code: string; error: string }
  | { name: 'closed' }

export type LostReason =
  /** Nothing answers at that address. */
  | 'unreachable'
  /** The edge answers, but with an error. */
  | 'failing'
  /** The edge ended the stream: a deployment, its age, or too many streams. */
  | 'ended'
  /** The connection died without a word. */
  | 'silent'
  /** What gives the token failed. */
  | 'token'
  /** The stream is open, but what it asked to refetch has not arrived. */
  | 'behind'

/** Why a request was not answered. `code` is the edge's own, `unreachable`, or our own. */
export class BoardError extends Error {
  override readonly name = 'BoardError'
  readonly code: string
  /** 0: nothing answered. */
  readonly status: number

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}
