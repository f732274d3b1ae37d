// One address that is read again and again: asks only for what is new since the last answer.

import { problemOf, unreachable } from './http.ts'

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
