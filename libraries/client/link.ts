// The port between a watch and its stream: a separate connection, or that of another tab.

import type { BoardError, LostReason } from './types.ts'

export interface Link {
  start(): void
  /** The page or the caller wants the board now: dials at once if the stream is not open. */
  wake(): void
  /** Closes the stream until `wake`, because the page sleeps or the edge refused the watch. */
  pause(): void
  /** No event is called after this. Resolves when the stream is closed. */
  close(): Promise<void>
}

export interface LinkEvents {
  /** Every change from now on causes a message. Earlier changes may have been missed. */
  opened(): void
  /** Something arrived just now, at least a ping. */
  alive(): void
  /** `data` is the change message as JSON. */
  message(data: string, id: string | undefined): void
  /** The stream ended. The link dials again by itself. */
  lost(reason: LostReason): void
  /** The stream ended. The link dials again only after `wake`. */
  refused(error: BoardError): void
}
