// The public keys of somebody else who issues tokens (a JWKS), fetched when a token needs them.
// jose's own set would ask for each token while the keys are away: strangers could make us flood
// the issuer, and every request would wait.

import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import type { Clock } from './clock.ts'
import { Problem } from './problem.ts'

export interface RemoteKeysDeps {
  clock: Clock
  fetch: typeof fetch
}

/** After this they are fetched again: a key that was withdrawn is good for as long. */
const MAX_AGE_MS = 10 * 60_000
/** While the issuer cannot be reached, known keys stay good for this long. */
const MAX_STALE_MS = 60 * 60_000
/** Any token may name an unknown key: that causes one fetch in this time. */
const COOLDOWN_MS = 30_000
/** A failed fetch is repeated after this, so that a genuine token waits no longer than that. */
const RETRY_MS = 5_000
const TIMEOUT_MS = 5_000
/** The one who fetches may vanish with its request: nobody waits longer than a fetch takes. */
const MAX_WAIT_MS = TIMEOUT_MS + 1_000

type FindKey = ReturnType<typeof createLocalJWKSet>

/** What jose looks a key up with. Throws the Problem keys_unavailable while they are away. */
export function remoteKeys(url: string, deps: RemoteKeysDeps): JWTVerifyGetKey {
  const { now } = deps.clock
  let known: { find: FindKey; at: number } | undefined
  let tried: { at: number; failure?: unknown } | undefined
  let loading: { since: number; done: Promise<void> } | undefined

  const isYounger = (at: number, ms: number) => now() - at < ms
  const isLoading = () => loading !== undefined && isYounger(loading.since, MAX_WAIT_MS)
  const mayTry = () =>
    tried === undefined || !isYounger(tried.at, tried.failure ? RETRY_MS : COOLDOWN_MS)

  async function load(): Promise<void> {
    try {
      const find = createLocalJWKSet(await fetchKeys(url, deps.fetch))
      known = { find, at: now() }
      tried = { at: now() }
    } catch (failure) {
      tried = { at: now(), failure }
    }
  }

  /** Whoever comes while another fetches waits for that, with a timer of its own. */
  async function refresh(): Promise<void> {
    if (loading && isLoading()) return atMost(MAX_WAIT_MS, loading.done, deps.clock)
    const mine = { since: now(), done: load() }
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
    // With older keys at hand only the one who fetches waits.
    if (!isFresh && mayTry() && !(usable() && isLoading())) await refresh()
    const find = usable()
    if (!find) throw unavailable()
    try {
      return await find(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      if (mayTry()) await refresh()
      // It may be a new key of theirs: as long as nobody can look, that is not the token's fault.
      if (tried?.failure) throw unavailable()
      return await (usable() ?? find)(header, token)
    }
  }
}

async function fetchKeys(url: string, fetch: RemoteKeysDeps['fetch']): Promise<JSONWebKeySet> {
  const response = await fetch(url, {
    headers: { Accept: 'application/json, application/jwk-set+json' },
    // Keys are where we were told they are, and nowhere else.
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if (response.status === 200) {
    const keys: unknown = await response.json()
    // Checked by whoever makes a set of it.
    return keys as JSONWebKeySet
  }
  await response.body?.cancel()
  throw new Error(`${new URL(url).origin} answered ${response.status} instead of keys`)
}

/**
 * The timer is more than patience: the Workers runtime takes a request that waits for nothing of
 * its own for one that hangs, and ends it.
 */
async function atMost(ms: number, done: Promise<void>, clock: Clock): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const cancel = clock.after(ms, resolve)
  await Promise.race([done, promise])
  cancel()
}
