// A loop sleeps until a time comes, or something wakes it.

import type { Clock } from '../worker/shared/clock.ts'

export class Sleeper {
  readonly #clock: Pick<Clock, 'elapsed' | 'after'>
  #end: () => void = () => undefined

  constructor(clock: Pick<Clock, 'elapsed' | 'after'>) {
    this.#clock = clock
  }

  /** Harmless if nobody sleeps. */
  wake = (): void => this.#end()

  /** `at`: by `clock.elapsed()`; infinite: until it is woken. */
  async until(at: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const ms = at - this.#clock.elapsed()
    const cancel = Number.isFinite(ms) ? this.#clock.after(ms, resolve) : undefined
    this.#end = resolve
    await promise
    cancel?.()
  }
}
