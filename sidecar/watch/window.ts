// The window in which hints gather before they are acted on. Pure: no timer, the caller sleeps
// until the deadline that it gets.

/** Changes within this long are one message: an agent's save touches several files. */
export const QUIET_MS = 100
/** Longest wait from the first hint: a writer that never pauses must not starve the clients. */
export const MAX_MS = 500

export class Window {
  readonly #quietMs: number
  readonly #maxMs: number
  #first: number | undefined
  #last = 0

  constructor(quietMs = QUIET_MS, maxMs = MAX_MS) {
    this.#quietMs = quietMs
    this.#maxMs = maxMs
  }

  /** Opens the window or keeps it open. Returns when to `close` it, in ms of the caller's clock. */
  hint(now: number): number {
    if (this.#first === undefined) {
      this.#first = now
      this.#last = now
    }
    // A clock that was set back must not pull the deadline before a hint that was already heard.
    this.#last = Math.max(this.#last, now)
    return Math.min(this.#last + this.#quietMs, this.#first + this.#maxMs)
  }

  /** When the open window ends; undefined when none is open. */
  get deadline(): number | undefined {
    if (this.#first === undefined) return undefined
    return Math.min(this.#last + this.#quietMs, this.#first + this.#maxMs)
  }

  due(now: number): boolean {
    return this.deadline !== undefined && now >= this.deadline
  }

  /**
   * True once per window, when it is over: act on what gathered. False: a later hint moved the
   * deadline, or none is open; ask again at `deadline`.
   */
  close(now: number): boolean {
    if (!this.due(now)) return false
    this.#first = undefined
    return true
  }
}
