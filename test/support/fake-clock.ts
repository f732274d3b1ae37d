// A clock that only moves when told to.

import type { Clock } from '../../worker/shared/clock.ts'

export class FakeClock implements Clock {
  #now = 1_000_000
  #timers = new Set<{ at: number; call: () => void }>()
  jitter = 0.5

  now = (): number => this.#now
  random = (): number => this.jitter
  after = (ms: number, call: () => void): (() => void) => {
    const timer = { at: this.#now + ms, call }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  get pending(): number {
    return this.#timers.size
  }

  /** Moves on by `ms`, calling every timer that falls due in its turn. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms
    for (;;) {
      const due = [...this.#timers].filter((timer) => timer.at <= end)
      const next = due.sort((a, b) => a.at - b.at)[0]
      if (!next) break
      this.#timers.delete(next)
      this.#now = Math.max(this.#now, next.at)
      next.call()
      // Lets what the call started go as far as it can before time goes on.
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.#now = end
  }
}
