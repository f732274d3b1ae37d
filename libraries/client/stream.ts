// The port to an event stream: one connection from dial to end, and what its end means.

import { BoardError, type LostReason } from './types.ts'

export interface StreamSource {
  /** Whether pings cause `alive`. If so, silence means a dead connection. */
  readonly seesPings: boolean
  /** Dials, and resumes after `lastEventId`. Calls no event before it returns. */
  open(lastEventId: string | undefined, on: StreamEvents): OpenStream
}

export interface OpenStream {
  /** Ends the stream. No event is called after this. */
  close(): void
}

export interface StreamEvents {
  /**
   * Subscribed: the stream brings every change from now on. The edge ends the stream when the token
   * expires; open another one at `renewAt` (ms), before that.
   */
  opened(renewAt: number): void
  /** Something arrived, at least a ping. */
  alive(): void
  /** The edge asks to wait at least this long before the next dial. */
  retry(ms: number): void
  /** A change message as JSON, with its event id if it has one. */
  message(data: string, id: string | undefined): void
  /** The position in the change log, to resume after. */
  position(id: string): void
  /** The last event of all. */
  ended(end: StreamEnd): void
}

export type StreamEnd =
  | { reason: LostReason }
  /** Dialling again would not help. */
  | { refused: BoardError }

export function endOf(error: unknown): StreamEnd {
  if (!(error instanceof BoardError)) return { reason: 'unreachable' }
  return isFinal(error) ? { refused: error } : { reason: reasonOf(error) }
}

/** Another try with the same token, path and host gets the same answer. */
const FINAL = [400, 401, 403]

export const isFinal = (error: BoardError): boolean => FINAL.includes(error.status)

function reasonOf({ status, code }: BoardError): LostReason {
  if (code === 'token') return 'token'
  return status === 0 ? 'unreachable' : 'failing'
}
