// What each part of the load gets, and when all of it is over. Until then its agents pause, and
// wait for what is to come.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Seeded } from '../../../harness/seeded.ts'
import type { Recorder } from '../recorder.ts'
import type { System } from '../system.ts'

export interface LoadPlan {
  system: System
  recorder: Recorder
  random: Seeded
  ending: Ending
}

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

  /** The same work so many times at once, each again and again after a pause. */
  async repeat(
    { times, pauseMs }: { times: number; pauseMs: () => number },
    work: (who: number, round: number) => Promise<unknown>,
  ): Promise<void> {
    const one = async (who: number) => {
      for (let round = 0; await this.pause(pauseMs()); round++) await work(who, round)
    }
    await Promise.all(Array.from({ length: times }, (_, who) => one(who)))
  }
}
