// One stream for all tabs of a browser: one tab leads and holds it, the others hear of it from
// there, and each of them can take over where the last one stopped.

import type { Clock } from './clock.ts'
import { type Connection, type ConnectionEvents, PING_MS, SILENCE_MS } from './connection.ts'
import type { Link, LinkEvents } from './link.ts'
import { isBehind } from './place.ts'
import type { Channel, Post, Tabs } from './tabs.ts'
import type { BoardError, LostReason } from './types.ts'

export interface SharedLinkOptions {
  tabs: Tabs
  /** A connection of this tab's own, from a place in the log on. */
  connect(on: ConnectionEvents, lastEventId: string | undefined): Connection
  clock: Clock
  on: LinkEvents
}

/** A leader answers in milliseconds, unless it is frozen. */
const ANSWER_MS = 5_000
/** A timer that fires later than this was held up with all of its tab. */
const LATE_MS = 2_000

export class SharedLink implements Link {
  readonly #options: SharedLinkOptions
  #channel: Channel | undefined
  /** Gives up the seat, or the place in its queue. Undefined: resting, or closed. */
  #leaveSeat: (() => Promise<void>) | undefined
  /** While this tab leads. */
  #connection: Connection | undefined
  #isOpen: boolean = false
  #reason: LostReason | undefined
  #place: string | undefined
  /** When the leader was heard last, or when it was asked. */
  #heardAt = 0
  #patienceMs = ANSWER_MS
  #postedAt = 0
  #cancelTimer: (() => void) | undefined

  constructor(options: SharedLinkOptions) {
    this.#options = options
  }

  start(): void {
    this.#channel = this.#options.tabs.listen((post) => this.#receive(post))
    this.#join('queue')
  }

  wake(): void {
    if (!this.#leaveSeat) this.#join('queue')
    else if (this.#connection) this.#connection.wake()
    else this.#ask()
  }

  rest(): void {
    void this.#leave()
  }

  async close(): Promise<void> {
    const left = this.#leave()
    this.#channel?.close()
    this.#channel = undefined
    await left
  }

  #join(how: 'queue' | 'take'): void {
    void this.#leave()
    // Closed, perhaps by whoever has just been told something.
    if (!this.#channel) return
    this.#leaveSeat = this.#options.tabs.claim(how, {
      held: () => this.#lead(),
      lost: () => {
        // Robbed: this tab was frozen, or seemed to be.
        this.#lost('silent')
        this.#join('queue')
      },
    })
    if (how === 'queue') this.#ask()
  }

  /** Whoever leads must answer soon; else nobody does, or one that cannot. */
  #ask(): void {
    this.#channel?.post({ type: 'hello' })
    this.#heardAt = this.#options.clock.now()
    this.#patienceMs = ANSWER_MS
    this.#listen()
  }

  /** Looks at the time itself, since a hidden tab's timers may sleep while its channel does not. */
  #listen(): void {
    const { clock } = this.#options
    const quietMs = clock.now() - this.#heardAt
    if (quietMs >= 0 && quietMs < this.#patienceMs) {
      this.#timer(this.#patienceMs - quietMs, () => this.#listen())
      return
    }
    // Much too late: then it was this tab that slept, and what it was told waits behind this timer.
    const isLate = quietMs > this.#patienceMs + LATE_MS && this.#patienceMs > ANSWER_MS
    if (isLate) {
      this.#ask()
      return
    }
    this.#lost('silent')
    this.#join('take')
  }

  #lead(): void {
    const { connect, clock } = this.#options
    // Without a place to go on from, what the others have is as old as what they heard last.
    if (this.#isOpen && this.#place === undefined) {
      this.#lost('ended')
      this.#post(false)
    }
    if (!this.#leaveSeat) return
    const connection = connect(this.#leading(), this.#place)
    this.#connection = connection
    connection.start()
    const beat = () => {
      this.#post(false)
      this.#timer(PING_MS, beat)
    }
    this.#postedAt = clock.now()
    this.#timer(PING_MS, beat)
  }

  /** What the own connection tells goes to this tab's watch and to all the others. */
  #leading(): ConnectionEvents {
    const { on, clock } = this.#options
    return {
      opened: () => {
        this.#isOpen = true
        this.#reason = undefined
        this.#post(true)
        on.opened()
      },
      alive: () => {
        // Of a burst one is enough; of pings each is needed.
        if (clock.now() - this.#postedAt > PING_MS / 3) this.#post(true)
        on.alive()
      },
      told: (data, id) => {
        this.#channel?.post({ type: 'told', data, id })
        on.told(data, id)
      },
      place: (id) => {
        this.#place = id
      },
      lost: (reason) => {
        this.#lost(reason)
        this.#post(false)
      },
      refused: (error) => this.#refused(error),
    }
  }

  /** The token of this tab is no good; that of another one may be, so the seat goes to the next. */
  #refused(error: BoardError): void {
    void this.#leave()
    this.#options.on.refused(error)
  }

  #receive(post: Post): void {
    if (post.type === 'hello') this.#answer()
    // What one that has been robbed still says, before it knows; or nothing for one that rests.
    if (this.#connection || !this.#leaveSeat) return
    switch (post.type) {
      case 'hello':
        return
      case 'following':
        this.#place ??= post.place
        return
      case 'here':
        this.#hear(post)
        break
      case 'told':
        if (post.id !== undefined && !isBehind(post.id, this.#place)) break
        this.#place = post.id ?? this.#place
        this.#options.on.told(post.data, post.id)
    }
    if (!this.#leaveSeat) return
    this.#heardAt = this.#options.clock.now()
    this.#patienceMs = SILENCE_MS * (1 + this.#options.clock.random() / 4)
    this.#listen()
  }

  #answer(): void {
    if (this.#connection) {
      this.#connection.wake()
      if (this.#connection) this.#post(false)
    } else if (this.#leaveSeat && this.#place !== undefined) {
      this.#channel?.post({ type: 'following', place: this.#place })
    }
  }

  #hear(here: Post & { type: 'here' }): void {
    const { on } = this.#options
    // Messages come before the place behind them, so one that skips some brings a gap.
    const isAhead = here.place !== undefined && isBehind(here.place, this.#place)
    if (isAhead) this.#place = here.place
    if (!here.isOpen) {
      if (this.#isOpen || here.reason !== this.#reason) this.#lost(here.reason ?? 'unreachable')
    } else if (!this.#isOpen || isAhead) {
      this.#isOpen = true
      this.#reason = undefined
      on.opened()
    } else if (here.isAlive) on.alive()
  }

  #lost(reason: LostReason): void {
    this.#isOpen = false
    this.#reason = reason
    this.#options.on.lost(reason)
  }

  #post(isAlive: boolean): void {
    this.#postedAt = this.#options.clock.now()
    this.#channel?.post({
      type: 'here',
      isOpen: this.#isOpen,
      isAlive,
      reason: this.#reason,
      place: this.#place,
    })
  }

  /** The connection ends before the seat is free: there is never one more stream than tabs lead. */
  async #leave(): Promise<void> {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    const leaveSeat = this.#leaveSeat
    this.#leaveSeat = undefined
    this.#isOpen = false
    this.#reason = undefined
    void this.#connection?.close()
    this.#connection = undefined
    await leaveSeat?.()
  }

  #timer(ms: number, call: () => void): void {
    this.#cancelTimer?.()
    this.#cancelTimer = this.#options.clock.after(ms, call)
  }
}
