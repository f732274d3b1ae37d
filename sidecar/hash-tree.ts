// The sums that a sync compares: one root, 256 buckets, kept as records come and go. The keys of a
// bucket are gathered only when asked for: a sync of an unchanged board never asks, and 256 lists
// of 100,000 keys would be held for nothing.

import type { Key } from '../worker/board/wire.ts'
import { BUCKETS, bucketOf, EMPTY_HASH, toggleHash } from '../worker/board/wire.ts'

export class HashTree {
  readonly #hashes = new Map<Key, string>()
  readonly #sums: string[] = Array.from({ length: BUCKETS }, () => EMPTY_HASH)
  #root = EMPTY_HASH

  /** Gives a key its hash, or takes the key out (undefined). False: it was so before. */
  set(key: Key, hash: string | undefined): boolean {
    const before = this.#hashes.get(key)
    if (before === hash) return false
    if (before !== undefined) this.#toggle(key, before)
    if (hash === undefined) this.#hashes.delete(key)
    else {
      this.#toggle(key, hash)
      this.#hashes.set(key, hash)
    }
    return true
  }

  get(key: Key): string | undefined {
    return this.#hashes.get(key)
  }

  get size(): number {
    return this.#hashes.size
  }

  root(): string {
    return this.#root
  }

  buckets(): string[] {
    return [...this.#sums]
  }

  bucket(n: number): Record<Key, string> {
    const entries: [Key, string][] = []
    for (const [key, hash] of this.#hashes) if (bucketOf(key) === n) entries.push([key, hash])
    return Object.fromEntries(entries)
  }

  #toggle(key: Key, hash: string): void {
    const n = bucketOf(key)
    this.#sums[n] = toggleHash(this.#sums[n] ?? EMPTY_HASH, hash)
    this.#root = toggleHash(this.#root, hash)
  }
}
