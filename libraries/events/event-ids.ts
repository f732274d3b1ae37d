// The ids of events that were handled, so that each is handled once: an event comes again when its
// answer was lost, and may come twice at the same time.

export interface EventIds {
  /**
   * One call decides, also for two deliveries that come at once.
   * - `new`: it is the caller's to handle. Until `until` (ms) every other claim is `busy`; after
   *   that it is `new` again, because the process that had it may have crashed.
   * - `busy`: another call handles it now.
   * - `handled`: nothing is left to do.
   */
  claim(id: string, until: number): Promise<Claim> | Claim
  /** It was handled. Keep it until the sender gives up, as docs/payments.md says. */
  complete(id: string): Promise<unknown> | unknown
  /** Its handler failed: the next claim is `new`. What was completed stays so. */
  release(id: string): Promise<unknown> | unknown
}

export type Claim = 'new' | 'busy' | 'handled'

/** About 1 MB. Who gets more events until the sender gives up on the first needs a store. */
const MAX_HANDLED = 10_000

/** The ids of one process: they are lost when it ends, and other processes do not know them. */
export function eventIdsInMemory(now: () => number, maxHandled = MAX_HANDLED): EventIds {
  /** Under way, with the end of their claims. */
  const claims = new Map<string, number>()
  /** The oldest first. */
  const handled = new Set<string>()
  return {
    claim(id, until) {
      if (handled.has(id)) return 'handled'
      if ((claims.get(id) ?? 0) > now()) return 'busy'
      claims.set(id, until)
      return 'new'
    },
    complete(id) {
      claims.delete(id)
      handled.add(id)
      const [oldest] = handled
      if (handled.size > maxHandled && oldest !== undefined) handled.delete(oldest)
    },
    release(id) {
      claims.delete(id)
    },
  }
}
