// Whether a process that died is started again, and when. Pure: deaths and times in, verdict out.

export interface RestartLimits {
  firstDelayMs: number
  longestDelayMs: number
  /** This many deaths within the window are a fault that starting again does not heal. */
  maxDeaths: number
  windowMs: number
}

export const RESTART_LIMITS: RestartLimits = {
  firstDelayMs: 250,
  longestDelayMs: 5_000,
  maxDeaths: 5,
  windowMs: 60_000,
}

export type Verdict = { again: true; delayMs: number } | { again: false; deaths: number }

export class RestartPolicy {
  readonly #limits: RestartLimits
  #deaths: number[] = []

  constructor(limits = RESTART_LIMITS) {
    this.#limits = limits
  }

  /** `now` in ms, of any clock that does not run backwards. */
  onDeath(now: number): Verdict {
    const { firstDelayMs, longestDelayMs, maxDeaths, windowMs } = this.#limits
    this.#deaths = this.#deaths.filter((at) => now - at < windowMs)
    this.#deaths.push(now)
    const deaths = this.#deaths.length
    if (deaths >= maxDeaths) return { again: false, deaths }
    return { again: true, delayMs: Math.min(firstDelayMs * 2 ** (deaths - 1), longestDelayMs) }
  }
}
