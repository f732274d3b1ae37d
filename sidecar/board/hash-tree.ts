// The sums that a sync compares: one root, 256 buckets, kept as records come and go. Hashes stand
// in a column of numbers: as strings they were half a second and 5 MB at 100,000 records. The keys
// of a bucket are gathered only when asked for: a sync of an unchanged board never asks.

import type { Key } from '../../worker/board/wire.ts'
import { BUCKETS, bucketOf } from '../../worker/board/wire.ts'
import { compact } from '../files/compact.ts'

/** Words of 32 bits in a hash. */
const WORDS = 4

export class HashTree {
  readonly #slots = new Map<Key, number>()
  readonly #free: number[] = []
  readonly #sums = new Uint32Array(WORDS * BUCKETS)
  /** Where a hash is taken apart. */
  readonly #parsed = new Uint32Array(WORDS)
  #words = new Uint32Array(WORDS * 256)
  /** By bucket, from the first question until a key comes or goes: a first sync asks 256 times. */
  #keys: Key[][] | undefined

  /** Gives a key its hash, or takes the key out (undefined). False: it was so before. */
  set(key: Key, hash: string | undefined): boolean {
    const known = this.#slots.get(key)
    if (hash === undefined) return known !== undefined && this.#delete(key, known)
    parseHash(hash, this.#parsed)
    if (known !== undefined && this.#isAt(known)) return false
    if (known !== undefined) this.#toggle(key, known)
    const slot = known ?? this.#allocate(key)
    this.#words.set(this.#parsed, WORDS * slot)
    this.#toggle(key, slot)
    return true
  }

  get size(): number {
    return this.#slots.size
  }

  root(): string {
    const root = new Uint32Array(WORDS)
    for (let n = 0; n < BUCKETS; n++) xor(root, 0, this.#sums, n)
    return formatHash(root, 0)
  }

  buckets(): string[] {
    return Array.from({ length: BUCKETS }, (_, n) => formatHash(this.#sums, n))
  }

  bucket(n: number): Record<Key, string> {
    this.#keys ??= this.#group()
    const keys = this.#keys[n] ?? []
    return Object.fromEntries(
      keys.map((key) => [key, formatHash(this.#words, this.#slots.get(key) ?? 0)]),
    )
  }

  #group(): Key[][] {
    const groups = Array.from({ length: BUCKETS }, (): Key[] => [])
    for (const key of this.#slots.keys()) groups[bucketOf(key)]?.push(key)
    return groups
  }

  #delete(key: Key, slot: number): true {
    this.#toggle(key, slot)
    this.#slots.delete(key)
    this.#keys = undefined
    this.#free.push(slot)
    return true
  }

  #isAt(slot: number): boolean {
    for (let i = 0; i < WORDS; i++) {
      if (this.#words[WORDS * slot + i] !== this.#parsed[i]) return false
    }
    return true
  }

  #toggle(key: Key, slot: number): void {
    xor(this.#sums, bucketOf(key), this.#words, slot)
  }

  #allocate(key: Key): number {
    const slot = this.#free.pop() ?? this.#slots.size
    this.#slots.set(compact(key) as Key, slot)
    this.#keys = undefined
    if (WORDS * slot < this.#words.length) return slot
    const words = new Uint32Array(2 * this.#words.length)
    words.set(this.#words)
    this.#words = words
    return slot
  }
}

function xor(into: Uint32Array, at: number, from: Uint32Array, slot: number): void {
  for (let i = 0; i < WORDS; i++) {
    into[WORDS * at + i] = (into[WORDS * at + i] ?? 0) ^ (from[WORDS * slot + i] ?? 0)
  }
}

function parseHash(hash: string, into: Uint32Array): void {
  for (let i = 0; i < WORDS; i++) into[i] = Number.parseInt(hash.slice(8 * i, 8 * i + 8), 16)
}

function formatHash(words: Uint32Array, slot: number): string {
  let out = ''
  for (let i = 0; i < WORDS; i++) {
    out += (words[WORDS * slot + i] ?? 0).toString(16).padStart(8, '0')
  }
  return out
}
