// The edge's API for the page: JSON in and out, authenticated by the cookie. Failures are
// ApiProblems.

import { words } from '../words.ts'

/** A failed request, with the edge's own sentence. `code` is stable. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem'
  readonly code: string
  readonly status: number
  /** The payment that was stored even though the request failed. */
  readonly transactionId: string | undefined

  constructor(status: number, code: string, sentence: string, transactionId?: string) {
    super(sentence)
    this.status = status
    this.code = code
    this.transactionId = transactionId
  }
}

interface RequestOptions {
  method?: 'GET' | 'POST' | 'DELETE'
  body?: unknown
  headers?: Readonly<Record<string, string>>
}

/** Returns the JSON. Throws ApiProblem, with the code `unreachable` if there was no response. */
export async function request<Body>(path: string, options: RequestOptions = {}): Promise<Body> {
  const response = await send(path, options)
  if (response.status === 204) return undefined as Body
  const json: unknown = await response.json().catch(() => undefined)
  if (response.ok && json !== undefined) return json as Body
  throw problemOf(response.status, json)
}

/** The problem of an unsuccessful response; `body` is its JSON, if it has any. */
export function problemOf(status: number, body: unknown): ApiProblem {
  const { code, error, transactionId } = (body ?? {}) as Record<string, string | undefined>
  return new ApiProblem(status, code ?? 'internal', error ?? `${status}`, transactionId)
}

/** The problem of a `fetch` that threw. */
export const unreachable = (error: unknown): ApiProblem =>
  new ApiProblem(0, 'unreachable', String(error))

async function send(path: string, { method = 'GET', body, headers }: RequestOptions) {
  try {
    return await fetch(path, {
      method,
      headers: {
        ...headers,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  } catch (error) {
    throw unreachable(error)
  }
}

export interface ReadResult<Body> {
  body: Body
  /** False: `body` is the same object as before. */
  isNew: boolean
}

export type ConditionalRead<Body> = (path: string, signal: AbortSignal) => Promise<ReadResult<Body>>

/**
 * Repeats reads of one path with its ETag, so that an unchanged body is not sent again. Rejects
 * with an ApiProblem, as `request` does.
 */
export function conditionalRead<Body>(send: typeof fetch): ConditionalRead<Body> {
  let cached: { path: string; tag: string; body: Body } | undefined
  return async (path, signal) => {
    const known = cached?.path === path ? cached : undefined
    const response = await send(path, {
      signal,
      // Our own tag: with the browser's cache we would always see a 200.
      ...(known && { headers: { 'If-None-Match': known.tag } }),
    }).catch((error: unknown) => {
      throw unreachable(error)
    })
    if (response.status === 304 && known) return { body: known.body, isNew: false }
    const body: unknown = await response.json().catch((error: unknown) => {
      if (signal.aborted) throw unreachable(error)
    })
    if (!response.ok || body === undefined) throw problemOf(response.status, body)
    const tag = response.headers.get('ETag')
    cached = tag === null ? undefined : { path, tag, body: body as Body }
    return { body: body as Body, isNew: true }
  }
}

/** A sentence for the user: the edge's own, if it sent one. */
export function problemText(problem: unknown): string {
  if (!(problem instanceof ApiProblem)) return words.noAnswer
  return problem.code === 'unreachable' ? words.noAnswer : problem.message
}
