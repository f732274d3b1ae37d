// HTTP requests of a program. They follow no redirect: a 307 would carry a token, or the secret of
// a claim, to another host.

import type { IncomingMessage, RequestOptions } from 'node:http'
import type { Problem } from '../libraries/api/types.ts'
import { BoardError } from '../libraries/client/types.ts'
import { errorCode } from '../worker/shared/file-errors.ts'
import { edgeHeaders } from '../worker/shared/outgoing.ts'

const TIMEOUT_MS = 10_000
/** Our own answers are shorter. The rest is still read, so that the connection is free again. */
const MAX_SHOWN_CHARS = 80

export type Answer =
  | {
      ok: true
      status: number
      text: string
      /** How far the other clock is ahead of ours; undefined: there is no Date header. */
      skewMs: number | undefined
    }
  /** No answer. `why` is short, and contains no part of the request. */
  | { ok: false; why: string }

/** One request and its result, as data. */
export async function ask(
  url: string,
  init: RequestInit = {},
  timeoutMs = TIMEOUT_MS,
): Promise<Answer> {
  const sentAt = Date.now()
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal })
    const skewMs = skewOf(response.headers, sentAt, Date.now())
    return { ok: true, status: response.status, text: await response.text(), skewMs }
  } catch (error) {
    return {
      ok: false,
      why: signal.aborted ? `no answer within ${timeoutMs / 1_000} s` : whyOf(error),
    }
  }
}

/** The first line of an answer, cut if it is long. */
export const firstLineOf = (text: string): string => {
  const [line = ''] = text.trim().split('\n', 1)
  return line.length > MAX_SHOWN_CHARS ? `${line.slice(0, MAX_SHOWN_CHARS)}…` : line
}

type Refusal = Omit<Problem, 'code'> & { code: string }

/** What the edge refused, with its whole answer. No answer is a BoardError `unreachable`. */
export class EdgeRefused extends BoardError {
  readonly problem: Refusal

  constructor(status: number, problem: Refusal) {
    super(status, problem.code, problem.error)
    this.problem = problem
  }
}

export interface EdgeAddress {
  /** Without a trailing slash. */
  url: string
  token: string | (() => Promise<string>)
}

/** As an EdgeAddress has it. */
export const addressOf = ({ href }: URL): string => href.replace(/(?<!\/)\/+$/, '')

interface EdgeRequest {
  /** Absent: POST with a body, else GET. */
  method?: 'POST' | 'PUT' | 'DELETE'
  body?: object | undefined
  /** The board that it is about. Absent: the only one of the token, or none. */
  board?: string
  timeoutMs?: number
}

/**
 * A request to a route below /api. Its body is to be read, or let go. Throws BoardError, or what
 * `token` threw.
 */
export async function requestEdge(
  { url, token }: EdgeAddress,
  route: string,
  { body, method, board, timeoutMs = TIMEOUT_MS }: EdgeRequest = {},
): Promise<IncomingMessage> {
  // Where it cannot be read, that has a sentence of its own.
  const authorization = `Bearer ${typeof token === 'string' ? token : await token()}`
  const target = new URL(`${url}/api${route}`)
  if (board !== undefined) target.searchParams.set('path', board)
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const options = {
      method: method ?? (body ? 'POST' : 'GET'),
      headers: edgeHeaders(authorization, body !== undefined),
      signal,
    }
    const response = await send(target, options, body && JSON.stringify(body))
    const { statusCode: status = 0 } = response
    if (status >= 200 && status < 300) return response
    throw new EdgeRefused(status, refusalIn(await textOf(response, url), status))
  } catch (error) {
    if (error instanceof BoardError) throw error
    const why = signal.aborted ? `no answer within ${timeoutMs / 1_000} s` : whyOf(error)
    throw new BoardError(0, 'unreachable', `No Signalbox answers at ${url} (${why}).`)
  }
}

/**
 * As fetch, which Node loads at its first call: a quarter of the processor's time of a command that
 * agents run for each task. An `import` of node:http would load it, too, for one of its exports.
 */
async function send(url: URL, options: RequestOptions, body?: string): Promise<IncomingMessage> {
  const name = url.protocol === 'https:' ? 'node:https' : 'node:http'
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const request = process.getBuiltinModule(name).request(url, options)
  // No second request comes as a rule. One that comes after a while must not meet its end.
  request.shouldKeepAlive = false
  request
    .once('response', resolve)
    .once('error', reject)
    // Without an error where what answers is no HTTP any more.
    .once('close', () => reject(new Error('closed')))
    .end(body)
  return await promise
}

async function textOf(response: IncomingMessage, url: string): Promise<string> {
  let text = ''
  for await (const part of partsOf(response, url)) text += part
  return text
}

/** Throws BoardError where it breaks off: what came so far is no answer. */
export async function* partsOf(response: IncomingMessage, url: string): AsyncGenerator<string> {
  try {
    yield* response.setEncoding('utf8')
  } catch {
    throw new BoardError(0, 'unreachable', `The answer of ${url} broke off.`)
  }
}

/** The answer as JSON. `parse` throws where it is none of this route. */
export async function askEdge<Answer>(
  edge: EdgeAddress,
  route: string,
  request: EdgeRequest = {},
  parse?: (body: unknown) => Answer,
): Promise<Answer> {
  const response = await requestEdge(edge, route, request)
  return answerIn(await textOf(response, edge.url), response, edge.url, parse)
}

/** Throws BoardError. */
export function answerIn<Answer>(
  text: string,
  { statusCode: status = 0 }: IncomingMessage,
  url: string,
  parse: (body: unknown) => Answer = (body) => body as Answer,
): Answer {
  try {
    return parse(JSON.parse(text))
  } catch {
    throw new BoardError(
      status,
      'invalid_answer',
      `What answered ${status} at ${url} is no Signalbox.`,
    )
  }
}

/** For the end of a command: the sentence of a BoardError. */
export function failureIn(error: unknown): { failure: string } {
  if (!(error instanceof BoardError)) throw error
  return { failure: error.message }
}

function refusalIn(text: string, status: number): Refusal {
  try {
    const { error, code, ...fields } = JSON.parse(text) as Problem
    if (typeof error === 'string') return { ...fields, error, code: String(code) }
  } catch {
    // It is no answer of ours.
  }
  return { error: `The edge answered ${status}.`, code: 'internal' }
}

/** The Date header has whole seconds and a time between `sentAt` and `receivedAt`. */
function skewOf(headers: Headers, sentAt: number, receivedAt: number): number | undefined {
  // A cache sends the date of the cached answer, and its age.
  const ageMs = Number(headers.get('age') ?? 0) * 1_000
  const theirs = Date.parse(headers.get('date') ?? '') + ageMs + 500
  return Number.isNaN(theirs) ? undefined : theirs - (sentAt + receivedAt) / 2
}

/** fetch reports only that it failed; the reason is in its cause, which may have several errors. */
function whyOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause
  return errorCode(first) || (first instanceof Error ? first.message : String(first))
}
