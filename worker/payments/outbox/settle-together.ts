// Gathers what was told while the last of it is being stored: one call to the ledger for many
// events, where each webhook would otherwise cost a second one. Time comes in.

/**
 * How long one caller stores for the others. A Worker may be ended half a minute after its answer,
 * and one that vanishes at work must not keep the next from taking over.
 */
const LEADS_FOR_MS = 5_000

/** `settle` stores; a rejection is the leader's alone, and what it held is told again later. */
export function settleTogether<Item>(
  settle: (items: readonly Item[]) => Promise<void>,
  now: () => number,
): (items: readonly Item[]) => Promise<void> {
  const gathered: Item[] = []
  let leadsUntil = 0

  return async (items) => {
    gathered.push(...items)
    // Not its promise is waited for: a Worker's request cannot wait for another's.
    if (now() < leadsUntil) return
    const until = now() + LEADS_FOR_MS
    leadsUntil = until
    try {
      while (gathered.length > 0) {
        // Whoever comes during the last round leads the next.
        if (now() >= until) leadsUntil = 0
        await settle(gathered.splice(0))
        if (leadsUntil !== until) return
      }
    } finally {
      if (leadsUntil === until) leadsUntil = 0
    }
  }
}
