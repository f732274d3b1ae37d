// The edge's API for the page: JSON in and out, authenticated by the cookie. Failures are
// ApiProblems.

import { words } from '../words.ts'

/** A refusal, in the edge's own sentence; `code` is stable. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem'
  readonly code: string
  readonly status: number
  /** Of the payment that is stored all the same. */
  readonly transactionId: string | undefined

  constructor(status: number, code: string, sentence: string, transactionId?: string) {
    super(sentence)
    this.status = status
    this.code = code
    this.transactionId = transactionId
  }
}

interface Ask {
  method?: 'GET' | 'POST' | 'DELETE'
  body?: unknown
  headers?: Readonly<Record<string, string>>
}

/** The JSON of an answer. Throws ApiProblem, with the code `unreachable` when nothing answered. */
export async function ask<Answer>(path: string, given: Ask = {}): Promise<Answer> {
  const answer = await send(path, given)
  if (answer.status === 204) return undefined as Answer
  const json: unknown = await answer.json().catch(() => undefined)
  if (answer.ok && json !== undefined) return json as Answer
  throw problemOf(answer.status, json)
}

/** What an answer that is no success says; `body` is its JSON, if it has any. */
export function problemOf(status: number, body: unknown): ApiProblem {
  const { code, error, transactionId } = (body ?? {}) as Record<string, string | undefined>
  return new ApiProblem(status, code ?? 'internal', error ?? `${status}`, transactionId)
}

/** Of a fetch that has thrown. */
export const unreachable = (error: unknown): ApiProblem =>
  new ApiProblem(0, 'unreachable', String(error))

async function send(path: string, { method = 'GET', body, headers }: Ask) {
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

export interface Answered<Body> {
  body: Body
  /** False: the very object of the answer before. */
  isNew: boolean
}

export type ConditionalRead<Body> = (path: string, signal: AbortSignal) => Promise<Answered<Body>>

/** Remembers the last answer, of one address. Rejects with an ApiProblem, as `ask` does. */
export function conditionalRead<Body>(send: typeof fetch): ConditionalRead<Body> {
  let kept: { path: string; tag: string; body: Body } | undefined
  return async (path, signal) => {
    const known = kept?.path === path ? kept : undefined
    const answer = await send(path, {
      signal,
      // By our own tag: the browser's cache would answer 200 either way.
      ...(known && { headers: { 'If-None-Match': known.tag } }),
    }).catch((error: unknown) => {
      throw unreachable(error)
    })
    if (answer.status === 304 && known) return { body: known.body, isNew: false }
    const body: unknown = await answer.json().catch((error: unknown) => {
      if (signal.aborted) throw unreachable(error)
    })
    if (!answer.ok || body === undefined) throw problemOf(answer.status, body)
    const tag = answer.headers.get('ETag')
    kept = tag === null ? undefined : { path, tag, body: body as Body }
    return { body: body as Body, isNew: true }
  }
}

/** The edge's own, where it said one. */
export function problemText(problem: unknown): string {
  if (!(problem instanceof ApiProblem)) return words.payments.noAnswer
  return problem.code === 'unreachable' ? words.payments.noAnswer : problem.message
}
