// Requests to an address that somebody configured: what one to an edge carries, and what is POSTed
// to others, whether it may be, once, and when again.

import { backoffMs, type Clock, within } from './clock.ts'
import { reasonOf } from './log.ts'
import { isSafeForSecrets } from './loopback.ts'

/**
 * Why nothing is sent to this address, as a clause; undefined: it may be. One of a private network
 * may be, where a team has its own chat: what answers there shows a certificate of that name.
 */
export function addressProblem(text: string): string | undefined {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) return 'is not an http(s) URL'
  if (url.username !== '' || url.password !== '') return 'must not have a user'
  return isSafeForSecrets(url) ? undefined : 'must be https, or on this machine'
}

/** What a request to an edge carries. Firewalls before one refuse what does not give its name. */
export const edgeHeaders = (authorization: string, hasBody: boolean) => ({
  authorization,
  'user-agent': 'signalbox',
  ...(hasBody && { 'content-type': 'application/json' }),
})

/** `status` is the receiver's answer, if it gave one. */
export type Sent =
  | { ok: true; status: number }
  | { ok: false; status?: number; error: string; retryAfterMs?: number }

export interface Letter {
  url: string
  headers: Readonly<Record<string, string>>
  body: string
  patienceMs: number
  /** What sentences call the address; it may be a secret itself. */
  shownAs: string
}

/** Never rejects. */
export async function postOnce(
  { url, headers, body, patienceMs, shownAs }: Letter,
  { clock, fetch }: { clock: Pick<Clock, 'after' | 'now'>; fetch: typeof globalThis.fetch },
): Promise<Sent> {
  const address = new URL(url)
  // It is not sent, and errors may name the address without it.
  address.hash = ''
  const { href } = address
  const post = async (signal: AbortSignal) => {
    const all = { 'User-Agent': 'Signalbox', ...headers }
    // A redirect is not followed: what is signed must not go to an address that nobody configured.
    const init = { method: 'POST', headers: all, body, signal, redirect: 'manual' } as const
    const response = await fetch(href, init)
    // The body of the answer is not read, however long it is.
    response.body?.cancel().catch(() => undefined)
    return response
  }
  try {
    const response = await within(clock, patienceMs, post)
    const { ok, status } = response
    if (ok) return { ok, status }
    const retryAfterMs = retryAfter(response.headers.get('retry-after'), clock.now())
    return {
      ok,
      status,
      error: `The endpoint answered ${status}.`,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    }
  } catch (error) {
    // Deno names the whole address.
    return { ok: false, error: reasonOf(error, (text) => text.replaceAll(href, shownAs)) }
  }
}

/** A date is compared with our clock, and either of the two may be a year off. */
const MAX_RETRY_AFTER_MS = 3_600_000

/** `Retry-After`, in ms. */
export function retryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS)
}

/** The longest wait between two tries. */
export const MAX_RETRY_MS = 3_600_000
const BACKOFF = { firstMs: 5_000, maxMs: MAX_RETRY_MS }
/** The page names this day: TRIED_FOR of attention.ts. */
export const TRIED_FOR_MS = 24 * 3_600_000
/**
 * A day of tries has more than twice as many. What is older and has fewer was sent again by hand,
 * or waited while nothing ran here: it gets at least these, in an hour or two.
 */
const MIN_ATTEMPTS = 12

/** Whether what was stored at `createdAt`, and tried so often, is not tried at `at` any more. */
export const isTriedEnough = (createdAt: number, attempts: number, at: number): boolean =>
  at > createdAt + TRIED_FOR_MS && attempts >= MIN_ATTEMPTS

/**
 * The time of the next try, after one has failed at `now`; undefined: it was the last. `attempts`:
 * the tries before, since it was last sent again by hand. `createdAt`: when it was stored. `random`
 * is 0 to 1. `retryAfterMs`: the receiver asked for so long a wait, an hour at most.
 */
export function nextAttemptAt(
  createdAt: number,
  attempts: number,
  now: number,
  random: number,
  retryAfterMs = 0,
): number | undefined {
  const failures = attempts + 1
  const next = now + Math.max(backoffMs(failures, BACKOFF, random), retryAfterMs)
  return isTriedEnough(createdAt, failures, next) ? undefined : next
}
