// What is known of each file, by its path: the hash of its text, the facts in it, and its stat as
// it was when the text was read. In columns: at 100,000 files an object, a list and a stat for each
// would be 20 MiB more. Pure.

import type { Fact, FileFacts } from './facts.ts'
import type { FileStat, SeenStat } from './file-stat.ts'

/** A file that is not just one fact of the same bytes. */
interface Several {
  hash: string
  facts: readonly Fact[]
}

/** `racy`: the same stat, but read so soon after a write that another may hide behind it. */
type Difference = 'new' | 'differs' | 'racy' | 'same'

const isSeveral = (kept: Fact | Several): kept is Several => 'facts' in kept

export class FileTable {
  /** All files are below it. */
  readonly #root: string
  readonly #keep: (name: string) => string
  /** By their names below the root. */
  readonly #slots = new Map<string, number>()
  readonly #kept: (Fact | Several | undefined)[] = []
  readonly #free: number[] = []
  /** Size, mtime, ctime and ino of each slot; NaN where there is no stat to compare with. */
  #stats = new Float64Array(4 * 256)
  #racy = new Uint8Array(256)
  /** The scan in which each file was last there. */
  #rounds = new Uint32Array(256)
  #round = 1

  /** `keep`: makes of a name the string that stays. */
  constructor(root = '', keep: (name: string) => string = (name) => name) {
    this.#root = root
    this.#keep = keep
  }

  get size(): number {
    return this.#slots.size
  }

  /** Where a file is, for `compare`: to hash its path costs more than to compare it. */
  slotOf(path: string): number | undefined {
    return this.#slots.get(path.slice(this.#root.length))
  }

  hashOf(path: string): string | undefined {
    return this.#keptOf(path)?.hash
  }

  factsOf(path: string): readonly Fact[] {
    const kept = this.#keptOf(path)
    if (kept === undefined) return []
    return isSeveral(kept) ? kept.facts : [kept]
  }

  /** The file was read. */
  put(path: string, { hash, facts, stat }: FileFacts): void {
    const known = this.slotOf(path)
    const slot = known ?? this.#free.pop() ?? this.#kept.length
    const [only] = facts
    const isOne = only !== undefined && facts.length === 1 && only.hash === hash
    this.#kept[slot] = isOne ? only : { hash, facts }
    if (known === undefined) this.#slots.set(this.#keep(path.slice(this.#root.length)), slot)
    this.#putStat(slot, stat)
  }

  /** The file was read, and its content is unchanged. */
  touch(path: string, stat: SeenStat | undefined): void {
    const slot = this.slotOf(path)
    if (slot !== undefined) this.#putStat(slot, stat)
  }

  delete(path: string): void {
    const slot = this.slotOf(path)
    if (slot === undefined) return
    this.#slots.delete(path.slice(this.#root.length))
    this.#kept[slot] = undefined
    this.#free.push(slot)
  }

  *facts(): Generator<Fact> {
    for (const kept of this.#kept) {
      if (kept === undefined) continue
      if (isSeveral(kept)) yield* kept.facts
      else yield kept
    }
  }

  /** Every file, read from the table one by one: files may be added and removed meanwhile. */
  *entries(): Generator<[string, FileFacts]> {
    for (const [name, slot] of this.#slots) {
      const hash = this.#kept[slot]?.hash
      if (hash === undefined) continue
      const path = this.#root + name
      yield [path, { hash, facts: this.factsOf(path), stat: this.#statOf(slot) }]
    }
  }

  /** Begins a scan: `missed` then lists what was neither compared nor read since. */
  beginScan(): void {
    this.#round += 1
  }

  /** Compares a file that is there with how it was when it was read. The stat is not kept. */
  compare(slot: number | undefined, stat: FileStat): Difference {
    if (slot === undefined) return 'new'
    this.#rounds[slot] = this.#round
    const at = 4 * slot
    const isSame =
      this.#stats[at] === stat.size &&
      this.#stats[at + 1] === stat.mtimeMs &&
      this.#stats[at + 2] === stat.ctimeMs &&
      this.#stats[at + 3] === stat.ino
    if (!isSame) return 'differs'
    return this.#racy[slot] === 1 ? 'racy' : 'same'
  }

  missed(): string[] {
    const paths: string[] = []
    for (const [name, slot] of this.#slots) {
      if (this.#rounds[slot] !== this.#round) paths.push(this.#root + name)
    }
    return paths
  }

  isMissed(path: string): boolean {
    const slot = this.slotOf(path)
    return slot !== undefined && this.#rounds[slot] !== this.#round
  }

  /** The next scan reports the file, even with the same stat. */
  distrust(path: string): void {
    const slot = this.slotOf(path)
    if (slot !== undefined) this.#stats[4 * slot] = Number.NaN
  }

  #keptOf(path: string): Fact | Several | undefined {
    const slot = this.slotOf(path)
    return slot === undefined ? undefined : this.#kept[slot]
  }

  #statOf(slot: number): SeenStat | undefined {
    const [size = Number.NaN, mtimeMs = 0, ctimeMs = 0, ino = 0] = this.#stats.subarray(
      4 * slot,
      4 * slot + 4,
    )
    if (Number.isNaN(size)) return undefined
    return { size, mtimeMs, ctimeMs, ino, isRacy: this.#racy[slot] === 1 }
  }

  #putStat(slot: number, stat: SeenStat | undefined): void {
    if (slot >= this.#racy.length) this.#grow()
    const at = 4 * slot
    this.#stats[at] = stat?.size ?? Number.NaN
    this.#stats[at + 1] = stat?.mtimeMs ?? 0
    this.#stats[at + 2] = stat?.ctimeMs ?? 0
    this.#stats[at + 3] = stat?.ino ?? 0
    this.#racy[slot] = stat?.isRacy ? 1 : 0
    this.#rounds[slot] = this.#round
  }

  #grow(): void {
    const length = 2 * this.#racy.length
    const stats = new Float64Array(4 * length)
    stats.set(this.#stats)
    this.#stats = stats
    const racy = new Uint8Array(length)
    racy.set(this.#racy)
    this.#racy = racy
    const rounds = new Uint32Array(length)
    rounds.set(this.#rounds)
    this.#rounds = rounds
  }
}
