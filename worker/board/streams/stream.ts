// One client's event stream: joins a repository, forwards its blocks, pings, and ends.

import type { Clock } from '../../shared/clock.ts'
import type { Log } from '../../shared/log.ts'
import { comment, retry } from './sse.ts'
import { type ChangeStream, PING_MS, type Subscribed } from './subscription.ts'

/** All times in ms. */
export interface StreamLimits {
  pingMs: number
  /** A stream ends after `ageMs` plus up to as much again. */
  ageMs: number
  /** A reader is cut when more than this waits for it; it resumes by its last event id. */
  backlogBytes: number
  /** A reader is cut, too, when something has waited for it for so long. Seen at a ping only. */
  unreadMs: number
  /** Clients wait this long, plus up to three times as much, before they reconnect. */
  retryMs: number
  /** Clients that found the repository full wait this long, plus up to as much again. */
  fullRetryMs: number
}

export const STREAM_LIMITS: StreamLimits = {
  pingMs: PING_MS,
  ageMs: Number.POSITIVE_INFINITY,
  backlogBytes: 256 << 10,
  unreadMs: 60_000,
  retryMs: 1_000,
  fullRetryMs: 60_000,
}

export interface StreamOptions {
  repository: ChangeStream
  lastEventId: string | undefined
  /** Whose quota this stream uses. */
  holder: string
  /** When the client's token expires, in ms: the stream must not outlive it. */
  expiresAt: number
  /** Whether the client's session was ended: the stream ends too. Asked at each ping. */
  hasEnded?: () => Promise<boolean>
  signal: AbortSignal
  limits: StreamLimits
  clock: Clock
  log: Log
  /** For refusals, which come as often as a client likes. */
  rare: Log
  /** Called once. */
  onEnd?: (reason: EndReason) => void
}

const encoder = new TextEncoder()
const CONNECTED = encoder.encode(comment('connected'))
const PING = encoder.encode(comment('ping'))

/** The body of an event stream. */
export function openStream(options: StreamOptions): ReadableStream<Uint8Array> {
  let stream: ClientStream | undefined
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        stream = new ClientStream(options, controller)
        stream.open()
      },
      cancel() {
        stream?.end('cancelled')
      },
    },
    // Counted in bytes, with no room: the queue is exactly what the reader has not read yet.
    { highWaterMark: 0, size: (chunk) => chunk.byteLength },
  )
}

/** Why a stream ends. */
export const STREAM_ENDS = [
  'aborted',
  'cancelled',
  'closed',
  'expired',
  'signed_out',
  'aged',
  'full',
  'failed',
  'slow',
  'unwritable',
] as const
type EndReason = (typeof STREAM_ENDS)[number]

class ClientStream {
  readonly #options: StreamOptions
  readonly #controller: ReadableStreamDefaultController<Uint8Array>
  /** When it ends by itself, by the clock's `elapsed`, and why. */
  readonly #last: { at: number; reason: EndReason }
  #cancelTimer: (() => void) | undefined
  #subscribed: Subscribed | undefined
  #unreadSince: number | undefined
  #ended = false

  constructor(options: StreamOptions, controller: ReadableStreamDefaultController<Uint8Array>) {
    this.#options = options
    this.#controller = controller
    const { clock, limits, expiresAt } = options
    const ageMs = this.#jitter(limits.ageMs, 2)
    const leftMs = expiresAt - clock.now()
    const at = clock.elapsed() + Math.min(ageMs, leftMs)
    this.#last = { at, reason: leftMs < ageMs ? 'expired' : 'aged' }
  }

  open(): void {
    const { signal, limits } = this.#options
    // The signal, the body's cancel() and a failed write are each missed by some runtime version
    // when a client goes away, so all three end the stream.
    signal.addEventListener('abort', () => this.end('aborted'), { once: true })
    if (signal.aborted) {
      this.end('aborted')
      return
    }
    this.#write(CONNECTED)
    this.#write(encoder.encode(retry(this.#jitter(limits.retryMs, 4))))
    this.#schedulePing()
    this.#subscribe()
  }

  /** Lets go of everything. Only the first call counts. */
  end(reason: EndReason): void {
    if (this.#ended) return
    this.#ended = true
    this.#cancelTimer?.()
    this.#subscribed?.close()
    this.#options.log('debug', 'board.stream_ended', { reason })
    this.#options.onEnd?.(reason)
    try {
      // An error throws the queue away at once: closing would keep a slow reader's backlog.
      if (reason === 'slow') this.#controller.error(new Error('the reader was too slow'))
      else this.#controller.close()
    } catch (error) {
      this.#options.log('debug', 'board.stream_close_failed', { error: String(error) })
    }
  }

  /** One timer serves the ping and the end: each timer of a stream is memory in the runtime. */
  #schedulePing(): void {
    const { limits, clock } = this.#options
    const leftMs = this.#last.at - clock.elapsed()
    if (leftMs <= 0) this.end(this.#last.reason)
    else this.#cancelTimer = clock.after(Math.min(limits.pingMs, leftMs), () => this.#ping())
  }

  #ping(): void {
    if (this.#isUnread()) this.end('slow')
    this.#write(PING)
    if (this.#ended) return
    this.#subscribed?.onPing()
    this.#schedulePing()
    void this.#options.hasEnded?.().then((hasEnded) => hasEnded && this.end('signed_out'))
  }

  /** Something waits for the reader, and did at each ping before. */
  #isUnread(): boolean {
    if ((this.#controller.desiredSize ?? 0) === 0) {
      this.#unreadSince = undefined
      return false
    }
    const now = this.#options.clock.elapsed()
    this.#unreadSince ??= now
    return now - this.#unreadSince >= this.#options.limits.unreadMs
  }

  #subscribe(): void {
    const { repository, lastEventId, holder, clock, log } = this.#options
    try {
      const subscribed = repository.subscribe(
        { lastEventId, since: clock.now(), holder },
        {
          send: (bytes) => this.#write(bytes),
          end: (reason) => (reason === 'full' ? this.#endFull() : this.end(reason)),
        },
      )
      // What it was sent at once may have ended it.
      if (this.#ended) subscribed.close()
      else this.#subscribed = subscribed
    } catch (error) {
      log('error', 'board.subscribe_failed', { error: String(error) })
      this.end('failed')
    }
  }

  /** Any status but 200 makes an EventSource give up for good, so the refusal is a long wait. */
  #endFull(): void {
    const { limits, rare } = this.#options
    rare('warn', 'board.streams_full', {})
    this.#write(encoder.encode(retry(this.#jitter(limits.fullRetryMs, 2))))
    this.end('full')
  }

  #write(bytes: Uint8Array): void {
    if (this.#ended) return
    try {
      this.#controller.enqueue(bytes)
    } catch (error) {
      this.#options.log('debug', 'board.stream_write_failed', { error: String(error) })
      this.end('unwritable')
      return
    }
    if ((this.#controller.desiredSize ?? 0) < -this.#options.limits.backlogBytes) this.end('slow')
  }

  /** `ms` to `ms * maxFactor`. */
  #jitter(ms: number, maxFactor: number): number {
    return ms * (1 + this.#options.clock.random() * (maxFactor - 1))
  }
}
