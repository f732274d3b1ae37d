// The port of the edge, as the sidecar sees it. A failure is a value: what to do about each reason
// is decided in retry.ts, in one place. Adapter: edge-http.ts.

import type {
  BoardReport,
  ChangesAnswer,
  ChangesRequest,
  CommandEnd,
  DueCommands,
  SyncAnswer,
  SyncRequest,
} from '../../worker/board/wire.ts'

export type Step = SyncRequest['step']
export type StepRequest<S extends Step> = Extract<SyncRequest, { step: S }>
export type StepAnswer<S extends Step> = Extract<SyncAnswer, { step: S }>

export type FailureReason =
  /** It never arrived, or the connection broke before an answer: what the edge did is unknown. */
  | 'network'
  /** No answer in time: what the edge did is unknown. */
  | 'timeout'
  /** 429 or 5xx: later. */
  | 'busy'
  /** 401 or 403: the token is wrong, expired, or for another repository. */
  | 'unauthorized'
  /** 409; `code` says which: `sync_required`, `stale_batch` or `superseded`. */
  | 'conflict'
  /** Edge and sidecar speak different versions of the protocol: one of them must be upgraded. */
  | 'version'
  /** 413. */
  | 'too_large'
  /** Any other 4xx: the edge read it and does not want it. */
  | 'refused'
  /** An answer that is not this protocol: a proxy's page, or another server under this URL. */
  | 'malformed'

export interface Failure {
  ok: false
  reason: FailureReason
  /** The HTTP status; undefined when no answer came. */
  status?: number
  /** The edge's stable code, when it sent one. */
  code?: string
  /** One sentence for the log; never holds the token. */
  message: string
  retryAfterMs?: number
}

export type Reply<T> = { ok: true; value: T } | Failure

export interface SocketEvents {
  open(): void
  text(text: string): void
  closed(): void
}

export interface EdgeSocket {
  send(text: string): void
  close(): void
}

/** Has commands of notices for this machine. */
export interface CommandEdge {
  dueCommands(): Promise<Reply<DueCommands>>
  /** One of them did run. */
  commandRan(end: CommandEnd): Promise<Reply<unknown>>
}

export interface Edge {
  /** The name of the repository there. */
  readonly repo: string
  root(request: StepRequest<'root'>): Promise<Reply<StepAnswer<'root'>>>
  buckets(request: StepRequest<'buckets'>): Promise<Reply<StepAnswer<'buckets'>>>
  entries(request: StepRequest<'entries'>): Promise<Reply<StepAnswer<'entries'>>>
  end(request: StepRequest<'end'>): Promise<Reply<StepAnswer<'end'>>>
  changes(request: ChangesRequest): Promise<Reply<ChangesAnswer>>
  /** For the directory of boards. It delays no other message. */
  report(report: BoardReport): Promise<Reply<unknown>>
  /**
   * Opens a socket of this run. Absent: nothing on this way takes one. Answers `closed` once, also
   * where it never opened, but not after `close`.
   */
  attach?(run: number, on: SocketEvents): EdgeSocket
  /** Breaks off what is in flight, which then fails as `network`, and lets the process end. */
  close(): void
}
