// Timers by name: setting one again moves it, and an end leaves none behind.

import type { Clock } from './clock.ts'

export class Alarms<Name extends string> {
  readonly #clock: Clock
  readonly #cancels = new Map<Name, () => void>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Replaces the alarm of this name. */
  set(name: Name, ms: number, ring: () => void): void {
    this.cancel(name)
    const cancel = this.#clock.after(Math.max(0, ms), () => {
      this.#cancels.delete(name)
      ring()
    })
    this.#cancels.set(name, cancel)
  }

  has(name: Name): boolean {
    return this.#cancels.has(name)
  }

  cancel(name: Name): void {
    this.#cancels.get(name)?.()
    this.#cancels.delete(name)
  }

  cancelAll(): void {
    for (const name of [...this.#cancels.keys()]) this.cancel(name)
  }
}
