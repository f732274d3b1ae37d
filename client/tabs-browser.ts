// The other tabs, by Web Locks and a BroadcastChannel: browsers have both on secure origins.

import type { Channel, Post, SeatEvents, Tabs } from './tabs.ts'

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

/** Undefined where there are no tabs, or none that can find each other. */
export function browserTabs(name: string): Tabs | undefined {
  const { document, navigator, BroadcastChannel } = globalThis as unknown as Host
  const locks = navigator?.locks
  // Deno and Node have some of it, and nobody to share a stream with.
  if (!document || !locks || !BroadcastChannel) return undefined
  return {
    claim: (how, on) => claim(locks, name, how, on),
    listen: (receive) => listen(new BroadcastChannel(name), receive),
  }
}

function claim(locks: Locks, name: string, how: 'queue' | 'take', on: SeatEvents) {
  const queue = new AbortController()
  let isHeld = false
  let isOver = false
  let leave = () => queue.abort()
  // The two options exclude each other; a seat that is taken is never waited for.
  const options = how === 'take' ? { steal: true } : { signal: queue.signal }
  const over = locks
    .request(name, options, () => {
      if (isOver) return undefined
      isHeld = true
      const seat = new Promise<void>((resolve) => {
        leave = resolve
      })
      on.held()
      return seat
    })
    .catch(() => {
      if (isOver) return
      // Where a lock is refused (a sandboxed frame) there is nobody to share with.
      if (isHeld) on.lost()
      else on.held()
    })
  return async () => {
    isOver = true
    leave()
    await over
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
