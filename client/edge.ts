// Requests to the edge: URL, token, timeout, errors.

import type { Clock } from './clock.ts'
import type { Credential, Credentials } from './credentials.ts'
import { BoardError } from './types.ts'

export interface EdgeDeps {
  /** Without a trailing slash. */
  url: string
  path: string | undefined
  credentials: Credentials
  fetch: typeof fetch
  clock: Clock
}

export interface RequestOptions {
  method?: 'POST'
  headers?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string | undefined>>
  /** For this request alone. */
  controller: AbortController
}

export interface Answered {
  /** 2xx or 304. */
  response: Response
  credential: Credential
  /** In ms, by our clock. */
  sentAt: number
}

/** For the headers only: the body of a long list may take longer. */
const HEADERS_MS = 20_000

export class Edge {
  readonly #deps: EdgeDeps

  constructor(deps: EdgeDeps) {
    this.#deps = deps
  }

  /** `route` begins with a slash. */
  url(route: string, query: Readonly<Record<string, string | undefined>> = {}): string {
    const { url, path } = this.#deps
    const search = Object.entries({ path, ...query })
      .flatMap(([name, value]) =>
        value === undefined ? [] : `${name}=${encodeURIComponent(value)}`,
      )
      .join('&')
    return `${url}/api${route}${search && '?'}${search}`
  }

  /** Rejects with a BoardError for every failure. */
  async send(route: string, options: RequestOptions): Promise<Answered> {
    const { credentials } = this.#deps
    const credential = await credentials.current()
    try {
      return await this.#try(route, options, credential)
    } catch (error) {
      const isRefused = error instanceof BoardError && error.status === 401
      if (!isRefused || !(await credentials.refused(credential))) throw error
      return this.#try(route, options, await credentials.current())
    }
  }

  async #try(route: string, options: RequestOptions, credential: Credential): Promise<Answered> {
    const sentAt = this.#deps.clock.elapsed()
    const response = await this.#fetch(route, options, credential)
    if (response.ok || response.status === 304) return { response, credential, sentAt }
    throw await problemOf(response)
  }

  async #fetch(route: string, options: RequestOptions, { token }: Credential): Promise<Response> {
    const { controller, method, headers, query } = options
    const cancel = this.#deps.clock.after(HEADERS_MS, () => controller.abort())
    try {
      // The watch was closed while we waited for the token.
      if (controller.signal.aborted) throw new Error('The watch is closed.')
      return await this.#deps.fetch(this.url(route, query), {
        ...(method && { method }),
        headers: { ...headers, ...(token !== undefined && { Authorization: `Bearer ${token}` }) },
        // A browser's cache lets a second request for the same URL wait for the first one, and a
        // stream never ends. Workers have no `cache` option.
        ...('cache' in Request.prototype && { cache: 'no-store' as const }),
        ...(token === undefined && { credentials: 'include' as const }),
        signal: controller.signal,
      })
    } catch (error) {
      throw new BoardError(0, 'unreachable', String(error))
    } finally {
      cancel()
    }
  }
}

async function problemOf(response: Response): Promise<BoardError> {
  const body = (await response.json().catch(() => undefined)) as Record<string, unknown> | undefined
  const { status } = response
  const { code, error } = body ?? {}
  return new BoardError(
    status,
    typeof code === 'string' ? code : `http_${status}`,
    typeof error === 'string' ? error : `The edge answered ${status}.`,
  )
}
