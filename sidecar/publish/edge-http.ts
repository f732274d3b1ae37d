// The edge over HTTP: what is sent, what an answer means, and how a message gets there: over a
// socket, or as a call where the edge is in this process.

import * as http from 'node:http'
import * as https from 'node:https'
import { type ChangesAnswer, type DueCommands, WIRE, wireProblem } from '../../worker/board/wire.ts'
import { messageOf } from '../../worker/shared/log.ts'
import { hideTokens } from '../../worker/shared/secrets.ts'
import type {
  CommandEdge,
  Edge,
  EdgeSocket,
  Failure,
  FailureReason,
  Reply,
  SocketEvents,
  StepAnswer,
} from './edge.ts'
import type { NoticePlan } from './notices.ts'

export interface EdgeHttpOptions {
  /** Base URL; a path in it stays in front of `api/`. */
  url: URL
  repo: string
  /** Asked at the first request and again after a 401 or 403, since tokens are rotated. */
  token: () => Promise<string>
  timeoutMs?: number
  /** Absent: over a socket. */
  transport?: Transport
  /** Absent: no rules are published, and no commands are run. */
  notices?: NoticePlan | undefined
  /** Called for every answer with a `Date`: how far the edge's clock is ahead of ours, ±1 s. */
  onSkew?: (skewMs: number) => void
}

export class EdgeHttp implements Edge, CommandEdge {
  readonly repo: string
  readonly #options: EdgeHttpOptions
  readonly #transport: Transport
  #token: string | undefined

  constructor(options: EdgeHttpOptions) {
    this.#options = options
    this.repo = options.repo
    this.#transport = options.transport ?? socketTransport(options.url, options.timeoutMs)
    // Node has it from version 22 on.
    if (options.transport || typeof WebSocket === 'undefined') return
    this.attach = (run, on) => {
      const target = this.#target('sidecar')
      target.searchParams.set('run', String(run))
      return dial(target, `Bearer ${this.#token}`, {
        ...on,
        text: (text) => (text === 'notices' ? options.notices?.due(this) : on.text(text)),
      })
    }
  }

  readonly attach?: (run: number, on: SocketEvents) => EdgeSocket

  root = async (request: object): Promise<Reply<StepAnswer<'root'>>> => {
    const { notices } = this.#options
    const reply = await this.#send<StepAnswer<'root'>>(
      'sync',
      { ...request, ...(notices && { notices: notices.rules }) },
      (a) => a.step === 'root' && typeof a.run === 'number',
    )
    if (reply.ok && reply.value.notices) notices?.due(this)
    return reply
  }

  buckets = (request: object): Promise<Reply<StepAnswer<'buckets'>>> =>
    this.#send('sync', request, (a) => a.step === 'buckets' && Array.isArray(a.differ))

  entries = (request: object): Promise<Reply<StepAnswer<'entries'>>> =>
    this.#send('sync', request, (a) => a.step === 'entries' && Array.isArray(a.lack))

  end = (request: object): Promise<Reply<StepAnswer<'end'>>> =>
    this.#send('sync', request, (a) => a.step === 'end')

  changes = (request: object): Promise<Reply<ChangesAnswer>> =>
    this.#send('changes', request, (a) => typeof a.seq === 'string')

  report = (report: object): Promise<Reply<unknown>> => this.#send('boards', report, () => true)

  dueCommands = (): Promise<Reply<DueCommands>> =>
    this.#send('notices/due', undefined, (a) => Array.isArray(a.commands))

  commandRan = (end: object): Promise<Reply<unknown>> => this.#send('notices/due', end, () => true)

  /** Whether the edge is one of this version and takes the token for publishing. */
  probe = async (): Promise<Reply<unknown>> => {
    const reply = await this.#send('sync', { step: 'probe' }, (a) => a.step === 'probe')
    // An edge of the first version knows no such step.
    return !reply.ok && reply.code === 'invalid_request' ? otherVersion(1) : reply
  }

  close(): void {
    this.#transport.close()
  }

  async #send<T>(
    route: 'sync' | 'changes' | 'boards' | 'notices/due',
    /** Undefined: something is read. */
    request: object | undefined,
    isAnswer: (body: Record<string, unknown>) => boolean,
  ): Promise<Reply<T>> {
    const { token } = this.#options
    try {
      if (this.#token === undefined) this.#token = await token()
    } catch (error) {
      return fail('unauthorized', `The token could not be read: ${messageOf(error)}`)
    }
    const target = this.#target(route)
    const body = request && Buffer.from(JSON.stringify({ wire: WIRE, ...request }))
    let answer: Answer
    try {
      const method = body ? (route === 'boards' ? 'PUT' : 'POST') : 'GET'
      answer = await this.#transport.send(method, target, `Bearer ${this.#token}`, body)
    } catch (error) {
      if (isTimeout(error)) return fail('timeout', `${target.origin} did not answer in time.`)
      return fail('network', `${target.origin} cannot be reached: ${messageOf(error)}`)
    }
    this.#noteSkew(answer)
    if (answer.status === 401 || answer.status === 403) this.#token = undefined
    return understand<T>(answer, isAnswer)
  }

  #target(route: string): URL {
    const { url, repo } = this.#options
    const base = url.href.endsWith('/') ? url.href : `${url.href}/`
    return new URL(`api/${route}?path=${encodeURIComponent(repo)}`, base)
  }

  #noteSkew(answer: Answer): void {
    const date = Date.parse(answer.headers.date ?? '')
    // The header has whole seconds: half of one is the best guess for the rest.
    if (!Number.isNaN(date)) this.#options.onSkew?.(date + 500 - Date.now())
  }
}

function understand<T>(
  { status, headers, text }: Answer,
  isAnswer: (body: Record<string, unknown>) => boolean,
): Reply<T> {
  const body = parse(text)
  if (status >= 200 && status < 300) {
    const wire = typeof body?.wire === 'number' ? body.wire : 1
    if (body && isAnswer(body)) {
      return wire === WIRE ? { ok: true, value: body as T } : otherVersion(wire)
    }
    return fail('malformed', 'The answer is not that of a Signalbox edge: check the URL.', {
      status,
    })
  }
  const code = typeof body?.code === 'string' ? body.code : undefined
  const message = typeof body?.error === 'string' ? body.error : `The edge answered ${status}.`
  const wait = retryAfterMs(headers['retry-after'])
  return fail(reasonOf(status, code), message, {
    status,
    ...(code !== undefined && { code }),
    ...(wait !== undefined && { retryAfterMs: wait }),
  })
}

/** An edge whose answers are those of another version. */
const otherVersion = (wire: number): Failure =>
  fail('version', wireProblem(wire, WIRE), { code: 'wire_version' })

function reasonOf(status: number, code: string | undefined): FailureReason {
  if (code === 'wire_version') return 'version'
  if (status === 401 || status === 403) return 'unauthorized'
  if (status === 409) return 'conflict'
  if (status === 413) return 'too_large'
  if (status === 408 || status === 429 || status >= 500) return 'busy'
  // A redirect is not followed: it would carry the token to another host.
  return status >= 400 ? 'refused' : 'malformed'
}

/** `Retry-After` in seconds or as a date; undefined when it is neither. */
function retryAfterMs(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

/** What an answer or an error says may be long, and goes into the log. */
const MAX_MESSAGE_CHARS = 500

const fail = (reason: FailureReason, message: string, more: Partial<Failure> = {}): Failure => ({
  ok: false,
  reason,
  message: hideTokens(message).slice(0, MAX_MESSAGE_CHARS),
  ...more,
})

const isTimeout = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'TimeoutError'

export interface Answer {
  status: number
  /** The two that matter, in lower case. */
  headers: { date?: string | undefined; 'retry-after'?: string | undefined }
  text: string
}

type Method = 'GET' | 'POST' | 'PUT'

interface Transport {
  /** Rejects with a TimeoutError without an answer in time, else with why there can be none. */
  send(method: Method, target: URL, authorization: string, body?: Buffer): Promise<Answer>
  close(): void
}

const TIMEOUT_MS = 15_000
/** An answer is a list of keys at most. A larger one does not come from the edge. */
const MAX_ANSWER_BYTES = 32 << 20

const headersOf = (authorization: string, body: Buffer | undefined) => ({
  authorization,
  ...(body && { 'content-type': 'application/json', 'content-length': String(body.length) }),
})

/** The boards of a process share connections: 250 that start take 15, and each is a handshake. */
const AGENTS = {
  http: new http.Agent({ keepAlive: true }),
  https: new https.Agent({ keepAlive: true }),
}

/** Where one of them is dead the others are, mostly: the machine slept, or the edge is another. */
function dropIdle({ freeSockets }: http.Agent): void {
  for (const socket of Object.values(freeSockets).flat()) socket?.destroy()
}

/**
 * Not fetch: it closes a connection after 4 s of quiet unless the server says otherwise, so almost
 * every save would pay for a new TCP and TLS handshake, several round trips to a far edge; and a
 * call through it takes twice as long (0.58 ms against 0.26 ms on one machine).
 */
function socketTransport({ protocol }: URL, timeoutMs = TIMEOUT_MS): Transport {
  const { request } = protocol === 'https:' ? https : http
  const agent = protocol === 'https:' ? AGENTS.https : AGENTS.http
  const closed = new AbortController()

  const send = (
    method: Method,
    target: URL,
    authorization: string,
    body: Buffer | undefined,
    isFirst: boolean,
  ) => {
    const timeout = AbortSignal.timeout(timeoutMs)
    return new Promise<Answer>((resolve, reject) => {
      const sent = request(target, {
        method,
        agent,
        signal: AbortSignal.any([timeout, closed.signal]),
        headers: headersOf(authorization, body),
      })
      const onError = (error: unknown): void => {
        if (!closed.signal.aborted) dropIdle(agent)
        if (timeout.aborted) reject(timeout.reason)
        // The edge closed a kept connection just as this was written to it. That is no outage, and
        // a repeat is harmless: the edge applies each (run, batch) once.
        else if (isFirst && sent.reusedSocket && !closed.signal.aborted)
          resolve(send(method, target, authorization, body, false))
        else reject(error)
      }
      sent.on('response', (response) => void whole(response).then(resolve, onError))
      sent.on('error', onError)
      sent.end(body)
    })
  }
  return {
    send: (method, target, authorization, body) => send(method, target, authorization, body, true),
    close: () => closed.abort(),
  }
}

function whole(response: http.IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = []
  let bytes = 0
  return new Promise((resolve, reject) => {
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > MAX_ANSWER_BYTES) response.destroy(new Error('The answer never ends.'))
      else chunks.push(chunk)
    })
    response.on('error', reject)
    response.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8')
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text })
    })
  })
}

/** A browser's takes no headers, Node's does. Why one was refused, it does not say. */
type WithHeaders = new (url: URL, options: { headers: Record<string, string> }) => WebSocket

function dial(target: URL, authorization: string, on: SocketEvents): EdgeSocket {
  target.protocol = target.protocol === 'https:' ? 'wss:' : 'ws:'
  const socket = new (WebSocket as unknown as WithHeaders)(target, { headers: { authorization } })
  let isOver = false
  socket.addEventListener('open', () => !isOver && on.open())
  socket.addEventListener('message', ({ data }) => {
    if (!isOver && typeof data === 'string') on.text(data)
  })
  socket.addEventListener('close', () => {
    if (!isOver) on.closed()
    isOver = true
  })
  return {
    send: (text) => socket.send(text),
    close() {
      isOver = true
      socket.close()
    },
  }
}

/** The edge of this process, which cannot be away: no timeout, and nothing to close. */
export function callTransport(edge: (request: Request) => Promise<Response>): Transport {
  return {
    async send(method, target, authorization, body) {
      const headers = headersOf(authorization, body)
      const response = await edge(new Request(target, { method, headers, ...(body && { body }) }))
      const retryAfter = response.headers.get('retry-after') ?? undefined
      return {
        status: response.status,
        headers: { 'retry-after': retryAfter },
        text: await response.text(),
      }
    },
    close: () => undefined,
  }
}
