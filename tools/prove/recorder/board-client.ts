// A client of the board that follows the protocol and does nothing else: it reads everything once,
// and from then on what each message points to. All that it sees is recorded.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Recorder } from './recorder.ts'
import type { System } from './system.ts'

type Message = { type: 'tasks-changed' } | { type: 'task-changed'; id: string } | { type: string }
const TASKS = '/tasks'
const SESSIONS = '/sessions'
const AGAIN_MS = 50
/** The end of a read: an edge that is frozen never answers. */
const READ_MS = 10_000
const POLL_MS = 2

export class BoardClient {
  readonly name: string
  /** What it knows by its reads alone. */
  readonly view = { tasks: new Map<string, number>(), sessions: new Map<string, number>() }
  readonly #system: System
  readonly #recorder: Recorder
  /** Routes to read, in this order. */
  readonly #wanted = new Set<string>()
  /** By route: the last list and its ETag. */
  readonly #kept = new Map<string, { tag: string; seen: Seen }>()
  /** Waits before each read. A slow client sees what a fast client should have seen before. */
  readonly #readsAfterMs: number
  #lastId: string | undefined
  #connection: AbortController | undefined
  #awayMs = 0
  #isMute = false
  #isClosed = false
  readonly #running: Promise<unknown>

  constructor(name: string, system: System, recorder: Recorder, { readsAfterMs = 0 } = {}) {
    this.#readsAfterMs = readsAfterMs
    this.name = name
    this.#system = system
    this.#recorder = recorder
    this.#running = Promise.all([this.#follow(), this.#readAll()])
  }

  get isIdle(): boolean {
    return this.#wanted.size === 0
  }

  /** Disconnects for this time, and returns with its last id. */
  leave(awayMs: number): void {
    this.#awayMs = awayMs
    this.#connection?.abort()
  }

  /** What it sees from now on is not recorded: the run is over. */
  mute(): void {
    this.#isMute = true
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#connection?.abort()
    await this.#running
  }

  #record(kind: string, line: Record<string, unknown>): void {
    if (!this.#isMute) this.#recorder.write({ kind, client: this.name, ...line })
  }

  async #follow(): Promise<void> {
    while (!this.#isClosed) {
      const connection = new AbortController()
      this.#connection = connection
      const resumes = this.#lastId === undefined ? {} : { 'Last-Event-ID': this.#lastId }
      try {
        const response = await this.#get('/events', resumes, connection.signal)
        if (!response.ok || !response.body) throw new Error(`${response.status}`)
        this.#record('connect', this.#lastId === undefined ? {} : { lastEventId: this.#lastId })
        try {
          await this.#readStream(response.body, connection.signal)
        } finally {
          this.#record('disconnect', {})
        }
      } catch (error) {
        // The edge is down, or leave() was called: connect again.
        if (!connection.signal.aborted) this.#record('unreachable', { error: String(error) })
      }
      await sleep(this.#awayMs || AGAIN_MS)
      this.#awayMs = 0
    }
  }

  async #readStream(body: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<void> {
    let text = ''
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      text += chunk
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      if (signal.aborted) return
      for (const block of blocks) this.#onBlock(block.split('\n'))
    }
  }

  #onBlock(lines: string[]): void {
    const field = (name: string) =>
      lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
    const id = field('id')
    const data = field('data')
    if (id === undefined && data === undefined) return
    const isFirst = this.#lastId === undefined
    this.#lastId = id ?? this.#lastId
    if (isFirst) this.#want(TASKS, SESSIONS)
    const own = id === undefined ? {} : { id }
    if (data === undefined) {
      this.#record('cursor', own)
      return
    }
    const message = JSON.parse(data) as Message
    this.#record('message', { ...own, data: message })
    if ('id' in message) this.#want(`${TASKS}/${encodeURIComponent(message.id)}`)
    else if (message.type === 'tasks-changed') this.#want(TASKS)
    // Sessions may have changed together with tasks, without a message of their own.
    this.#want(SESSIONS)
  }

  #want(...routes: string[]): void {
    for (const route of routes) {
      this.#wanted.delete(route)
      this.#wanted.add(route)
    }
  }

  async #readAll(): Promise<void> {
    while (!this.#isClosed) {
      const [route] = this.#wanted
      if (route === undefined) {
        await sleep(POLL_MS)
        continue
      }
      if (this.#readsAfterMs > 0) await sleep(this.#readsAfterMs)
      this.#wanted.delete(route)
      if (await this.#read(route)) continue
      if (!this.#wanted.has(route)) this.#wanted.add(route)
      await sleep(AGAIN_MS)
    }
  }

  /** False: there was no answer, so it is to be read again. */
  async #read(route: string): Promise<boolean> {
    const after = this.#lastId
    const line = { path: `/api${route}`, ...(after !== undefined && { after }) }
    const isWhole = route === TASKS || route === SESSIONS
    const kept = isWhole ? this.#kept.get(route) : undefined
    try {
      const headers: Record<string, string> = kept ? { 'If-None-Match': kept.tag } : {}
      const response = await this.#get(route, headers, AbortSignal.timeout(READ_MS))
      const { status } = response
      const seq = response.headers.get('X-Signalbox-Seq') ?? undefined
      const isSame = status === 304
      const seen = isSame ? kept?.seen : seenIn(route, status, (await response.json()) as Body)
      this.#record('read', { ...line, status, ...(seq && { seq }), isWhole, ...seen })
      if (status >= 500) return false
      const tag = response.headers.get('ETag')
      if (seen && tag) this.#kept.set(route, { tag, seen })
      if (seen) this.#apply(seen, isWhole)
      return true
    } catch (error) {
      this.#record('read', { ...line, status: 0, isWhole, error: String(error) })
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

  #get(route: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    const { edgeUrl, repo, tokens } = this.#system
    const url = `${edgeUrl}/api${route}?path=${encodeURIComponent(repo)}`
    const sent = { ...headers, authorization: `Bearer ${tokens.board}` }
    return fetch(url, { headers: sent, signal })
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
  if (route === TASKS && status === 200) {
    const rows = body.tasks?.map(({ id, title }) => [id, versionOf(title)] as const) ?? []
    return { tasks: Object.fromEntries(rows), statuses: statusesOf(body.tasks ?? []) }
  }
  if (route === SESSIONS && status === 200) {
    // A claim is in no file.
    const ofFiles = body.sessions?.filter(({ claim }) => claim === undefined) ?? []
    const rows = ofFiles.map(({ id, summary }) => [id, versionOf(summary)] as const)
    return { sessions: Object.fromEntries(rows) }
  }
  const id = decodeURIComponent(route.slice(TASKS.length + 1))
  if (status === 200) {
    return { tasks: { [id]: versionOf(body.title) }, statuses: statusesOf([body as Task]) }
  }
  const gone = { [id]: null }
  return body.code === 'unknown_task' ? { tasks: gone, statuses: gone } : {}
}

/** Of those that are not in a list nothing is known: they may be on the next page. */
const statusesOf = (tasks: readonly Task[]): Record<string, string | null> =>
  Object.fromEntries(
    tasks.flatMap(({ id, status, inMain, invalid }) =>
      invalid === undefined ? [[id, inMain === false ? null : status]] : [],
    ),
  )
