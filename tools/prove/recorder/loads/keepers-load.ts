// Agents whose task is away for a while, as a stash or another branch leaves it, or is closed by
// mistake. Each renews its claim meanwhile, and a rival claims the same task.

import type { KeptTask } from './board-load.ts'
import type { AgentsPlan, Held } from './claimer.ts'

const KEEPERS = 8
/** Longer than the steps of a clock that a fault sets: one that looks just over would end. */
const TTL_MS = 120_000
const SHORT_TTL_MS = 10_000
const RENEWS_EVERY_MS = 4_000
const HOLDS_MS = 2_000
const LONGEST_MS = 90_000
/** Less than the two minutes for which a closed task is its holder's, with what a rest takes. */
const CLOSED_MS = 20_000
/** Within this time a change is published, during a fault, too. */
const PUBLISHED_MS = 60_000
/** A clock that steps to and fro lengthens a lease by its step, and by the grace after it. */
const STEPPED_MS = 90_000

const KEPT = Array.from({ length: 16 }, (_, n): KeptTask => {
  return { id: `K-${n}`, version: -1 - n, assignee: 'keepers' }
})

export async function keepTasks(plan: AgentsPlan): Promise<void> {
  const { board, claimer, recorder, random, ending } = plan
  const busy = new Set<KeptTask>()
  const asked = (actor: string, { id: task, assignee }: KeptTask, ttlMs = TTL_MS) => {
    return { actor, task, assignee, ttlMs }
  }

  async function hold(actor: string, task: KeptTask): Promise<void> {
    const how = random.weighted([
      [5, 'away'],
      [3, 'closed'],
      [1, 'killed'],
      [2, 'kept'],
    ] as const)
    const ttlMs = how === 'killed' ? SHORT_TTL_MS : TTL_MS
    const held = await claimer.claim(asked(actor, task, ttlMs))
    if (held === undefined) return
    await board.keep(task, 'doing')
    await ending.pause(random.below(HOLDS_MS))
    if (how === 'killed') return await inherit(task, held)
    if (how !== 'kept') await leave(task, held, how)
    await release(task, held)
  }

  async function release(task: KeptTask, held: Held): Promise<void> {
    await claimer.release(held, 'abandoned')
    await board.keep(task, 'open')
  }

  /** The file is away or closed, then there again and open. */
  async function leave(task: KeptTask, held: Held, how: 'away' | 'closed'): Promise<void> {
    const longestMs = random.weighted([
      [6, 1_000],
      [3, LONGEST_MS / 6],
      [1, LONGEST_MS],
    ])
    const began = performance.now()
    await board.keep(task, how === 'away' ? how : 'done')
    await meanwhile(task, held, random.below(how === 'away' ? longestMs : CLOSED_MS))
    await board.keep(task, 'doing')
    const awayMs = Math.round(performance.now() - began)
    const isHeld = await ending.within(PUBLISHED_MS, () => claimer.renew(held))
    if (ending.isOver) return
    const { generation } = held
    recorder.write({ kind: 'returned', generation, how, awayMs, isHeld: isHeld === true })
  }

  /** It stops renewing while its task is away: once the lease is over, another agent gets it. */
  async function inherit(task: KeptTask, { generation }: Held): Promise<void> {
    await board.keep(task, 'away')
    await ending.pause(random.below(2 * SHORT_TTL_MS))
    await board.keep(task, 'doing')
    const claim = () => claimer.claim(asked(`next-${generation}`, task))
    const freeMs = SHORT_TTL_MS + PUBLISHED_MS + STEPPED_MS
    const next = await ending.within(freeMs, claim)
    if (ending.isOver) return
    recorder.write({ kind: 'inherited', generation, isGiven: next !== undefined })
    if (next !== undefined) await release(task, next)
  }

  /** The holder renews, and a rival claims the task. */
  async function meanwhile(task: KeptTask, held: Held, ms: number): Promise<void> {
    const until = performance.now() + ms
    do {
      await ending.pause(Math.min(RENEWS_EVERY_MS, Math.max(0, until - performance.now())))
      await claimer.renew(held)
      await claimer.rival(asked(`rival-${held.generation}`, task))
    } while (performance.now() < until && !ending.isOver)
  }

  for (const task of KEPT) await board.keep(task, 'open')
  await ending.repeat({ times: KEEPERS, pauseMs: () => random.below(400) }, async (who, n) => {
    const free = KEPT.filter((task) => !busy.has(task))
    const task = free[random.below(free.length)]
    if (task === undefined) return
    busy.add(task)
    // Another actor each time: one that was killed holds its task until the lease is over.
    await hold(`keeper-${who}.${n}`, task)
    busy.delete(task)
  })
}
