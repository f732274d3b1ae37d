// One call for many callers: a caller leads if too few others do, and sends a call for itself and
// for those that come in the meantime. A pure algorithm: it knows neither the ledger nor how to
// call it.

import type { Clock } from '../../shared/clock.ts'

export interface SharedCallDeps<Answer> {
  clock: Clock
  /**
   * Carries all of them out and answers each, in their order. Repeating one must be harmless. A
   * rejection is for all of them.
   */
  call(items: readonly string[]): Promise<readonly Answer[]>
  /** Lets a leader's work go on after its own client has gone: others wait for it. */
  keepAlive(work: Promise<unknown>): void
}

/** Half of 64 callers: the ledger writes these while the others arrive. */
const MAX_ITEMS = 32
/** A single item may be longer. The runtime takes 32 MiB in a call, and as much in its answer. */
const MAX_CHARS = 1 << 20
/** One call is written while the answers of another are read. More leaders make smaller calls. */
const MAX_LEADERS = 2
/**
 * How long one leads. The platform may end a request half a minute after its answer, and limits its
 * calls; and a leader that vanishes must not keep others from leading.
 */
const LEADS_FOR_MS = 2_000
const MAX_CALLS = 16
/** After this the leader has vanished, or its call is slow. The writer has the other 25 of 30 s. */
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
  /** Never more than one call may hold: the caller that fills it sends it. */
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
      // A caller that comes during the last call leads, so that nothing is left behind.
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
   * The timer belongs to the request that waits. It is needed for another reason, too: if a request
   * does not wait for anything itself, the runtime considers it hanging, and answers it with 500.
   */
  async function wait(waiting: Waiting<Answer>, answer: Promise<Answer>): Promise<Answer> {
    const cancel = clock.after(PATIENCE_MS, () => {
      if (gathered.delete(waiting)) chars -= waiting.item.length
      void send([waiting])
    })
    try {
      return await answer
    } finally {
      // Not where it is answered: that is in the leader's request, which has its own timers.
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
