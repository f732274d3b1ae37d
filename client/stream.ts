// The port of an event stream: one connection, from its dial to its end.

import type { BoardError, LostReason } from './types.ts'

export interface StreamSource {
  /** Whether `alive` tells of pings, so that silence means a dead connection. */
  readonly seesPings: boolean
  /** Dials. Resumes after `lastEventId`. No event is called before this returns. */
  open(lastEventId: string | undefined, on: StreamEvents): OpenStream
}

export interface OpenStream {
  /** Ends it; no event is called any more. */
  close(): void
}

export interface StreamEvents {
  /**
   * Joined: every change from now on is told. `renewAt`, in ms: when to open another one in its
   * place, because the edge will soon end this one.
   */
  opened(renewAt: number): void
  /** Something came, if only a ping. */
  alive(): void
  /** How long the edge asks to wait before the next dial, in ms. */
  retry(ms: number): void
  /** A change message, as JSON, with its own id where it has one. */
  told(data: string, id: string | undefined): void
  /** The place in the log, to resume after. */
  place(id: string): void
  /** The last of all events. */
  ended(why: StreamEnd): void
}

export type StreamEnd =
  | { reason: LostReason }
  /** Dialling again changes nothing. */
  | { refused: BoardError }
