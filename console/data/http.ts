// The edge's API as the page calls it: by the cookie, JSON in and out, refusals as ApiProblem.

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
