// Agents that claim tasks: some release them, some fall silent, and some of those come back late.

import type { AgentsPlan, Held } from './claimer.ts'

const CLAIMERS = 5
const TTL_MS = 10_000
const HOLDS_MS = 2_500
/** Beyond the end of the lease, so that another may have taken the task. */
const LATE_MS = 14_000

export function claimTasks({ claimer, random, ending }: AgentsPlan): Promise<void> {
  const comeLate = async (held: Held) => {
    if (await ending.pause(random.below(2 * LATE_MS))) await claimer.renew(held)
  }
  return ending.repeat({ times: CLAIMERS, pauseMs: () => random.below(400) }, async (who, n) => {
    // Another actor each time: one that fell silent still holds what it had.
    const held = await claimer.claim({ actor: `agent-${who}.${n}`, ttlMs: TTL_MS })
    if (held === undefined) return
    await ending.pause(random.below(HOLDS_MS))
    await claimer.renew(held)
    if (random.next() < 0.25) void comeLate(held)
    else await claimer.release(held, random.next() < 0.5 ? 'done' : 'abandoned')
  })
}
