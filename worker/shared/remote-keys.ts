// The public keys (JWKS) of an external issuer, fetched when a token needs them. While the issuer
// is unreachable, jose's own remote set fetches for every token: strangers could make us flood the
// issuer, and every request would wait.

import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { type Clock, within } from './clock.ts'
import { Problem } from './problem.ts'

export interface RemoteKeysDeps {
  clock: Clock
  fetch: typeof fetch
}

/** Keys are fetched again after this time, so a withdrawn key is accepted for that long. */
const MAX_AGE_MS = 10 * 60_000
/** While the issuer is unreachable, known keys are accepted for this long. */
const MAX_STALE_MS = 60 * 60_000
/** Anyone can send a token with an unknown key id. Those cause one fetch in this time. */
const COOLDOWN_MS = 30_000
/** A failed fetch may be repeated after this time, so a valid token fails for no longer. */
const RETRY_MS = 5_000
const TIMEOUT_MS = 5_000
/**
 * The runtime may cancel the request that fetches, and its promise then never settles. So other
 * requests wait only a little longer than a fetch can take.
 */
const MAX_WAIT_MS = TIMEOUT_MS + 1_000

type FindKey = ReturnType<typeof createLocalJWKSet>

/**
 * The key lookup for jose. Throws the Problem `keys_unavailable` while there are no usable keys.
 */
export function remoteKeys(url: string, deps: RemoteKeysDeps): JWTVerifyGetKey {
  const { elapsed } = deps.clock
  let known: { find: FindKey; at: number } | undefined
  let tried: { at: number; failure?: unknown } | undefined
  let loading: { since: number; done: Promise<void> } | undefined

  const isYounger = (at: number, ms: number) => elapsed() - at < ms
  const isLoading = () => loading !== undefined && isYounger(loading.since, MAX_WAIT_MS)
  const mayTry = () =>
    tried === undefined || !isYounger(tried.at, tried.failure ? RETRY_MS : COOLDOWN_MS)

  async function load(): Promise<void> {
    try {
      const find = createLocalJWKSet(await fetchKeys(url, deps.fetch))
      known = { find, at: elapsed() }
      tried = { at: elapsed() }
    } catch (failure) {
      tried = { at: elapsed(), failure }
    }
  }

  /** A request that comes during a fetch waits for that fetch. */
  async function refresh(): Promise<void> {
    if (loading && isLoading()) {
      const { done } = loading
      // The timer must be this request's own: the Workers runtime takes a request that waits only
      // for another request's work for a hanging one, and ends it. `load` never rejects, so what
      // is caught here is the deadline.
      return within(deps.clock, MAX_WAIT_MS, () => done).catch(() => undefined)
    }
    const mine = { since: elapsed(), done: load() }
    loading = mine
    await mine.done
    if (loading === mine) loading = undefined
  }

  const usable = () => (known && isYounger(known.at, MAX_STALE_MS) ? known.find : undefined)
  const unavailable = () =>
    new Problem('keys_unavailable', 'The keys that verify tokens are out of reach.', {
      cause: tried?.failure ?? new Error('the keys were not fetched yet'),
      retryAfterS: RETRY_MS / 1_000,
    })

  return async (header, token) => {
    const isFresh = known !== undefined && isYounger(known.at, MAX_AGE_MS)
    // While older keys are usable, only the request that fetches waits.
    if (!isFresh && mayTry() && !(usable() && isLoading())) await refresh()
    const find = usable()
    if (!find) throw unavailable()
    try {
      return await find(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      if (mayTry()) await refresh()
      // It may be a new key of the issuer. While we cannot fetch, the token may well be valid.
      if (tried?.failure) throw unavailable()
      return await (usable() ?? find)(header, token)
    }
  }
}

async function fetchKeys(url: string, fetch: RemoteKeysDeps['fetch']): Promise<JSONWebKeySet> {
  const response = await fetch(url, {
    headers: { Accept: 'application/json, application/jwk-set+json' },
    // A redirect could lead to keys of another server.
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if (response.status === 200) {
    const keys: unknown = await response.json()
    // createLocalJWKSet checks it.
    return keys as JSONWebKeySet
  }
  await response.body?.cancel()
  throw new Error(`${new URL(url).origin} answered ${response.status} instead of keys`)
}
