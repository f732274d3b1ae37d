// One call for many callers: while two calls are under way, the next ones gather for 10 ms and are
// sent together, earlier if somebody comes after one of the two has ended. A pure algorithm: it
// knows neither the ledger nor how to call it. A caller is a request: its timers, and the answers
// to what it sends, vanish with it.

import type { Clock } from '../../shared/clock.ts'

export interface SharedCallDeps<Answer> {
  clock: Clock
  /**
   * Carries all of them out and answers each, in their order. Repeating one must be harmless. A
   * rejection is for all of them.
   */
  call(items: readonly string[]): Promise<readonly Answer[]>
  /** Lets a call go on after the client of its sender has gone: others wait for it. */
  keepAlive(work: Promise<unknown>): void
}

/** Half of 64 callers: the ledger writes these while the others arrive. */
const MAX_ITEMS = 32
/** A single item may be longer. The runtime takes 32 MiB in a call, and as much in its answer. */
const MAX_CHARS = 1 << 20
/** One call is written while the answers of another are read. More make smaller calls. */
const MAX_UNDER_WAY = 2
/**
 * Nobody waits longer for the calls under way. With 80 ms between edge and database they take 160,
 * and the writer's next group begins soon after theirs: who waited for them would miss it.
 */
const MAX_WAIT_MS = 10
/**
 * After this the call is slow, or its sender has vanished and the answer is lost: each of the
 * others sends its own item again. The writer has the other 25 of 30 s.
 */
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
  /** When the first of them came. */
  let gatheredSince = 0
  /** The calls, with when each was sent. */
  const underWay = new Set<{ since: number }>()

  function sendGathered(): void {
    const group = [...gathered]
    gathered.clear()
    chars = 0
    keepAlive(send(group))
  }

  /** Never rejects. */
  async function send(group: readonly Waiting<Answer>[]): Promise<void> {
    const sent = { since: clock.elapsed() }
    underWay.add(sent)
    try {
      const answers = await call(group.map(({ item }) => item))
      if (answers.length !== group.length) throw new Error('not each of a call was answered')
      for (const [at, answer] of answers.entries()) group[at]?.resolve(answer)
    } catch (error) {
      for (const { reject } of group) reject(error)
    } finally {
      underWay.delete(sent)
    }
  }

  function isBusy(): boolean {
    for (const sent of underWay) {
      if (clock.elapsed() - sent.since >= PATIENCE_MS) underWay.delete(sent)
    }
    return underWay.size >= MAX_UNDER_WAY
  }

  /**
   * Each that waits has a timer of its own: a request that waits for nothing of its own is hanging,
   * says the runtime, and answers it with 500. Whoever sends waits for its call instead.
   */
  async function wait(waiting: Waiting<Answer>, answer: Promise<Answer>): Promise<Answer> {
    const sendAlone = () => {
      if (gathered.delete(waiting)) chars -= waiting.item.length
      void send([waiting])
    }
    const sendAll = () => {
      if (gathered.has(waiting)) sendGathered()
      else cancel = clock.after(PATIENCE_MS - MAX_WAIT_MS, sendAlone)
    }
    const isFirst = gathered.size === 1
    let cancel = isFirst ? clock.after(MAX_WAIT_MS, sendAll) : clock.after(PATIENCE_MS, sendAlone)
    try {
      return await answer
    } finally {
      // Not where it is answered: that is in another request, which has its own timers.
      cancel()
    }
  }

  return (item) => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const waiting = { item, resolve, reject }
    if (gathered.size === 0) gatheredSince = clock.elapsed()
    gathered.add(waiting)
    chars += item.length
    const isFull = gathered.size >= MAX_ITEMS || chars >= MAX_CHARS
    // The timer of the first one has vanished with it.
    const isLate = clock.elapsed() - gatheredSince >= MAX_WAIT_MS
    if (isBusy() && !isFull && !isLate) return wait(waiting, promise)
    sendGathered()
    return promise
  }
}
