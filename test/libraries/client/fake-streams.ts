// The streams of one repository without a network. What a test publishes goes to all open streams.

import type { StreamEnd, StreamEvents, StreamSource } from '../../../libraries/client/stream.ts'
import { BoardError } from '../../../libraries/client/types.ts'

export interface FakeStream {
  lastEventId: string | undefined
  on: StreamEvents
}

export class FakeStreams {
  readonly open = new Set<FakeStream>()
  /** Every dial so far. */
  readonly dials: FakeStream[] = []
  readonly #log: string[] = []
  /** How the next dials end; undefined: they succeed. */
  end: StreamEnd | undefined
  renewAt = Number.POSITIVE_INFINITY
  /** Undefined: the stream sends no `retry`. */
  retryMs: number | undefined

  source(seesPings = true): StreamSource {
    return {
      seesPings,
      open: (lastEventId, on) => {
        const tasks = new Tasks(on)
        const stream = { lastEventId, on: tasks }
        const close = () => {
          tasks.isOver = true
          this.open.delete(stream)
        }
        this.dials.push(stream)
        if (this.end) {
          stream.on.ended(this.end)
          return { close }
        }
        this.open.add(stream)
        if (this.retryMs !== undefined) stream.on.retry(this.retryMs)
        const from = lastEventId === undefined ? this.#log.length : seqOf(lastEventId)
        for (let seq = from; seq < this.#log.length; seq++) this.#send(stream, seq)
        stream.on.position(`e-${this.#log.length}`)
        stream.on.opened(this.renewAt)
        return { close }
      },
    }
  }

  /** Appends a message and sends it to every open stream. */
  publish(id: string): void {
    this.#log.push(JSON.stringify({ type: 'task-changed', id }))
    for (const stream of this.open) this.#send(stream, this.#log.length - 1)
  }

  ping(): void {
    for (const { on } of this.open) on.alive()
  }

  cut(why: StreamEnd = { reason: 'ended' }): void {
    for (const stream of this.open) {
      this.open.delete(stream)
      stream.on.ended(why)
    }
  }

  #send({ on }: FakeStream, seq: number): void {
    on.alive()
    on.message(this.#log[seq] ?? '', `e-${seq + 1}`)
    on.position(`e-${seq + 1}`)
  }
}

export const unauthorized = (): StreamEnd => ({
  refused: new BoardError(401, 'unauthorized', 'A bearer token is needed.'),
})

const seqOf = (id: string): number => Number(id.split('-')[1])

/** Runs each event as a task of its own; drops events once the stream is closed. */
class Tasks implements StreamEvents {
  isOver = false
  readonly #on: StreamEvents

  constructor(on: StreamEvents) {
    this.#on = on
  }

  opened = (renewAt: number) => this.#later(() => this.#on.opened(renewAt))
  alive = () => this.#later(() => this.#on.alive())
  retry = (ms: number) => this.#later(() => this.#on.retry(ms))
  message = (data: string, id: string | undefined) => this.#later(() => this.#on.message(data, id))
  position = (id: string) => this.#later(() => this.#on.position(id))
  ended = (why: StreamEnd) => this.#later(() => this.#on.ended(why))

  #later(task: () => void): void {
    queueMicrotask(() => {
      if (!this.isOver) task()
    })
  }
}
