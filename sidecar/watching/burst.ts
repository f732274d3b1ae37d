// Notices a burst of hints. Why it matters: the system's own queue of changes is bounded (16,384 on
// Linux) and what does not fit is dropped; neither Node nor the libraries on top of it say so. But
// no queue overflows without thousands of hints that did fit, so whoever scans after every burst
// never trusts an overflowed queue.

/** Ticks of this length are counted; the caller's timer runs only while hints come. */
export const TICK_MS = 250
/** A thirtieth of Linux's queue; a team of agents saves a few files a tick. */
export const BURST_HINTS = 500

/** Counts hints without a timer of its own. */
export class Burst {
  #count = 0
  #bursting = false

  /** Counts a hint. True: no tick is pending yet, call `tick` in `TICK_MS`. */
  hint(): boolean {
    this.#count += 1
    return this.#count === 1 && !this.#bursting
  }

  /**
   * `gap`: scan now. `again`: call `tick` again in `TICK_MS`. A burst is reported at each of its
   * ticks and once more after its end, so that what the last overflow dropped is found too.
   */
  tick(): { gap: boolean; again: boolean } {
    const before = this.#bursting
    const bursting = this.#count >= BURST_HINTS
    this.#bursting = bursting
    this.#count = 0
    return { gap: bursting || before, again: bursting }
  }
}

/** A `Burst` on a timer. `onBurst` is called whenever a scan is due. */
export function burstTimer(onBurst: () => void): { hint(): void; close(): void } {
  const burst = new Burst()
  let timer: NodeJS.Timeout | undefined
  const sleep = () => {
    timer = setTimeout(() => {
      const { gap, again } = burst.tick()
      if (again) sleep()
      if (gap) onBurst()
    }, TICK_MS).unref()
  }
  return {
    hint: () => {
      if (burst.hint()) sleep()
    },
    close: () => clearTimeout(timer),
  }
}
