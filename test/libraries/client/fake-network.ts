// A fake edge and network. A test decides whether requests succeed, hang, fail or break off.

import { isDeepStrictEqual } from 'node:util'
import type { BoardStatus } from '../../../libraries/api/types.ts'
import { settle } from '../../../libraries/testing/fake-clock.ts'

type Answer = () => Response | Promise<Response>

export class FakeNetwork {
  /** Routes in the order of their requests, without the query. */
  readonly requests: string[] = []
  /** The open streams. */
  readonly streams = new Set<ReadableStreamDefaultController<Uint8Array>>()
  /** The ids that the streams asked to resume after. */
  readonly resumed: (string | null)[] = []
  /** Route → a response that replaces the normal one. */
  readonly overrides = new Map<string, Answer>()
  /** Holds responses back until `deliver`. They contain the value at the time of the request. */
  isSlow = false
  /** By any clock. As it is here, the sidecar has reported just before each question. */
  status: () => ReturnType<typeof statusAt> = () => ({ ...statusAt(0), streams: ++this.#tags })
  #underWay: (() => void)[] = []
  readonly #values = new Map<string, { value: unknown; tag: number }>()
  #tags = 0
  #seq = 0
  #changes = 0

  constructor() {
    this.set('/tasks', { tasks: [] })
    this.set('/sessions', { sessions: [] })
  }

  /** Sets the value of a route, with a new tag. */
  set(route: string, value: unknown): void {
    this.#changes++
    this.#values.set(route, { value, tag: ++this.#tags })
  }

  /** Sends a message to every open stream, and waits for its immediate effects. */
  async publish(message: object): Promise<void> {
    this.#changes++
    await this.#send(`id: e-${++this.#seq}\ndata: ${JSON.stringify(message)}\n\n`)
  }

  ping = () => this.#send(': ping\n\n')

  async cut(): Promise<void> {
    for (const stream of this.streams) stream.close()
    this.streams.clear()
    await settle()
  }

  fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const route = new URL(String(input)).pathname.slice('/api'.length)
    this.requests.push(route)
    const { promise, reject } = Promise.withResolvers<Response>()
    init?.signal?.addEventListener('abort', () => reject(new TypeError('aborted')))
    const answer = this.overrides.get(route) ?? (() => this.#answer(route, init))
    const response = answer()
    const { promise: delivered, resolve } = Promise.withResolvers<void>()
    if (this.isSlow && route !== '/events') this.#underWay.push(resolve)
    else resolve()
    return await Promise.race([promise, delivered.then(() => response)])
  }

  deliver(): void {
    for (const resolve of this.#underWay.splice(0)) resolve()
  }

  /** Streams stay open, but no more data arrives. */
  silence(): void {
    this.streams.clear()
  }

  #answer(route: string, init: RequestInit | undefined): Response {
    if (route === '/events') return this.#open(init)
    if (route === '/status') this.#setStatus()
    const found = this.#values.get(route)
    if (!found) return refusal(404, 'unknown_task')
    const ETag = `W/"${found.tag}"`
    const isKnown = new Headers(init?.headers).get('If-None-Match') === ETag
    const headers = { ETag, 'X-Signalbox-Seq': `e-${this.#changes}` }
    return isKnown
      ? new Response(null, { status: 304, headers })
      : Response.json(found.value, { headers })
  }

  /** As at the edge, the tag does not cover `now`. */
  #setStatus(): void {
    const value = this.status()
    const known = this.#values.get('/status')
    const isSame = isDeepStrictEqual({ ...(known?.value as object), now: value.now }, value)
    this.#values.set('/status', { value, tag: known && isSame ? known.tag : ++this.#tags })
  }

  #open(init: RequestInit | undefined): Response {
    this.resumed.push(new Headers(init?.headers).get('Last-Event-ID'))
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.streams.add(controller)
        controller.enqueue(encoder.encode(`: connected\n\nid: e-${this.#seq}\n\n`))
        init?.signal?.addEventListener('abort', () => {
          if (this.streams.delete(controller)) controller.error(new TypeError('aborted'))
        })
      },
    })
    return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } })
  }

  async #send(text: string): Promise<void> {
    for (const stream of this.streams) stream.enqueue(encoder.encode(text))
    await settle()
    await settle()
  }
}

const encoder = new TextEncoder()

type SidecarState = BoardStatus['sidecar']['state']

/** One report may be late. */
const SILENT_MS = 45_000

/** The status of an edge by its clock, with the last report of its sidecar. All in ms. */
export const statusAt = (now: number, seenAt = now, currentAt = seenAt) => ({
  store: 'present' as 'present' | 'missing',
  sidecar: {
    lastSeenAt: iso(seenAt),
    state: (now - seenAt < SILENT_MS ? 'running' : 'offline') as SidecarState,
  },
  currentAt: iso(currentAt),
  now: iso(now),
  streams: 1,
})

const iso = (ms: number): string => new Date(ms).toISOString()

export const refusal = (status: number, code: string): Response =>
  Response.json({ error: 'No.', code }, { status })

/** Never answers. */
export const hangs = (): Promise<Response> => new Promise(() => undefined)
