// The streams of one isolate over one socket to their repository. What happens is decided in
// fan-out.ts; here it is done: dialling, waiting, waking.
//
// Each stream runs in a request of its own, and the runtime lets no request use what another one
// opened. So every stream has its own loop, its own timers and its own promise to wait for; the
// leader resolves those, and each loop goes on in its own request.

import { backoffMs, type Clock } from '../shared/clock.ts'
import type { Log } from '../shared/log.ts'
import { FanOut, type From, type Member, type Step } from './fan-out.ts'
import {
  NOT_SUBSCRIBED,
  type StreamSink,
  type Subscribed,
  type Subscription,
} from './repositories.ts'
import { frameId } from './sse.ts'
import type { StreamCounts, StreamRoom } from './stream-room.ts'

/** A deploy lets go of every isolate at once, so nobody dials again without a wait. */
const REDIAL = { firstMs: 100, maxMs: 10_000 }
/** One request may open so many connections at most; another stream has a fresh budget. */
const MAX_DIALS = 16

/** A socket to the repository. */
export interface Line {
  /** Tells the repository how many streams hang on this socket. */
  report(counts: StreamCounts): void
  close(): void
}

export interface LineSink {
  /** One encoded block of the event stream. */
  block(bytes: Uint8Array): void
  /** What other isolates hold: once after everything that was missed, then after each report. */
  others(counts: StreamCounts): void
  /** The repository let go. Once; not after `close`. */
  closed(): void
}

/** The repository, as one isolate reaches it. Both reject when it cannot be reached now. */
export interface Upstream {
  dial(from: From, counts: StreamCounts, sink: LineSink): Promise<Line>
  /** What a stream is sent that starts there: blocks, the last one with an id. */
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
  /** Dials in a row that did not come through, whoever led. */
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
    if (!this.fanOut.join(stream, this.deps.clock.now())) {
      sink.end('full')
      return NOT_SUBSCRIBED
    }
    stream.open()
    return { look: () => stream.look(), close: () => stream.close() }
  }

  wakeAll(): void {
    for (const stream of this.fanOut.members) stream.wake()
  }

  /** `failures`: in a row, this one included. */
  redialMs(failures: number): number {
    return backoffMs(failures, REDIAL, this.deps.clock.random())
  }
}

const encoder = new TextEncoder()

class SharedStream implements Member {
  readonly from: From
  readonly holder: string
  place?: string
  at?: number
  waited?: true
  seenAt?: number
  readonly #shared: SharedSubscription
  readonly #sink: StreamSink
  readonly #timers = new Map<'look' | 'redial' | 'catch-up', () => void>()
  #wake: (() => void) | undefined
  #line: Line | undefined
  #isOver = false

  constructor(shared: SharedSubscription, from: From, holder: string, sink: StreamSink) {
    this.#shared = shared
    this.from = from
    this.holder = holder
    this.#sink = sink
  }

  open(): void {
    this.#lookLater()
    this.#run().catch((error: unknown) => {
      this.#shared.deps.log('error', 'board.stream_failed', { error: String(error) })
      this.#sink.end('failed')
    })
  }

  /** Shows that it is alive, and looks whether the leader is. */
  look(): void {
    if (this.#isOver) return
    const { fanOut, deps } = this.#shared
    this.wake()
    if (this.#line) {
      fanOut.sweep(deps.clock.now())
      const news = fanOut.tally.news()
      if (news) this.#line.report(news)
    }
    this.#lookLater()
  }

  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const cancel of this.#timers.values()) cancel()
    this.#line?.close()
    this.#shared.fanOut.leave(this)?.wake()
    this.wake()
  }

  /** Any request may call this: the loop goes on in its own. */
  wake(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }

  async #run(): Promise<void> {
    const { fanOut, deps } = this.#shared
    while (!this.#isOver) {
      const step = fanOut.next(this, deps.clock.now())
      if (step.do === 'wait') {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      } else if (step.do === 'send') this.#sink.send(step.bytes)
      else if (step.do === 'catch-up') await this.#catchUp(step)
      else if (step.do === 'lead') void this.#lead(step.term)
      else {
        this.#sink.end('full')
        this.close()
      }
    }
  }

  async #catchUp({ from, at }: Step & { do: 'catch-up' }): Promise<void> {
    const { fanOut, deps } = this.#shared
    for (let failures = 1; !this.#isOver; failures++) {
      try {
        const blocks = await deps.upstream.missed(from)
        const id = frameId(encoder.encode(blocks.at(-1)))
        if (id === undefined) throw new Error('the repository sent no id')
        fanOut.caughtUp(this, at, id)
        if (!this.#isOver) this.#sink.send(encoder.encode(blocks.join('')))
        return
      } catch (error) {
        deps.log('warn', 'board.catch_up_failed', { error: String(error) })
        if (!this.#isOver) await this.#pause('catch-up', this.#shared.redialMs(failures))
      }
    }
  }

  async #lead(term: number): Promise<void> {
    const { fanOut } = this.#shared
    // Of an earlier time as leader.
    this.#line?.close()
    // A leader shows more often than a follower that it is alive.
    this.#lookLater()
    const leads = () => !this.#isOver && fanOut.leads(this, term)
    for (let dials = 0; leads() && dials < MAX_DIALS; dials++) {
      await this.#hold(term, leads)
      fanOut.disconnected(term)
      if (leads()) await this.#pause('redial', this.#shared.redialMs(++this.#shared.failures))
    }
    fanOut.resign(this, term)?.wake()
  }

  /** Dials, and ends when the socket is gone. */
  async #hold(term: number, leads: () => boolean): Promise<void> {
    const shared = this.#shared
    const { fanOut, deps } = shared
    const gone = Promise.withResolvers<void>()
    try {
      const line = await deps.upstream.dial(fanOut.dialFrom(this), fanOut.tally.report(), {
        block(bytes) {
          if (fanOut.received(term, bytes)) shared.wakeAll()
        },
        others(others) {
          shared.failures = 0
          if (fanOut.reported(term, others)) shared.wakeAll()
        },
        closed: gone.resolve,
      })
      if (!leads()) {
        line.close()
        return
      }
      this.#line = line
      await gone.promise
      // It may lead again already, over another socket.
      if (this.#line === line) this.#line = undefined
    } catch (error) {
      deps.log('warn', 'board.subscribe_failed', { error: String(error) })
    }
  }

  /** Between two pings, where those are not enough. */
  #lookLater(): void {
    this.#timers.get('look')?.()
    const ms = this.#shared.fanOut.lookMs(this)
    if (ms !== undefined) this.#timer('look', ms, () => this.look())
  }

  #pause(name: 'redial' | 'catch-up', ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#timer(name, ms, resolve)
    })
  }

  #timer(name: 'look' | 'redial' | 'catch-up', ms: number, call: () => void): void {
    this.#timers.get(name)?.()
    this.#timers.set(name, this.#shared.deps.clock.after(ms, call))
  }
}
