// A fake clock that moves only when a test advances it.

import type { Clock } from '../../worker/shared/clock.ts'

export class FakeClock implements Clock {
  #elapsed = 5_000
  /** The time of day when nothing had elapsed. */
  #epoch = 995_000
  #timers = new Set<{ at: number; call: () => void }>()

  now = (): number => this.#epoch + this.#elapsed
  elapsed = (): number => this.#elapsed
  random = (): number => 0.5
  after = (ms: number, call: () => void): (() => void) => {
    const timer = { at: this.#elapsed + ms, call }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  get pending(): number {
    return this.#timers.size
  }

  /** The remaining time of each timer, shortest first. */
  get waits(): number[] {
    return [...this.#timers].map(({ at }) => at - this.#elapsed).sort((a, b) => a - b)
  }

  /** The time of day is set, forward or back. No time passes. */
  jump(ms: number): void {
    this.#epoch += ms
  }

  /** Advances by `ms`, and calls each due timer in order. */
  async advance(ms: number): Promise<void> {
    const end = this.#elapsed + ms
    await settle()
    for (;;) {
      const due = [...this.#timers].filter((timer) => timer.at <= end)
      const next = due.sort((a, b) => a.at - b.at)[0]
      if (!next) break
      this.#timers.delete(next)
      this.#elapsed = Math.max(this.#elapsed, next.at)
      next.call()
      // Let the work that the timer started proceed before the next timer.
      await settle()
    }
    this.#elapsed = end
  }
}

/**
 * Lets promises proceed as far as they can without a timer. Digests and signatures count as done.
 * @forTests For ours; a driver's test needs only the clock.
 */
export async function settle(): Promise<void> {
  do await turn()
  while (underWay > 0)
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Digests and signatures are made in other threads, which are slow on a busy machine. */
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

/** Turns of the event loop for promises to proceed. */
const QUIET_TURNS = 20

/**
 * Advances from timer to timer until the work has settled. It waits during a digest: otherwise the
 * clock would move while the code has no chance to proceed.
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
