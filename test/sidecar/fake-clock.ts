import type { Clock } from '../../sidecar/clock.ts'

/** A clock that moves only when told, and lets promises settle in between. */
export class FakeClock implements Clock {
  #now = 1_000_000
  #timers = new Set<{ at: number; then: () => void }>()

  now(): number {
    return this.#now
  }

  after(ms: number, then: () => void): () => void {
    const timer = { at: this.#now + ms, then }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  get waits(): number[] {
    return [...this.#timers].map((timer) => timer.at - this.#now).sort((a, b) => a - b)
  }

  /** Moves on by `ms`, firing what falls due in its order. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms
    await settle()
    for (;;) {
      const due = [...this.#timers].filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)
      const next = due[0]
      if (!next) break
      this.#now = Math.max(this.#now, next.at)
      this.#timers.delete(next)
      next.then()
      await settle()
    }
    this.#now = end
  }
}

/** Lets every promise that can go on without a timer do so. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
