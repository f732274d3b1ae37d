// Random numbers, the same ones for the same seed (mulberry32).

export class Seeded {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** 0 ≤ n < 1 */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    const state = this.#state
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }

  /** 0 ≤ n < `below` */
  below(below: number): number {
    return Math.floor(this.next() * below)
  }

  /** One of them, as often as its weight. */
  weighted<Value>(choices: readonly (readonly [weight: number, value: Value])[]): Value {
    let left = this.next() * choices.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, value] of choices) {
      left -= weight
      if (left < 0) return value
    }
    throw new Error('there is nothing to choose from')
  }

  /** A generator of its own: how often one user draws does not change what another gets. */
  fork(): Seeded {
    return new Seeded(Math.floor(this.next() * 2 ** 31))
  }
}
