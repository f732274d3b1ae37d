// The edge's API for the page: JSON in and out, authenticated by the cookie. Failures are
// ApiProblems. What is read again and did not change stays the same object.

export const NO_ANSWER = 'The edge does not answer.'

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
  signal?: AbortSignal
}

/** Returns the JSON. Throws ApiProblem, with the code `unreachable` if there was no response. */
export async function request<Body>(path: string, options: RequestOptions = {}): Promise<Body> {
  return (await send(path, options)).body as Body
}

export type RepeatedRead<Body> = (path: string, signal: AbortSignal) => Promise<Body>

/**
 * Repeats a read, as `request` does. While the answer is the same, it is the same object. The
 * browser's cache asks with the tag of the answer, so that it is not sent again.
 */
export function repeatedRead<Body>(): RepeatedRead<Body> {
  let known: { path: string; text: string; body: unknown } | undefined
  return async (path, signal) => {
    const { text, body } = await send(path, { signal })
    if (known?.path !== path || known.text !== text) known = { path, text, body }
    return known.body as Body
  }
}

/**
 * Merges a new list into the one that is shown. An item with the same JSON stays the same object,
 * so that its components are not rendered again. `items`: in the order of `fresh`. `changed`: the
 * ids of new and different items, without those that are gone.
 */
export function merge<Item extends { id: string }>(
  shown: ReadonlyMap<string, Item> | undefined,
  fresh: readonly Item[],
): { items: ReadonlyMap<string, Item>; changed: readonly string[] } {
  const changed: string[] = []
  const items = new Map<string, Item>()
  for (const item of fresh) {
    const known = shown?.get(item.id)
    const isSame = known === item || (known && JSON.stringify(known) === JSON.stringify(item))
    if (!isSame) changed.push(item.id)
    items.set(item.id, isSame ? known : item)
  }
  return { items, changed }
}

async function send(path: string, { method = 'GET', body, headers, signal }: RequestOptions) {
  const isJson = body !== undefined
  const { response, text } = await answerOf(path, {
    method,
    headers: { ...headers, ...(isJson && { 'Content-Type': 'application/json' }) },
    ...(isJson && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  })
  const { ok, status } = response
  const json = parse(text)
  if (ok && (json !== undefined || status === 204)) return { text, body: json }
  const { code, error, transactionId } = (json ?? {}) as Record<string, string | undefined>
  throw new ApiProblem(status, code ?? 'internal', error ?? `${status}`, transactionId)
}

async function answerOf(path: string, init: RequestInit) {
  try {
    const response = await fetch(path, init)
    return { response, text: await response.text() }
  } catch (error) {
    throw new ApiProblem(0, 'unreachable', String(error))
  }
}

/** Undefined: it is not JSON, such as the error page of a proxy. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A sentence for the user: the edge's own, if it sent one. */
export const problemText = (problem: unknown): string =>
  problem instanceof ApiProblem && problem.code !== 'unreachable' ? problem.message : NO_ANSWER
