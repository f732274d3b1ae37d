// A shop that shows its customers their payments: it looks at each whose refunds changed, one after
// the other, since the checker compares what was seen with what was seen before.

import { setTimeout as sleep } from 'node:timers/promises'
import type { LoadPlan } from './load.ts'
import { ANSWER_MS } from './shop-requests.ts'

/** So many wait for each other while the load goes on. */
const MAX_LOOKS = 40
/** What ends a refund may wait for a gateway, and the ledger for a batch that it has given up. */
const SEEN_OVER_MS = 20_000
const ANSWERED_MS = 100

interface Seen {
  id: string
  refunds: { status: string }[]
}

export class Looks {
  readonly #plan: Pick<LoadPlan, 'system' | 'recorder' | 'ending'>
  /** Transactions to be looked at again. */
  readonly #changed = new Set<string>()
  #last: Promise<void> = Promise.resolve()
  #waiting = 0

  constructor(plan: Pick<LoadPlan, 'system' | 'recorder' | 'ending'>) {
    this.#plan = plan
  }

  /** Something of its refunds. */
  changed(id: string): void {
    this.#changed.add(id)
    if (this.#waiting < MAX_LOOKS) void this.#look(id)
  }

  /**
   * At payments that changed since they were looked at: at all of them where nothing is under way
   * any more. Before that, a slow machine would never reach the end of what comes.
   */
  async again(): Promise<void> {
    const most = this.#plan.ending.isOver ? this.#changed.size : MAX_LOOKS
    for (const id of [...this.#changed].slice(0, most)) {
      this.#changed.delete(id)
      void this.#look(id)
    }
    await this.#last
  }

  /** Until it is seen that these payments have no refund under way, or it takes too long. */
  async untilOver(transactionIds: readonly string[]): Promise<void> {
    const until = performance.now() + SEEN_OVER_MS
    for (const id of transactionIds) {
      while (performance.now() < until && !(await this.#look(id))) await sleep(ANSWERED_MS)
    }
  }

  /** Whether there was an answer, and no refund was under way. */
  #look(id: string): Promise<boolean> {
    this.#waiting += 1
    const looked = this.#last.then(async () => {
      this.#waiting -= 1
      const { system, recorder } = this.#plan
      const signal = AbortSignal.timeout(ANSWER_MS)
      const asked = system.askPayments<Seen>(`/transactions/${id}`, { signal })
      const seen = await asked.catch(() => undefined)
      if (!seen) return false
      recorder.write({ kind: 'seen', transaction: { id: seen.id, refunds: seen.refunds } })
      return seen.refunds.every(({ status }) => status === 'succeeded' || status === 'failed')
    })
    this.#last = looked.then(() => undefined)
    return looked
  }
}
