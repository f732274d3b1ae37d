// Files that were parsed a moment ago, so that a save is parsed once, and not once more when it is
// published.

import type { ParsedFile } from '../files/facts.ts'

/** A few thousand small files, or one large one: what a burst leaves to the publisher. */
const MAX_CHARS = 4 << 20

/** Bounded by the text that the entries keep alive; losing one costs a second parse. */
export class ParsedCache {
  readonly #files = new Map<string, ParsedFile>()
  #chars = 0

  put(path: string, file: ParsedFile): void {
    this.drop(path)
    this.#files.set(path, file)
    this.#chars += file.chars
    for (const oldest of this.#files.keys()) {
      // The newest stays however large it is: each of its thousand tasks is going to be asked for.
      if (this.#chars <= MAX_CHARS || oldest === path) break
      this.drop(oldest)
    }
  }

  /** The parsed file, if its text is still the one that is known. */
  get(path: string, hash: string | undefined): ParsedFile | undefined {
    const file = this.#files.get(path)
    return file?.hash === hash ? file : undefined
  }

  drop(path: string): void {
    this.#chars -= this.#files.get(path)?.chars ?? 0
    this.#files.delete(path)
  }
}
