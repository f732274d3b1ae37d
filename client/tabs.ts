// The port to the other tabs of one browser that watch the same board: a lock that makes one tab
// the leader, and a channel to all other tabs.

import type { LostReason } from './types.ts'

export interface Tabs {
  /** Waits for the lock, or steals it. The returned function releases it, or stops waiting. */
  lock(how: 'wait' | 'steal', on: LockEvents): () => Promise<void>
  /** Posts arrive in the order in which they were sent. A tab does not get its own posts. */
  listen(receive: (post: Post) => void): Channel
}

export interface LockEvents {
  acquired(): void
  /** Another tab stole the lock. Not called after a release. */
  stolen(): void
}

export interface Channel {
  post(post: Post): void
  close(): void
}

export type Post =
  /** A tab asks for the status, and wants the stream open now. */
  | { type: 'ask' }
  /** From the leader, at least with every ping. */
  | {
      type: 'status'
      isOpen: boolean
      /** Something has just arrived on the stream. */
      isAlive: boolean
      reason?: LostReason | undefined
      /** The leader has passed on every message up to this event id. */
      position?: string | undefined
    }
  /** A follower answers `ask`: if the new tab must lead, it resumes from this position. */
  | { type: 'follower'; position: string }
  /** A change message, as the stream sent it. */
  | { type: 'message'; data: string; id?: string | undefined }
