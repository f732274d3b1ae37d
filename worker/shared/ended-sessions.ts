// The port of the list of sessions that were ended before they expired, one for a deployment: a
// Durable Object, the database of payments or, without one, a file of the process. And the copy of
// it that an isolate keeps.

import { type Clock, within } from './clock.ts'

export interface EndedSessions {
  /** Kept until `expiresAt`; times in ms. Resolves when it is stored. */
  end(sid: string, expiresAt: number, now: number): Promise<void>
  has(sid: string): Promise<boolean>
}

/** An ended session is refused everywhere after this time: nothing is read again before it. */
const CACHED_MS = 30_000
/** So long the requests of browsers wait for a list that does not answer, once in `RETRY_MS`. */
const READ_WITHIN_MS = 2_000
const RETRY_MS = 5_000
/** More sessions than these are read again. Each was signed by us, so strangers cannot fill it. */
const MAX_CACHED = 10_000

/** Asks the list once in 30 s for each session. What was ended here counts at once. */
export function cachedEndedSessions(list: EndedSessions, clock: Clock): EndedSessions {
  const known = new Map<string, { isEnded: boolean; at: number }>()
  let failed: { at: number; error: unknown } | undefined
  return {
    async end(sid, expiresAt, now) {
      await list.end(sid, expiresAt, now)
      known.set(sid, { isEnded: true, at: clock.elapsed() })
    },
    async has(sid) {
      const at = clock.elapsed()
      const found = known.get(sid)
      if (found && (found.isEnded || at - found.at < CACHED_MS)) return found.isEnded
      if (failed && at - failed.at < RETRY_MS) throw failed.error
      try {
        const isEnded = await within(clock, READ_WITHIN_MS, () => list.has(sid))
        failed = undefined
        // It may have been ended here since it was read.
        if (known.get(sid)?.isEnded) return true
        if (known.size >= MAX_CACHED) known.clear()
        known.set(sid, { isEnded, at })
        return isEnded
      } catch (error) {
        failed = { at, error }
        throw error
      }
    },
  }
}
