// The key of a request that must not be made twice: the same however often it is pressed, another
// once it is settled or means something else. Pure; who draws the key comes in.

import { ApiProblem } from '../../data/http.ts'
import { words } from '../../words.ts'
import { problemText } from '../problem-text.ts'

export class IdempotencyKey {
  readonly #draw: () => string
  #known: { request: string; key: string } | undefined

  /** `draw`: a key that nobody has used. */
  constructor(draw: () => string) {
    this.#draw = draw
  }

  of(request: unknown): string {
    const text = JSON.stringify(request)
    if (this.#known?.request !== text) this.#known = { request: text, key: this.#draw() }
    return this.#known.key
  }

  /** The request has been answered for good. */
  settle(): void {
    this.#known = undefined
  }
}

/** What is said of a failure: whether it may be pressed again is what somebody wonders then. */
export const sayFailure = (problem: unknown): string =>
  isRefusal(problem) ? problemText(problem) : `${problemText(problem)} ${words.payments.safeAgain}`

/**
 * Whether nothing came of it and nothing will: the same request under another key is another try.
 * After anything else the gateway may have done it, and only the same key is safe.
 */
export const isRefusal = (problem: unknown): boolean =>
  problem instanceof ApiProblem && REFUSALS.includes(problem.code)

const REFUSALS: readonly string[] = ['invalid_argument', 'gateway_refused']
