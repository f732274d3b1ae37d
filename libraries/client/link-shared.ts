// One stream for all tabs of a browser. The leader holds the stream and passes each message on to
// the followers. Each follower can take over where the leader stopped.

import type { Clock } from './clock.ts'
import { type Connection, type ConnectionEvents, PING_MS, SILENCE_MS } from './connection.ts'
import type { Link, LinkEvents } from './link.ts'
import { isNewer } from './message.ts'
import type { Channel, Post, Tabs } from './tabs.ts'
import type { BoardError, LostReason } from './types.ts'

export interface SharedLinkOptions {
  tabs: Tabs
  /** Makes a connection of this tab, which resumes after `lastEventId`. */
  connect(on: ConnectionEvents, lastEventId: string | undefined): Connection
  clock: Clock
  on: LinkEvents
}

/** A leader answers in milliseconds, unless it is frozen. */
const ANSWER_MS = 5_000
/** If a timer fires later than this, the whole tab was frozen. */
const LATE_MS = 2_000

export class SharedLink implements Link {
  readonly #options: SharedLinkOptions
  #channel: Channel | undefined
  /** Releases the lock, or stops waiting for it. Undefined: paused or closed. */
  #releaseLock: (() => Promise<void>) | undefined
  /** Set while this tab is the leader. */
  #connection: Connection | undefined
  #isOpen: boolean = false
  #reason: LostReason | undefined
  #position: string | undefined
  /** When the leader last posted, or when we asked for it. */
  #leaderSeenAt = 0
  #maxQuietMs = ANSWER_MS
  #postedAt = 0
  #cancelTimer: (() => void) | undefined

  constructor(options: SharedLinkOptions) {
    this.#options = options
  }

  start(): void {
    this.#channel = this.#options.tabs.listen((post) => this.#receive(post))
    this.#claimLock('wait')
  }

  wake(): void {
    if (!this.#releaseLock) this.#claimLock('wait')
    else if (this.#connection) this.#connection.wake()
    else this.#ask()
  }

  pause(): void {
    void this.#leave()
  }

  async close(): Promise<void> {
    const left = this.#leave()
    this.#channel?.close()
    this.#channel = undefined
    await left
  }

  #claimLock(how: 'wait' | 'steal'): void {
    void this.#leave()
    // A callback may have closed the link just before.
    if (!this.#channel) return
    this.#releaseLock = this.#options.tabs.lock(how, {
      acquired: () => this.#lead(),
      stolen: () => {
        // This tab was frozen, or another tab thought so.
        this.#lost('silent')
        this.#claimLock('wait')
      },
    })
    if (how === 'wait') this.#ask()
  }

  /** A leader must answer soon. If none does, there is none, or it is frozen. */
  #ask(): void {
    this.#channel?.post({ type: 'ask' })
    this.#leaderSeenAt = this.#options.clock.elapsed()
    this.#maxQuietMs = ANSWER_MS
    this.#checkLeader()
  }

  /** Compares times, since a hidden tab's timers may be delayed while its channel works. */
  #checkLeader(): void {
    const { clock } = this.#options
    const quietMs = clock.elapsed() - this.#leaderSeenAt
    if (quietMs < this.#maxQuietMs) {
      this.#timer(this.#maxQuietMs - quietMs, () => this.#checkLeader())
      return
    }
    // This timer is much too late, so this tab was frozen, and posts of the leader still wait
    // behind the timer.
    const isLate = quietMs > this.#maxQuietMs + LATE_MS && this.#maxQuietMs > ANSWER_MS
    if (isLate) {
      this.#ask()
      return
    }
    this.#lost('silent')
    this.#claimLock('steal')
  }

  #lead(): void {
    const { connect, clock } = this.#options
    // Without a position we cannot resume, so messages may be missed: the followers must read
    // again.
    if (this.#isOpen && this.#position === undefined) {
      this.#lost('ended')
      this.#post(false)
    }
    if (!this.#releaseLock) return
    const connection = connect(this.#leaderEvents(), this.#position)
    this.#connection = connection
    connection.start()
    const beat = () => {
      this.#post(false)
      this.#timer(PING_MS, beat)
    }
    this.#postedAt = clock.elapsed()
    this.#timer(PING_MS, beat)
  }

  /** Events of our connection go to our own watch and to all followers. */
  #leaderEvents(): ConnectionEvents {
    const { on, clock } = this.#options
    return {
      opened: () => {
        this.#isOpen = true
        this.#reason = undefined
        this.#post(true)
        on.opened()
      },
      alive: () => {
        // One post per burst is enough, but each ping must be passed on.
        if (clock.elapsed() - this.#postedAt > PING_MS / 3) this.#post(true)
        on.alive()
      },
      message: (data, id) => {
        this.#channel?.post({ type: 'message', data, id })
        on.message(data, id)
      },
      position: (id) => {
        this.#position = id
      },
      lost: (reason) => {
        this.#lost(reason)
        this.#post(false)
      },
      refused: (error) => this.#refused(error),
    }
  }

  /** The edge refused the token of this tab. The next tab leads, and tries its own token. */
  #refused(error: BoardError): void {
    void this.#leave()
    this.#options.on.refused(error)
  }

  #receive(post: Post): void {
    if (post.type === 'ask') this.#answer()
    // A leader ignores the last posts of a leader that it replaced. A paused tab ignores all.
    if (this.#connection || !this.#releaseLock) return
    switch (post.type) {
      case 'ask':
        return
      case 'follower':
        this.#position ??= post.position
        return
      case 'status':
        this.#follow(post)
        break
      case 'message':
        if (post.id !== undefined && !isNewer(post.id, this.#position)) break
        this.#position = post.id ?? this.#position
        this.#options.on.message(post.data, post.id)
    }
    if (!this.#releaseLock) return
    this.#leaderSeenAt = this.#options.clock.elapsed()
    this.#maxQuietMs = SILENCE_MS * (1 + this.#options.clock.random() / 4)
    this.#checkLeader()
  }

  #answer(): void {
    if (this.#connection) {
      this.#connection.wake()
      if (this.#connection) this.#post(false)
    } else if (this.#releaseLock && this.#position !== undefined) {
      this.#channel?.post({ type: 'follower', position: this.#position })
    }
  }

  #follow(status: Post & { type: 'status' }): void {
    const { on } = this.#options
    // The leader posts each message before the position after it. So a newer position here means
    // that this tab missed messages.
    const isAhead = status.position !== undefined && isNewer(status.position, this.#position)
    if (isAhead) this.#position = status.position
    if (!status.isOpen) {
      if (this.#isOpen || status.reason !== this.#reason) this.#lost(status.reason ?? 'unreachable')
    } else if (!this.#isOpen || isAhead) {
      this.#isOpen = true
      this.#reason = undefined
      on.opened()
    } else if (status.isAlive) on.alive()
  }

  #lost(reason: LostReason): void {
    this.#isOpen = false
    this.#reason = reason
    this.#options.on.lost(reason)
  }

  #post(isAlive: boolean): void {
    this.#postedAt = this.#options.clock.elapsed()
    this.#channel?.post({
      type: 'status',
      isOpen: this.#isOpen,
      isAlive,
      reason: this.#reason,
      position: this.#position,
    })
  }

  /** Closes the connection before it releases the lock, so there are never two streams. */
  async #leave(): Promise<void> {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    const releaseLock = this.#releaseLock
    this.#releaseLock = undefined
    this.#isOpen = false
    this.#reason = undefined
    void this.#connection?.close()
    this.#connection = undefined
    await releaseLock?.()
  }

  #timer(ms: number, call: () => void): void {
    this.#cancelTimer?.()
    this.#cancelTimer = this.#options.clock.after(ms, call)
  }
}
