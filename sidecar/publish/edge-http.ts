// The edge over HTTP: what is sent, and what an answer means.

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
import { type Answer, dial, socketTransport, type Transport } from './transport.ts'

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
  /** As it was last read: a socket is opened after a request. */
  #token = ''
  /** It is read again before the next request. */
  #isTokenOld: boolean = true

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
      if (this.#isTokenOld) this.#token = await token()
      this.#isTokenOld = false
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
    if (answer.status === 401 || answer.status === 403) this.#isTokenOld = true
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
