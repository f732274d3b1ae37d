// A stream of one repository without a network: what a test tells goes to whoever has it open.

import type { StreamEnd, StreamEvents, StreamSource } from '../../client/stream.ts'
import { BoardError } from '../../client/types.ts'

export interface FakeStream {
  lastEventId: string | undefined
  on: StreamEvents
}

export class FakeStreams {
  /** Open now. */
  readonly open = new Set<FakeStream>()
  /** Every dial there was. */
  readonly dials: FakeStream[] = []
  readonly #log: string[] = []
  /** What becomes of the next dials; undefined: they are joined. */
  end: StreamEnd | undefined
  renewAt = Number.POSITIVE_INFINITY
  /** Undefined: it says nothing of it. */
  retryMs: number | undefined

  /** For one that dials; `run` runs its tasks. */
  source(run: (task: () => void) => void = queueMicrotask, seesPings = true): StreamSource {
    return {
      seesPings,
      open: (lastEventId, on) => {
        const tasks = new Tasks(on, run)
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
        stream.on.place(`e-${this.#log.length}`)
        stream.on.opened(this.renewAt)
        return { close }
      },
    }
  }

  /** Appends a message and sends it to every open stream. */
  tell(id: string): void {
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
    on.told(this.#log[seq] ?? '', `e-${seq + 1}`)
    on.place(`e-${seq + 1}`)
  }
}

export const unauthorized = (): StreamEnd => ({
  refused: new BoardError(401, 'unauthorized', 'A bearer token is needed.'),
})

const seqOf = (id: string): number => Number(id.split('-')[1])

/** Events as tasks of their tab; none once the stream is closed. */
class Tasks implements StreamEvents {
  isOver = false
  readonly #on: StreamEvents
  readonly #run: (task: () => void) => void

  constructor(on: StreamEvents, run: (task: () => void) => void) {
    this.#on = on
    this.#run = run
  }

  opened = (renewAt: number) => this.#later(() => this.#on.opened(renewAt))
  alive = () => this.#later(() => this.#on.alive())
  retry = (ms: number) => this.#later(() => this.#on.retry(ms))
  told = (data: string, id: string | undefined) => this.#later(() => this.#on.told(data, id))
  place = (id: string) => this.#later(() => this.#on.place(id))
  ended = (why: StreamEnd) => this.#later(() => this.#on.ended(why))

  #later(task: () => void): void {
    this.#run(() => {
      if (!this.isOver) task()
    })
  }
}
