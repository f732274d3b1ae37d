// Entries that were parsed a moment ago, so that a save is parsed once and not once more when it is
// published. Bounded by the text that the entries keep alive; losing one costs a second parse.

import type { Says } from './facts.ts'

/** A few thousand small files, or one large one: what a burst leaves to the publisher. */
const MOST_CHARS = 4 << 20

export class Recent {
  readonly #says = new Map<string, Says>()
  #chars = 0

  put(path: string, says: Says): void {
    this.drop(path)
    this.#says.set(path, says)
    this.#chars += says.chars
    for (const oldest of this.#says.keys()) {
      // The newest stays however large it is: each of its thousand tasks is going to be asked for.
      if (this.#chars <= MOST_CHARS || oldest === path) break
      this.drop(oldest)
    }
  }

  /** What a file said, if that is what is still known of it. */
  get(path: string, hash: string | undefined): Says | undefined {
    const says = this.#says.get(path)
    return says?.hash === hash ? says : undefined
  }

  drop(path: string): void {
    this.#chars -= this.#says.get(path)?.chars ?? 0
    this.#says.delete(path)
  }
}
