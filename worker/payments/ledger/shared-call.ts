// One call for many callers: whoever finds too few leading leads, with a call for itself and for
// those who come meanwhile. A pure algorithm; it knows neither the ledger nor how a call is made.

import type { Clock } from '../../shared/clock.ts'

export interface SharedCallDeps<Answer> {
  clock: Clock
  /**
   * Carries all of them out and answers each, in their order. Repeating one must be harmless; a
   * rejection is everybody's.
   */
  call(items: readonly string[]): Promise<readonly Answer[]>
  /** Lets a leader's work outlive its own client: others wait for it. */
  keepAlive(work: Promise<unknown>): void
}

/** Of 64 callers half: the ledger writes these while the others arrive. */
const MAX_ITEMS = 32
/** A single item may be longer. The runtime takes 32 MiB in a call, and as much in its answer. */
const MAX_CHARS = 1 << 20
/** One is written while the answers of another are taken up. More of them make smaller calls. */
const MAX_LEADERS = 2
/**
 * What one leads for. A request may be ended half a minute after its answer, its calls are counted,
 * and one that vanishes must not keep others from leading.
 */
const LEADS_FOR_MS = 2_000
const MAX_CALLS = 16
/** Then the leader has vanished, or its call is slow. The writer has 25 s after that, of 30 s. */
const PATIENCE_MS = 3_000

interface Waiting<Answer> {
  item: string
  resolve(answer: Answer): void
  reject(error: unknown): void
}

/** Rejects as `call` does. */
export function sharedCall<Answer>({
  clock,
  call,
  keepAlive,
}: SharedCallDeps<Answer>): (item: string) => Promise<Answer> {
  /** Never more than one call may hold: whoever fills it sends it. */
  const gathered = new Set<Waiting<Answer>>()
  let chars = 0
  const leaders = new Set<{ until: number }>()

  function sendGathered(): Promise<void> {
    const group = [...gathered]
    gathered.clear()
    chars = 0
    return send(group)
  }

  /** Never rejects. */
  async function send(group: readonly Waiting<Answer>[]): Promise<void> {
    try {
      const answers = await call(group.map(({ item }) => item))
      if (answers.length !== group.length) throw new Error('not each of a call was answered')
      for (const [at, answer] of answers.entries()) group[at]?.resolve(answer)
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }

  async function lead(): Promise<void> {
    const me = { until: clock.now() + LEADS_FOR_MS }
    leaders.add(me)
    for (let calls = 1; gathered.size > 0 && leaders.has(me); calls++) {
      // Whoever comes during the last call leads, so that nothing is left behind.
      if (calls === MAX_CALLS || clock.now() >= me.until) leaders.delete(me)
      await sendGathered()
    }
    leaders.delete(me)
  }

  function mayLead(): boolean {
    for (const leader of leaders) {
      if (clock.now() >= leader.until) leaders.delete(leader)
    }
    return leaders.size < MAX_LEADERS
  }

  /**
   * The timer belongs to the one who waits, and is more than patience: the runtime takes a request
   * that waits for nothing of its own for one that hangs, and answers it with 500.
   */
  async function wait(waiting: Waiting<Answer>, answer: Promise<Answer>): Promise<Answer> {
    const cancel = clock.after(PATIENCE_MS, () => {
      if (gathered.delete(waiting)) chars -= waiting.item.length
      void send([waiting])
    })
    try {
      return await answer
    } finally {
      // Not where it is answered: that is the leader's request, which has timers of its own.
      cancel()
    }
  }

  return (item) => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const waiting = { item, resolve, reject }
    gathered.add(waiting)
    chars += item.length
    const isFull = gathered.size >= MAX_ITEMS || chars >= MAX_CHARS
    if (!mayLead() && !isFull) return wait(waiting, promise)
    keepAlive(isFull ? sendGathered() : lead())
    return promise
  }
}
