// Agents that claim tasks: some release them, some fall silent, and some of those come back late.

import type { AgentsPlan, Held } from './claimer.ts'

const CLAIMERS = 5
const TTL_MS = 10_000
const HOLDS_MS = 2_500
/** Beyond the end of the lease, so that another may have taken the task. */
const LATE_MS = 14_000

export async function claimTasks({ claimer, random, ending }: AgentsPlan): Promise<void> {
  async function work(name: string): Promise<void> {
    // Another actor each time: one that fell silent still holds what it had.
    for (let n = 0; await ending.pause(random.below(400)); n++) {
      const held = await claimer.claim({ actor: `${name}.${n}`, ttlMs: TTL_MS })
      if (held === undefined) continue
      await ending.pause(random.below(HOLDS_MS))
      await claimer.renew(held)
      if (random.next() < 0.25) void comeLate(held)
      else await claimer.release(held, random.next() < 0.5 ? 'done' : 'abandoned')
    }
  }
  async function comeLate(held: Held): Promise<void> {
    if (await ending.pause(random.below(2 * LATE_MS))) await claimer.renew(held)
  }
  await Promise.all(Array.from({ length: CLAIMERS }, (_, n) => work(`agent-${n}`)))
}
