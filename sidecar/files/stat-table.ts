// What a scan remembers of each file, in columns of numbers: at 100,000 files an object each would
// take several times the memory. Pure.

/** What tells two states of a file apart without reading it. */
export interface FileStat {
  size: number
  mtimeMs: number
  ctimeMs: number
  ino: number
}

/** A file as it was looked at. */
export interface SeenStat extends FileStat {
  /** Looked at so soon after a write that another one may hide behind the same stat. */
  isRacy: boolean
}

/** A file younger than this may be written again within one tick of its clock. */
const RACY_MS = 2_000

export const youngest = (stat: FileStat): number => Math.max(stat.mtimeMs, stat.ctimeMs)

export const isRacy = (stat: FileStat, now: number): boolean => now - youngest(stat) < RACY_MS

/** `racy`: the same, but last looked at so soon after a write that another may hide behind it. */
export type Difference = 'new' | 'differs' | 'racy' | 'same'

export class StatTable {
  /** Folder → file name → slot in the columns. */
  readonly #folders = new Map<string, Map<string, number>>()
  readonly #free: number[] = []
  #slots = 0
  #numbers = new Float64Array(4 * 256)
  #rounds = new Uint32Array(256)
  #racy = new Uint8Array(256)
  #round = 1

  /** Begins a scan: `absent` then lists what was not put since. */
  beginRound(): void {
    this.#round += 1
  }

  put(folder: string, name: string, stat: FileStat, racy: boolean): Difference {
    const names = this.#folders.get(folder) ?? new Map<string, number>()
    if (names.size === 0) this.#folders.set(folder, names)
    const known = names.get(name)
    const slot = known ?? this.#allocate()
    if (known === undefined) names.set(name, slot)
    const difference = known === undefined ? 'new' : this.#compare(slot, stat)
    const at = 4 * slot
    this.#numbers[at] = stat.size
    this.#numbers[at + 1] = stat.mtimeMs
    this.#numbers[at + 2] = stat.ctimeMs
    this.#numbers[at + 3] = stat.ino
    this.#rounds[slot] = this.#round
    this.#racy[slot] = racy ? 1 : 0
    return difference
  }

  drop(folder: string, name: string): void {
    const slot = this.#folders.get(folder)?.get(name)
    if (slot === undefined) return
    this.#folders.get(folder)?.delete(name)
    this.#free.push(slot)
  }

  /** Makes the next `put` differ, whatever it brings. */
  spoil(folder: string, name: string): void {
    const slot = this.#folders.get(folder)?.get(name)
    if (slot !== undefined) this.#numbers[4 * slot] = Number.NaN
  }

  folders(): Iterable<string> {
    return this.#folders.keys()
  }

  isAbsent(folder: string, name: string): boolean {
    const slot = this.#folders.get(folder)?.get(name)
    return slot !== undefined && this.#rounds[slot] !== this.#round
  }

  /** Names in this folder that were not put in this round. */
  absent(folder: string): string[] {
    const names: string[] = []
    for (const [name, slot] of this.#folders.get(folder) ?? []) {
      if (this.#rounds[slot] !== this.#round) names.push(name)
    }
    return names
  }

  #compare(slot: number, stat: FileStat): Difference {
    const at = 4 * slot
    const same =
      this.#numbers[at] === stat.size &&
      this.#numbers[at + 1] === stat.mtimeMs &&
      this.#numbers[at + 2] === stat.ctimeMs &&
      this.#numbers[at + 3] === stat.ino
    if (!same) return 'differs'
    return this.#racy[slot] === 1 ? 'racy' : 'same'
  }

  #allocate(): number {
    const slot = this.#free.pop() ?? this.#slots++
    if (slot >= this.#rounds.length) this.#grow()
    return slot
  }

  #grow(): void {
    const length = 2 * this.#rounds.length
    const numbers = new Float64Array(4 * length)
    numbers.set(this.#numbers)
    this.#numbers = numbers
    const rounds = new Uint32Array(length)
    rounds.set(this.#rounds)
    this.#rounds = rounds
    const racy = new Uint8Array(length)
    racy.set(this.#racy)
    this.#racy = racy
  }
}
