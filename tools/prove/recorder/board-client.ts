// A client of the board that follows the protocol and does nothing else: it reads everything once,
// and from then on what each message points to. All that it sees is recorded.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Recorder } from './recorder.ts'
import type { System } from './system.ts'

const TASKS = '/tasks'
const SESSIONS = '/sessions'
const AGAIN_MS = 50
/** The end of a read: an edge that is frozen never answers. */
const READ_MS = 10_000

interface Plan {
  name: string
  system: System
  recorder: Recorder
  /** Waits before each read. A slow client sees what a fast client should have seen before. */
  readsAfterMs: number
}

export class BoardClient {
  /** What it knows by its reads alone. */
  readonly view = { tasks: new Map<string, number>(), sessions: new Map<string, number>() }
  readonly #plan: Plan
  /** Routes to read, in this order. */
  readonly #wanted = new Set<string>()
  /** Resolves when there is one. */
  #isWanted = Promise.withResolvers<void>()
  /** By route: the last list and its ETag. */
  readonly #kept = new Map<string, { tag: string; seen: Seen }>()
  #lastId: string | undefined
  #connection: AbortController | undefined
  #awayMs = 0
  #isClosed = false
  readonly #running: Promise<unknown>

  constructor(plan: Plan) {
    this.#plan = plan
    this.#running = Promise.all([this.#follow(), this.#readAll()])
  }

  get name(): string {
    return this.#plan.name
  }

  get isIdle(): boolean {
    return this.#wanted.size === 0
  }

  /** Disconnects for this time, and returns with its last id. */
  leave(awayMs: number): void {
    this.#awayMs = awayMs
    this.#connection?.abort()
  }

  /** What it sees from now on is not recorded. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#isWanted.resolve()
    this.#connection?.abort()
    await this.#running
  }

  #record(kind: string, line: Record<string, unknown>): void {
    const { name: client, recorder } = this.#plan
    if (!this.#isClosed) recorder.write({ kind, client, ...line })
  }

  async #follow(): Promise<void> {
    while (!this.#isClosed) {
      this.#connection = new AbortController()
      const { signal } = this.#connection
      const lastEventId = this.#lastId
      const headers = lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId }
      try {
        const response = await this.#plan.system.askBoard('/events', { headers, signal })
        if (!response.ok || !response.body) throw new Error(`${response.status}`)
        this.#record('connect', { lastEventId })
        try {
          let text = ''
          for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
            const blocks = (text + chunk).split('\n\n')
            text = blocks.pop() ?? ''
            if (signal.aborted) break
            for (const block of blocks) this.#onBlock(block)
          }
        } finally {
          this.#record('disconnect', {})
        }
      } catch (error) {
        // The edge is down, or leave() was called: connect again.
        if (!signal.aborted) this.#record('unreachable', { error: String(error) })
      }
      await sleep(this.#awayMs || AGAIN_MS)
      this.#awayMs = 0
    }
  }

  #onBlock(block: string): void {
    const [id, data] = [/^id: (.*)$/m, /^data: (.*)$/m].map((line) => line.exec(block)?.[1])
    if (id === undefined && data === undefined) return
    const isFirst = this.#lastId === undefined
    this.#lastId = id ?? this.#lastId
    if (isFirst) this.#want(TASKS, SESSIONS)
    if (data === undefined) {
      this.#record('cursor', { id })
      return
    }
    const message = JSON.parse(data) as { type: string; id?: string }
    this.#record('message', { id, data: message })
    if (message.id !== undefined) this.#want(`${TASKS}/${encodeURIComponent(message.id)}`)
    else if (message.type === 'tasks-changed') this.#want(TASKS)
    // Sessions may have changed together with tasks, without a message of their own.
    this.#want(SESSIONS)
  }

  #want(...routes: string[]): void {
    for (const route of routes) {
      this.#wanted.delete(route)
      this.#wanted.add(route)
    }
    this.#isWanted.resolve()
  }

  async #readAll(): Promise<void> {
    while (!this.#isClosed) {
      const [route] = this.#wanted
      if (route === undefined) {
        this.#isWanted = Promise.withResolvers()
        await this.#isWanted.promise
        continue
      }
      await sleep(this.#plan.readsAfterMs)
      this.#wanted.delete(route)
      if (await this.#read(route)) continue
      // In its place, unless a message has asked for it meanwhile.
      this.#wanted.add(route)
      await sleep(AGAIN_MS)
    }
  }

  /** False: there was no answer, so it is to be read again. */
  async #read(route: string): Promise<boolean> {
    const isWhole = route === TASKS || route === SESSIONS
    const line = { path: `/api${route}`, after: this.#lastId, isWhole }
    const kept = isWhole ? this.#kept.get(route) : undefined
    try {
      const headers: Record<string, string> = kept ? { 'If-None-Match': kept.tag } : {}
      const signal = AbortSignal.timeout(READ_MS)
      const response = await this.#plan.system.askBoard(route, { headers, signal })
      const { status } = response
      const seq = response.headers.get('X-Signalbox-Seq') ?? undefined
      const isSame = status === 304
      const seen = isSame ? kept?.seen : seenIn(route, status, (await response.json()) as Body)
      this.#record('read', { ...line, status, seq, ...seen })
      if (status >= 500) return false
      const tag = response.headers.get('ETag')
      if (seen && tag) this.#kept.set(route, { tag, seen })
      if (seen) this.#apply(seen, isWhole)
      return true
    } catch (error) {
      this.#record('read', { ...line, status: 0, error: String(error) })
      return false
    }
  }

  #apply(seen: Seen, isWhole: boolean): void {
    for (const what of ['tasks', 'sessions'] as const) {
      const versions = seen[what]
      if (!versions) continue
      if (isWhole) this.view[what].clear()
      for (const [id, version] of Object.entries(versions)) {
        if (version === null) this.view[what].delete(id)
        else this.view[what].set(id, version)
      }
    }
  }
}

type Seen = Partial<Record<'tasks' | 'sessions', Record<string, number | null>>> & {
  statuses?: Record<string, string | null>
}
type Task = { id: string; title: string; status: string; inMain?: false; invalid?: string }
type Session = { id: string; summary?: string; claim?: object }
type Body = { tasks?: Task[]; sessions?: Session[]; code?: string } & Partial<Task>

const versionOf = (text = ''): number => Number(text.slice(1))

function seenIn(route: string, status: number, body: Body): Seen {
  const id = decodeURIComponent(route.slice(TASKS.length + 1))
  const gone = { [id]: null }
  if (status !== 200) return body.code === 'unknown_task' ? { tasks: gone, statuses: gone } : {}
  if (route === SESSIONS) {
    // A claim is in no file.
    const ofFiles = body.sessions?.filter(({ claim }) => claim === undefined) ?? []
    const rows = ofFiles.map((it) => [it.id, versionOf(it.summary)] as const)
    return { sessions: Object.fromEntries(rows) }
  }
  const tasks = route === TASKS ? (body.tasks ?? []) : [body as Task]
  const rows = tasks.map((it) => [it.id, versionOf(it.title)] as const)
  // Of those that are not in a list nothing is known: they may be on the next page.
  const statuses = tasks.flatMap(({ id, status, inMain, invalid }) =>
    invalid === undefined ? [[id, inMain === false ? null : status] as const] : [],
  )
  return { tasks: Object.fromEntries(rows), statuses: Object.fromEntries(statuses) }
}
