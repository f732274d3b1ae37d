// The port to the other tabs of one browser that watch the same board: a seat that one of them
// holds at a time, and a channel that reaches all the others.

import type { LostReason } from './types.ts'

export interface Tabs {
  /** Queues for the seat, or takes it from whoever holds it. The result gives either up. */
  claim(how: 'queue' | 'take', on: SeatEvents): () => Promise<void>
  /** Posts come in the order of their sending, none to their own sender. */
  listen(receive: (post: Post) => void): Channel
}

export interface SeatEvents {
  held(): void
  /** Another tab took it. Not called for a seat that was given up. */
  lost(): void
}

export interface Channel {
  post(post: Post): void
  close(): void
}

export type Post =
  /** Somebody wants to know how things stand, and wants the stream open now. */
  | { type: 'hello' }
  /** From whoever holds the seat, at least with every ping. */
  | {
      type: 'here'
      isOpen: boolean
      /** Something has just come by the stream. */
      isAlive: boolean
      reason?: LostReason | undefined
      /** The place in the log up to which everything was passed on. */
      place?: string | undefined
    }
  /** From one that follows, to one that says hello: it may have to lead, and goes on from there. */
  | { type: 'following'; place: string }
  /** A change message, as it came. */
  | { type: 'told'; data: string; id?: string | undefined }
