// When the load of a run is over. Until then its agents pause, and wait for what is to come.

import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_MS = 250

export class Ending {
  readonly #over = new AbortController()

  get isOver(): boolean {
    return this.#over.signal.aborted
  }

  end(): void {
    this.#over.abort()
  }

  /** False: it is over. */
  async pause(ms: number): Promise<boolean> {
    const { signal } = this.#over
    await sleep(ms, undefined, { signal }).catch(() => undefined)
    return !signal.aborted
  }

  /** What came within this time. Undefined: nothing, or it is over. */
  async within<Value>(
    ms: number,
    look: () => Promise<Value | undefined>,
  ): Promise<Value | undefined> {
    const until = performance.now() + ms
    do {
      const found = await look()
      if (found !== undefined) return found
    } while (performance.now() < until && (await this.pause(LOOK_MS)))
    return undefined
  }
}
