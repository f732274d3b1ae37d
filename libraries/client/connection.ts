// Keeps a stream open: dials again when it ends or falls silent, or when its token expires.

import { backoffMs, type Clock } from '../../worker/shared/clock.ts'
import { RETRY } from './requests.ts'
import type { OpenStream, StreamEnd, StreamSource } from './stream.ts'
import type { BoardError, LostReason } from './types.ts'

const PING_MS = 15_000
/** Two and a half pings: one ping may be late, two are not. */
const SILENCE_MS = 2.5 * PING_MS
/** A stream that ends sooner counts as another failure, so we back off from a flapping edge. */
const HEALTHY_MS = 10_000
/** A dial that takes longer may have begun on a network that is gone. */
const SLOW_DIAL_MS = 3_000
/** Longest time that a host's timer can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1

export interface ConnectionEvents {
  /** Every change from now on causes a message. Earlier changes may have been missed. */
  opened(): void
  /** Something arrived just now, at least a ping. */
  alive(): void
  /** `data` is the change message as JSON. */
  message(data: string, id: string | undefined): void
  /** The position in the change log, to resume after. */
  position?(id: string): void
  /** The stream ended. The connection dials again by itself. */
  lost(reason: LostReason): void
  /** The stream ended. The connection dials again only after `wake`. */
  refused(error: BoardError): void
}

export interface ConnectionOptions {
  streams: StreamSource
  clock: Clock
  on: ConnectionEvents
  /** The position where another connection stopped. */
  lastEventId?: string | undefined
}

export class Connection {
  readonly #options: ConnectionOptions
  readonly #cancelTimers = new Map<'redial' | 'silence' | 'renewal', () => void>()
  #stream: OpenStream | undefined
  #lastEventId: string | undefined
  #dialledAt = 0
  #openedAt: number | undefined
  #aliveAt = 0
  /** The same moment by the time of day, which goes on while the machine sleeps. */
  #aliveTime = 0
  #retryMs = 0
  #failures = 0
  /** Check this after each event: the callback may have closed the connection. */
  #isClosed: boolean = false

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.#lastEventId = options.lastEventId
  }

  start(): void {
    this.#dial()
  }

  /** The page or the caller wants the board now: dials at once if the stream is not open. */
  wake(): void {
    const { clock } = this.#options
    const now = clock.elapsed()
    const isSlow = this.#openedAt === undefined && now - this.#dialledAt > SLOW_DIAL_MS
    // After a sleep of the machine, this may run before the silence timer does.
    const quietMs = Math.max(now - this.#aliveAt, clock.now() - this.#aliveTime)
    const isQuiet = quietMs > PING_MS * 1.5
    if (this.#stream && !isSlow && !isQuiet) return
    // Without pings we cannot see whether the stream is dead. Replacing it costs little.
    const isLost = this.#openedAt !== undefined && this.#options.streams.seesPings
    if (isLost) this.#options.on.lost('silent')
    this.#dial()
  }

  /** Closes the stream until `wake`, because the page is hidden or the edge refused the watch. */
  pause(): void {
    this.#hangUp()
  }

  /** No event is called after this. */
  close(): void {
    this.#isClosed = true
    this.#hangUp()
  }

  #dial(): void {
    this.#hangUp()
    if (this.#isClosed) return
    const { streams, clock, on } = this.#options
    this.#dialledAt = clock.elapsed()
    this.#alive()
    this.#checkSilence()
    this.#stream = streams.open(this.#lastEventId, {
      opened: (renewAt) => {
        this.#openedAt = clock.elapsed()
        // After a slow opening this time may have passed, and hosts warn of a negative timer.
        const waitMs = Math.max(0, renewAt - clock.now())
        if (waitMs < MAX_TIMER_MS) this.#timer('renewal', waitMs, () => this.#dial())
        on.opened()
      },
      alive: () => {
        this.#alive()
        on.alive()
      },
      retry: (ms) => {
        this.#retryMs = ms
      },
      message: (data, id) => on.message(data, id),
      position: (id) => {
        this.#lastEventId = id
        on.position?.(id)
      },
      ended: (end) => this.#ended(end),
    })
  }

  #alive(): void {
    this.#aliveAt = this.#options.clock.elapsed()
    this.#aliveTime = this.#options.clock.now()
  }

  #ended(end: StreamEnd): void {
    const { clock, on } = this.#options
    const livedMs = this.#openedAt === undefined ? 0 : clock.elapsed() - this.#openedAt
    this.#failures = livedMs >= HEALTHY_MS ? 0 : this.#failures + 1
    this.#hangUp()
    if ('refused' in end) {
      on.refused(end.refused)
      return
    }
    // Silence means that our own connection died, not the edge. No crowd of clients redials with
    // us, so there is no need for a random wait.
    const isAlone = end.reason === 'silent' && this.#failures === 0
    const backoff = backoffMs(Math.max(1, this.#failures), RETRY, clock.random())
    this.#timer('redial', isAlone ? 0 : Math.max(this.#retryMs, backoff), () => this.#dial())
    on.lost(end.reason)
  }

  /** Compares times, since a page's timers may be delayed by a minute while its streams run. */
  #checkSilence(): void {
    const { streams, clock } = this.#options
    if (!streams.seesPings) return
    const quietMs = clock.elapsed() - this.#aliveAt
    if (quietMs >= SILENCE_MS) this.#ended({ reason: 'silent' })
    else this.#timer('silence', SILENCE_MS - quietMs, () => this.#checkSilence())
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
