// The streams of one isolate share one socket to their repository. fan-out.ts decides what happens
// next; this file does it: connects, waits, wakes.
//
// Each stream belongs to its own request, and on Cloudflare no request may use what another one
// opened. So each stream has its own loop, timers and promise. The leader resolves the promises,
// and each loop continues in its own request.

import { backoffMs, type Clock } from '../../shared/clock.ts'
import type { Log } from '../../shared/log.ts'
import { FanOut, type From, type Member } from './fan-out.ts'
import { frameId } from './sse.ts'
import type { StreamRoom } from './stream-room.ts'
import {
  NOT_SUBSCRIBED,
  type StreamSink,
  type Subscribed,
  type Subscription,
} from './subscription.ts'

/** A deploy closes the sockets of all isolates at once, so each waits before it connects again. */
const REDIAL = { firstMs: 100, maxMs: 10_000 }
/** Cloudflare limits the connections of one request. After these, another stream leads. */
const MAX_DIALS = 16

/** A socket to the repository. */
export interface Connection {
  /** Reports to the repository how many streams share this socket. */
  report(streams: number): void
  close(): void
}

export interface ConnectionSink {
  /** One encoded block of the event stream. */
  block(bytes: Uint8Array): void
  /** The streams of other isolates: after the missed blocks, and after each report. */
  others(streams: number): void
  /** The socket closed. Called once, and not after `close`. */
  closed(): void
}

/** The repository, as one isolate reaches it. Both methods reject if it cannot be reached. */
export interface Upstream {
  dial(from: From, streams: number, sink: ConnectionSink): Promise<Connection>
  /** The blocks for a stream that starts at `from`. The last one has an id. */
  missed(from: From): Promise<string[]>
}

export interface SharedDeps {
  upstream: Upstream
  room: StreamRoom
  clock: Clock
  log: Log
}

export class SharedSubscription {
  readonly deps: SharedDeps
  readonly fanOut: FanOut<SharedStream>
  /** Failed connections in a row, of all leaders. */
  failures = 0

  constructor(deps: SharedDeps) {
    this.deps = deps
    this.fanOut = new FanOut(deps.room)
  }

  get isEmpty(): boolean {
    return this.fanOut.members.size === 0
  }

  subscribe({ holder, ...from }: Subscription, sink: StreamSink): Subscribed {
    const stream = new SharedStream(this, from, holder, sink)
    if (!this.fanOut.join(stream, this.deps.clock.elapsed())) {
      sink.end('full')
      return NOT_SUBSCRIBED
    }
    stream.open()
    return { onPing: () => stream.check(), close: () => stream.close() }
  }

  wakeAll(): void {
    for (const stream of this.fanOut.members) stream.wake()
  }

  /** `failures`: in a row, the last one included. */
  redialMs(failures: number): number {
    return backoffMs(failures, REDIAL, this.deps.clock.random())
  }
}

type TimerName = 'check' | 'redial' | 'catch-up'
const encoder = new TextEncoder()

class SharedStream implements Member {
  readonly from: From
  readonly holder: string
  readonly mailbox: Member['mailbox'] = []
  place?: string
  waited?: true
  seenAt?: number
  readonly #shared: SharedSubscription
  readonly #sink: StreamSink
  readonly #timers = new Map<TimerName, () => void>()
  #wake: (() => void) | undefined
  #connection: Connection | undefined
  #isClosed = false

  constructor(shared: SharedSubscription, from: From, holder: string, sink: StreamSink) {
    this.#shared = shared
    this.from = from
    this.holder = holder
    this.#sink = sink
  }

  open(): void {
    this.#scheduleCheck()
    this.#run().catch((error: unknown) => {
      this.#shared.deps.log('error', 'board.stream_failed', { error: String(error) })
      this.#sink.end('failed')
    })
  }

  /** Shows that this stream is alive, and checks whether the leader is. */
  check(): void {
    if (this.#isClosed) return
    const { fanOut, deps } = this.#shared
    this.wake()
    if (this.#connection) {
      fanOut.sweep(deps.clock.elapsed())
      const streams = fanOut.tally.reportIfNew()
      if (streams !== undefined) this.#connection.report(streams)
    }
    this.#scheduleCheck()
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const cancel of this.#timers.values()) cancel()
    this.#connection?.close()
    this.#shared.fanOut.leave(this)?.wake()
    this.wake()
  }

  /** Any request may call this. The loop continues in its own request. */
  wake(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }

  async #run(): Promise<void> {
    const { fanOut, deps } = this.#shared
    while (!this.#isClosed) {
      const step = fanOut.next(this, deps.clock.elapsed())
      if (step.do === 'wait') {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      } else if (step.do === 'send') this.#sink.send(step.bytes)
      else if (step.do === 'catch-up') await this.#catchUp(step.from)
      else if (step.do === 'lead') void this.#lead(step.term)
      else {
        this.#sink.end('full')
        this.close()
      }
    }
  }

  async #catchUp(from: From): Promise<void> {
    const { fanOut, deps } = this.#shared
    for (let failures = 1; !this.#isClosed; failures++) {
      try {
        const blocks = await deps.upstream.missed(from)
        const id = frameId(encoder.encode(blocks.at(-1)))
        if (id === undefined) throw new Error('the repository sent no id')
        fanOut.caughtUp(this, id)
        if (!this.#isClosed) this.#sink.send(encoder.encode(blocks.join('')))
        return
      } catch (error) {
        deps.log('warn', 'board.catch_up_failed', { error: String(error) })
        if (!this.#isClosed) await this.#pause('catch-up', this.#shared.redialMs(failures))
      }
    }
  }

  async #lead(term: number): Promise<void> {
    const { fanOut } = this.#shared
    // This stream may have led before.
    this.#connection?.close()
    // A leader must show that it is alive more often than a follower.
    this.#scheduleCheck()
    const leads = () => !this.#isClosed && fanOut.leads(this, term)
    for (let dials = 0; leads() && dials < MAX_DIALS; dials++) {
      await this.#connect(term, leads)
      fanOut.disconnected(term)
      if (leads()) await this.#pause('redial', this.#shared.redialMs(++this.#shared.failures))
    }
    fanOut.resign(this, term)?.wake()
  }

  /** Connects, and resolves when the socket has closed. */
  async #connect(term: number, leads: () => boolean): Promise<void> {
    const shared = this.#shared
    const { fanOut, deps } = shared
    const closed = Promise.withResolvers<void>()
    try {
      const connection = await deps.upstream.dial(fanOut.dialFrom(this), fanOut.tally.report(), {
        block(bytes) {
          if (fanOut.received(term, bytes)) shared.wakeAll()
        },
        others(others) {
          shared.failures = 0
          if (fanOut.reported(term, others)) shared.wakeAll()
        },
        closed: closed.resolve,
      })
      if (!leads()) {
        connection.close()
        return
      }
      this.#connection = connection
      await closed.promise
      // It may lead again by now, with another socket.
      if (this.#connection === connection) this.#connection = undefined
    } catch (error) {
      deps.log('warn', 'board.subscribe_failed', { error: String(error) })
    }
  }

  /** For checks between two pings, where pings alone are too rare. */
  #scheduleCheck(): void {
    this.#timers.get('check')?.()
    const ms = this.#shared.fanOut.checkMs(this)
    if (ms !== undefined) this.#timer('check', ms, () => this.check())
  }

  #pause(name: TimerName, ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#timer(name, ms, resolve)
    })
  }

  #timer(name: TimerName, ms: number, call: () => void): void {
    this.#timers.get(name)?.()
    this.#timers.set(name, this.#shared.deps.clock.after(ms, call))
  }
}
