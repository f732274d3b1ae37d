// The port between a watch and its stream: a connection of its own, or that of another tab.

import type { BoardError, LostReason } from './types.ts'

export interface Link {
  start(): void
  /** The host woke up, or somebody wants to know: what is not open is dialled at once. */
  wake(): void
  /** Lets go of the stream until `wake`: whoever watches was refused. */
  rest(): void
  /** No event is called any more. Resolves when nothing is left. */
  close(): Promise<void>
}

export interface LinkEvents {
  /** From now on every change is told; what changed before may have been missed. */
  opened(): void
  /** The stream was alive just now. */
  alive(): void
  /** `data` is the message as JSON. */
  told(data: string, id: string | undefined): void
  /** It is dialled again by itself. */
  lost(reason: LostReason): void
  /** It is not, until `wake`. */
  refused(error: BoardError): void
}
