// The other tabs of one browser that watch the same board: a lock (Web Locks) that makes one tab
// the leader, and a channel (BroadcastChannel) to all others. Browsers have both on secure origins.

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

interface Locks {
  request(
    name: string,
    options: { steal?: boolean; signal?: AbortSignal },
    held: () => Promise<void> | undefined,
  ): Promise<unknown>
}

interface BroadcastChannelLike {
  onmessage: ((event: { data: Post }) => void) | null
  postMessage(post: Post): void
  close(): void
}

interface Host {
  document?: unknown
  navigator?: { locks?: Locks }
  BroadcastChannel?: new (name: string) => BroadcastChannelLike
}

/** Undefined where there are no tabs, or where tabs cannot find each other. */
export function browserTabs(name: string): Tabs | undefined {
  const { document, navigator, BroadcastChannel } = globalThis as unknown as Host
  const locks = navigator?.locks
  // Deno and Node have some of these, but no tabs.
  if (!document || !locks || !BroadcastChannel) return undefined
  return {
    lock: (how, on) => lock(locks, name, how, on),
    listen: (receive) => listen(new BroadcastChannel(name), receive),
  }
}

function lock(locks: Locks, name: string, how: 'wait' | 'steal', on: LockEvents) {
  const queue = new AbortController()
  let isHeld = false
  let isReleased = false
  let release = () => queue.abort()
  // The two options exclude each other: a steal never waits.
  const options = how === 'steal' ? { steal: true } : { signal: queue.signal }
  const ended = locks
    .request(name, options, () => {
      if (isReleased) return undefined
      isHeld = true
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      on.acquired()
      return held
    })
    .catch(() => {
      if (isReleased) return
      // A browser refuses locks in a sandboxed frame. Then the tab leads alone.
      if (isHeld) on.stolen()
      else on.acquired()
    })
  return async () => {
    isReleased = true
    release()
    await ended
  }
}

function listen(channel: BroadcastChannelLike, receive: (post: Post) => void): Channel {
  channel.onmessage = ({ data }) => receive(data)
  return {
    post: (post) => channel.postMessage(post),
    close: () => {
      channel.onmessage = null
      channel.close()
    },
  }
}
