// The token of a watch: asked for, kept, and asked for again before it ends or when it is refused.

import type { Clock } from './clock.ts'
import { BoardError, type WatchBoardOptions } from './types.ts'

export interface Credential {
  /** Undefined: the cookie, which the browser sends. */
  token: string | undefined
  /** In ms; when to ask for the next one. Infinity: there will be none, or nobody knows. */
  renewAt: number
}

/** Before its end, or half of what it still has when that is less. */
const LEAD_MS = 60_000
/** Nobody is asked more often than this. */
const LEAST_MS = 1_000

export class Credentials {
  readonly #give: WatchBoardOptions['token']
  readonly #clock: Clock
  #known: Credential | undefined
  #asking: Promise<Credential> | undefined

  constructor(give: WatchBoardOptions['token'], clock: Clock) {
    this.#give = give
    this.#clock = clock
  }

  /** Rejects with a BoardError of the code `token` when whoever gives it fails. */
  async current(): Promise<Credential> {
    const known = this.#known
    if (known && this.#clock.now() < known.renewAt) return known
    try {
      return await this.#ask()
    } catch (error) {
      // Asked early, it may fail once or twice: the one at hand is still good.
      const leftMs = known ? (endOf(known.token) ?? 0) - this.#clock.now() : 0
      if (known && leftMs > 0) return this.#keep(known.token, leftMs / 2)
      throw new BoardError(0, 'token', String(error))
    }
  }

  /** The edge refused this one. Resolves to whether there is another one to try. */
  async refused(credential: Credential): Promise<boolean> {
    if (typeof this.#give !== 'function') return false
    if (this.#known?.token === credential.token) this.#known = undefined
    return (await this.current()).token !== credential.token
  }

  #ask(): Promise<Credential> {
    this.#asking ??= this.#fresh().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  async #fresh(): Promise<Credential> {
    const give = this.#give
    if (typeof give !== 'function') return this.#keep(give, Number.POSITIVE_INFINITY)
    const token = await give()
    const leftMs = (endOf(token) ?? 0) - this.#clock.now()
    // One that ended by our clock was perhaps made by another clock; the edge will say.
    if (leftMs <= 0) return this.#keep(token, Number.POSITIVE_INFINITY)
    // The same again: whoever gives it makes another one later.
    const isSame = token === this.#known?.token
    return this.#keep(token, isSame ? leftMs / 2 : Math.max(leftMs - LEAD_MS, leftMs / 2))
  }

  #keep(token: string | undefined, forMs: number): Credential {
    this.#known = { token, renewAt: this.#clock.now() + Math.max(forMs, LEAST_MS) }
    return this.#known
  }
}

/** When a token ends, in ms, by its own word; undefined where it cannot be read. */
function endOf(token: string | undefined): number | undefined {
  const exp = claimsOf(token).exp
  return typeof exp === 'number' ? exp * 1_000 : undefined
}

/** What a JSON Web Token says, unverified: that is the edge's part. */
export function claimsOf(token: string | undefined): { exp?: unknown; repos?: unknown } {
  const payload = token?.split('.')[1]?.replaceAll('-', '+').replaceAll('_', '/')
  try {
    const bytes = Uint8Array.from(atob(payload ?? ''), (char) => char.charCodeAt(0))
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return {}
  }
}
