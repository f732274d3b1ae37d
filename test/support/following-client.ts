// A client that knows the protocol alone: it reads the list once, and then only what changed after
// each message. It may leave and resume, and never reads because nothing came.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Task } from '../../worker/board/wire.ts'

const RETRY_MS = 200

interface Answer {
  tasks: Task[]
  gone?: string[]
  seq: string
}

/** Asks the edge, which may be away. */
export type Ask = (route: string, init: RequestInit) => Promise<Response>

export class FollowingClient {
  /** What it shows. */
  readonly tasks = new Map<string, Task>()
  readonly #ask: Ask
  #seq: string | undefined
  #lastEventId: string | undefined
  /** Messages for which the list was not read yet. */
  #isBehind = true
  #reading: Promise<void> | undefined
  #connection = new AbortController()
  #awayMs = RETRY_MS
  #isClosed = false
  readonly #ended: Promise<void>

  constructor(ask: Ask) {
    this.#ask = ask
    this.#ended = this.#follow()
  }

  /** Loses its connection, and resumes after this time. */
  leave(forMs = RETRY_MS): void {
    this.#awayMs = forMs
    this.#connection.abort()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.leave(0)
    await this.#ended
    await this.#reading
  }

  async #follow(): Promise<void> {
    while (!this.#isClosed) {
      this.#connection = new AbortController()
      // Aborted, or the edge is away.
      await this.#listen().catch(() => undefined)
      await sleep(this.#awayMs)
      this.#awayMs = RETRY_MS
    }
  }

  async #listen(): Promise<void> {
    const headers = this.#lastEventId === undefined ? {} : { 'Last-Event-ID': this.#lastEventId }
    const { signal } = this.#connection
    const response = await this.#ask('/events', { headers, signal })
    if (!response.ok || !response.body) return
    let text = ''
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      const blocks = `${text}${chunk}`.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) this.#take(block)
    }
  }

  #take(block: string): void {
    this.#lastEventId = /^id: (.*)$/m.exec(block)?.[1] ?? this.#lastEventId
    if (/^data: /m.test(block)) this.#isBehind = true
    // The first list is read when the stream has its place, so that nothing is between the two.
    if (this.#isBehind && this.#lastEventId !== undefined) this.#reading ??= this.#read()
  }

  async #read(): Promise<void> {
    while (this.#isBehind && !this.#isClosed) {
      this.#isBehind = false
      const isRead = await this.#readOnce().catch(() => false)
      if (isRead) continue
      this.#isBehind = true
      await sleep(RETRY_MS)
    }
    this.#reading = undefined
  }

  async #readOnce(): Promise<boolean> {
    const since = encodeURIComponent(this.#seq ?? 'nothing')
    const response = await this.#ask(`/tasks?since=${since}`, {})
    if (!response.ok) return false
    const { tasks, gone, seq } = (await response.json()) as Answer
    if (gone === undefined) this.tasks.clear()
    for (const id of gone ?? []) this.tasks.delete(id)
    for (const task of tasks) this.tasks.set(task.id, task)
    this.#seq = seq
    return true
  }
}
