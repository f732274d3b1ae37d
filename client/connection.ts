// A stream that is kept open: dialled again when it ends, falls silent, or its token does.

import { backoffMs } from './backoff.ts'
import type { Clock } from './clock.ts'
import type { Link, LinkEvents } from './link.ts'
import type { OpenStream, StreamEnd, StreamSource } from './stream.ts'

export const PING_MS = 15_000
/** Two pings and a half: one may be late, two are not. */
export const SILENCE_MS = 2.5 * PING_MS
/** A stream that ends sooner counts as another failure, so that a flapping edge is backed off. */
const HEALTHY_MS = 10_000
/** A dial that takes longer was perhaps made over a network that is gone. */
const SLOW_DIAL_MS = 3_000
/** Longest time that a host's timer can wait. */
const MOST_TIMER_MS = 2 ** 31 - 1

export interface ConnectionEvents extends LinkEvents {
  /** The place in the log, to resume after. */
  place(id: string): void
}

export interface ConnectionOptions {
  streams: StreamSource
  clock: Clock
  on: ConnectionEvents
  /** Where another one stopped. */
  lastEventId?: string | undefined
}

export class Connection implements Link {
  readonly #options: ConnectionOptions
  readonly #cancelTimers = new Map<'redial' | 'silence' | 'renewal', () => void>()
  #stream: OpenStream | undefined
  #lastEventId: string | undefined
  #dialledAt = 0
  #openedAt: number | undefined
  #aliveAt = 0
  #retryMs = 0
  #failures = 0
  /** Also by whoever is told something, before we go on. */
  #isClosed: boolean = false

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.#lastEventId = options.lastEventId
  }

  start(): void {
    this.#dial()
  }

  wake(): void {
    const now = this.#options.clock.now()
    const isSlow = this.#openedAt === undefined && now - this.#dialledAt > SLOW_DIAL_MS
    // A machine that slept may wake before its timers do.
    const isQuiet = now - this.#aliveAt > PING_MS * 1.5
    if (this.#stream && !isSlow && !isQuiet) return
    // Without pings nobody knows whether it is dead; another one in its place costs little.
    const isLost = this.#openedAt !== undefined && this.#options.streams.seesPings
    if (isLost) this.#options.on.lost('silent')
    this.#dial()
  }

  rest(): void {
    this.#hangUp()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#hangUp()
  }

  #dial(): void {
    this.#hangUp()
    if (this.#isClosed) return
    const { streams, clock, on } = this.#options
    this.#dialledAt = clock.now()
    this.#aliveAt = this.#dialledAt
    this.#listen()
    this.#stream = streams.open(this.#lastEventId, {
      opened: (renewAt) => {
        this.#openedAt = clock.now()
        // Past already where it took long to open: hosts warn of a timer that is.
        const waitMs = Math.max(0, renewAt - this.#openedAt)
        if (waitMs < MOST_TIMER_MS) this.#timer('renewal', waitMs, () => this.#dial())
        on.opened()
      },
      alive: () => {
        this.#aliveAt = clock.now()
        on.alive()
      },
      retry: (ms) => {
        this.#retryMs = ms
      },
      told: (data, id) => on.told(data, id),
      place: (id) => {
        this.#lastEventId = id
        on.place(id)
      },
      ended: (why) => this.#ended(why),
    })
  }

  #ended(why: StreamEnd): void {
    const { clock, on } = this.#options
    const livedMs = this.#openedAt === undefined ? 0 : clock.now() - this.#openedAt
    this.#failures = livedMs >= HEALTHY_MS ? 0 : this.#failures + 1
    this.#hangUp()
    if ('refused' in why) {
      on.refused(why.refused)
      return
    }
    // A connection that died took nobody else with it: there is no crowd to let pass.
    const isAlone = why.reason === 'silent' && this.#failures === 0
    const backoff = backoffMs(this.#failures, clock.random)
    this.#timer('redial', isAlone ? 0 : Math.max(this.#retryMs, backoff), () => this.#dial())
    on.lost(why.reason)
  }

  /** Looks at the time itself: a page's timers may sleep for a minute while its streams do not. */
  #listen(): void {
    const { streams, clock } = this.#options
    if (!streams.seesPings) return
    const quietMs = clock.now() - this.#aliveAt
    // A clock that was set back would otherwise hide a silence for as long as it was set back.
    if (quietMs >= SILENCE_MS || quietMs < 0) this.#ended({ reason: 'silent' })
    else this.#timer('silence', SILENCE_MS - quietMs, () => this.#listen())
  }

  #hangUp(): void {
    for (const cancel of this.#cancelTimers.values()) cancel()
    this.#cancelTimers.clear()
    this.#stream?.close()
    this.#stream = undefined
    this.#openedAt = undefined
  }

  #timer(name: 'redial' | 'silence' | 'renewal', ms: number, call: () => void): void {
    this.#cancelTimers.get(name)?.()
    this.#cancelTimers.set(name, this.#options.clock.after(ms, call))
  }
}
