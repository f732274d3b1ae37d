// A clock that only moves when told to, for either side.

import type { Clock as SidecarClock } from '../../sidecar/clock.ts'
import type { Clock as WorkerClock } from '../../worker/shared/clock.ts'

export class FakeClock implements WorkerClock, SidecarClock {
  #now = 1_000_000
  #timers = new Set<{ at: number; call: () => void }>()

  now = (): number => this.#now
  random = (): number => 0.5
  after = (ms: number, call: () => void): (() => void) => {
    const timer = { at: this.#now + ms, call }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  get pending(): number {
    return this.#timers.size
  }

  /** How long each timer still has, the shortest first. */
  get waits(): number[] {
    return [...this.#timers].map(({ at }) => at - this.#now).sort((a, b) => a - b)
  }

  /** Moves on by `ms`, calling every timer that falls due in its turn. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms
    await settle()
    for (;;) {
      const due = [...this.#timers].filter((timer) => timer.at <= end)
      const next = due.sort((a, b) => a.at - b.at)[0]
      if (!next) break
      this.#timers.delete(next)
      this.#now = Math.max(this.#now, next.at)
      next.call()
      // Lets what the call started go as far as it can before time goes on.
      await settle()
    }
    this.#now = end
  }
}

/** Lets every promise that can go on without a timer do so. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Real work that has threads of its own, which a busy machine keeps waiting. */
let underWay = 0
for (const name of ['digest', 'importKey', 'sign', 'verify'] as const) {
  const real = crypto.subtle[name].bind(crypto.subtle) as (...args: unknown[]) => Promise<unknown>
  const counted = async (...args: unknown[]) => {
    underWay++
    try {
      return await real(...args)
    } finally {
      underWay--
    }
  }
  Object.defineProperty(crypto.subtle, name, { value: counted })
}

/** Turns of the event loop in which promises go as far as they can. */
const QUIET_TURNS = 20

/**
 * Lets time go on from timer to timer until the work has ended, either way. While a digest is
 * under way it stands still: it would run away under the code that waits for it.
 */
export async function end<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  let isOver = false
  const over = () => {
    isOver = true
  }
  work.then(over, over)
  let quiet = 0
  for (let rounds = 0; !isOver; ) {
    if (rounds > 1_000) throw new Error('It does not end')
    await settle()
    quiet = underWay > 0 ? 0 : quiet + 1
    if (quiet < QUIET_TURNS || isOver) continue
    quiet = 0
    rounds++
    await clock.advance(clock.waits[0] ?? 0)
  }
  return await work
}
