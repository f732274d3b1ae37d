// Requests to the edge: URL, token, timeout, errors.

import type { Backoff, Clock } from '../../worker/shared/clock.ts'
import { isPage } from './host.ts'
import { BoardError, type WatchBoardOptions } from './types.ts'

interface EdgeDeps {
  /** Without a trailing slash. */
  url: string
  path: string | undefined
  token: WatchBoardOptions['token']
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

/** The boards that the token covers: of no single repository. */
export const BOARDS_ROUTE = '/boards'

/** The wait before a next try, by the failures in a row. */
export const RETRY: Backoff = { firstMs: 1_000, maxMs: 30_000 }

/** For the headers only: the body of a long list may take longer. */
const HEADERS_MS = 20_000

export class Edge {
  readonly #deps: EdgeDeps
  readonly #credentials: Credentials

  constructor(deps: EdgeDeps) {
    this.#deps = deps
    this.#credentials = new Credentials(deps.token, deps.clock)
  }

  /** `route` begins with a slash, and may have a query of its own. */
  url(route: string, query: Readonly<Record<string, string | undefined>> = {}): string {
    const { url, path } = this.#deps
    const search = Object.entries({ ...(route !== BOARDS_ROUTE && { path }), ...query })
      .flatMap(([name, value]) =>
        value === undefined ? [] : `${name}=${encodeURIComponent(value)}`,
      )
      .join('&')
    return `${url}/api${route}${search && (route.includes('?') ? '&' : '?')}${search}`
  }

  /** Rejects with a BoardError for every failure. */
  async send(route: string, options: RequestOptions): Promise<Answered> {
    const credential = await this.#credentials.current()
    try {
      return await this.#try(route, options, credential)
    } catch (error) {
      const isRefused = error instanceof BoardError && error.status === 401
      if (!isRefused || !(await this.#credentials.refused(credential))) throw error
      return this.#try(route, options, await this.#credentials.current())
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
        // A program's token does not go to another host.
        redirect: isPage() ? 'follow' : 'manual',
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

/** The token of a watch. */
export interface Credential {
  /** Undefined: the browser sends the cookie. */
  token: string | undefined
  /** When to get the next token, in ms. Infinity: there is no other, or the expiry is unknown. */
  renewAt: number
}

/** A token is renewed this long before it expires, or at half of its time if that is later. */
const RENEW_BEFORE_MS = 60_000
/** The `token` function is not called more often than this. */
const MIN_INTERVAL_MS = 1_000

/** Gets a new token before the token expires, and after the edge refused it. */
export class Credentials {
  readonly #getToken: WatchBoardOptions['token']
  readonly #clock: Clock
  #known: Credential | undefined
  #pending: Promise<Credential> | undefined

  constructor(getToken: WatchBoardOptions['token'], clock: Clock) {
    this.#getToken = getToken
    this.#clock = clock
  }

  /** Rejects with a BoardError with the code `token`, if the `token` function fails. */
  async current(): Promise<Credential> {
    const known = this.#known
    if (known && this.#clock.now() < known.renewAt) return known
    try {
      return await this.#request()
    } catch (error) {
      // We renew early, so the current token may still be valid. Keep it, and try again later.
      const leftMs = known ? (expiryOf(known.token) ?? 0) - this.#clock.now() : 0
      if (known && leftMs > 0) return this.#keep(known.token, leftMs / 2)
      throw new BoardError(0, 'token', String(error))
    }
  }

  /** Call this after the edge refused the credential. Resolves to whether there is another one. */
  async refused(credential: Credential): Promise<boolean> {
    if (typeof this.#getToken !== 'function') return false
    if (this.#known?.token === credential.token) this.#known = undefined
    return (await this.current()).token !== credential.token
  }

  #request(): Promise<Credential> {
    this.#pending ??= this.#renew().finally(() => {
      this.#pending = undefined
    })
    return this.#pending
  }

  async #renew(): Promise<Credential> {
    const getToken = this.#getToken
    if (typeof getToken !== 'function') return this.#keep(getToken, Number.POSITIVE_INFINITY)
    const token = await getToken()
    const leftMs = (expiryOf(token) ?? 0) - this.#clock.now()
    // By our clock it has expired. Our clock may be wrong, so let the edge decide.
    if (leftMs <= 0) return this.#keep(token, Number.POSITIVE_INFINITY)
    // The same token again: ask for another one at half of the time that is left.
    const isSame = token === this.#known?.token
    return this.#keep(token, isSame ? leftMs / 2 : Math.max(leftMs - RENEW_BEFORE_MS, leftMs / 2))
  }

  #keep(token: string | undefined, forMs: number): Credential {
    this.#known = { token, renewAt: this.#clock.now() + Math.max(forMs, MIN_INTERVAL_MS) }
    return this.#known
  }
}

/** The expiry of a token, in ms; undefined if the token is not readable. */
function expiryOf(token: string | undefined): number | undefined {
  const exp = claimsOf(token).exp
  return typeof exp === 'number' ? exp * 1_000 : undefined
}

/** The claims of a JSON Web Token, not verified: the edge does that. */
export function claimsOf(token: string | undefined): { exp?: unknown; repos?: unknown } {
  const payload = token?.split('.')[1]?.replaceAll('-', '+').replaceAll('_', '/')
  try {
    const bytes = Uint8Array.from(atob(payload ?? ''), (char) => char.charCodeAt(0))
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return {}
  }
}
