// What is known of each file, by its path: the hash of its text, the facts in it, and its stat as
// it was when the text was read. Pure.

import type { Fact, FileFacts } from './facts.ts'
import type { FileStat } from './file-stat.ts'

/** `racy`: the same stat, but read so soon after a write that another may hide behind it. */
type Difference = 'new' | 'differs' | 'racy' | 'same'

interface KnownFile extends Omit<FileFacts, 'facts'> {
  /** A list only where there are several: a list for each of 100,000 would take 6 MiB. */
  facts: Fact | readonly Fact[]
  /** The scan in which it was last there. */
  round: number
}

export class FileTable {
  /** All files are below it. */
  readonly #root: string
  readonly #keep: (name: string) => string
  /** By their names below the root. */
  readonly #files = new Map<string, KnownFile>()
  #round = 1

  /** `keep`: makes of a name the string that stays. */
  constructor(root = '', keep: (name: string) => string = (name) => name) {
    this.#root = root
    this.#keep = keep
  }

  get size(): number {
    return this.#files.size
  }

  hashOf(path: string): string | undefined {
    return this.#at(path)?.hash
  }

  factsOf(path: string): readonly Fact[] {
    const known = this.#at(path)
    return known ? listOf(known) : []
  }

  /** The file was read. */
  put(path: string, { hash, facts: all, stat }: FileFacts): void {
    const [first] = all
    const facts = first && all.length === 1 ? first : all
    const known = this.#at(path)
    if (known) Object.assign(known, { hash, facts, stat, round: this.#round })
    else this.#files.set(this.#keep(this.#nameOf(path)), { hash, facts, stat, round: this.#round })
  }

  /** The file was read, and its content is unchanged. */
  touch(path: string, stat: FileFacts['stat']): void {
    const known = this.#at(path)
    if (known) Object.assign(known, { stat, round: this.#round })
  }

  delete(path: string): void {
    this.#files.delete(this.#nameOf(path))
  }

  *facts(): Generator<Fact> {
    for (const file of this.#files.values()) yield* listOf(file)
  }

  /** Every file, read from the table one by one: files may be added and removed meanwhile. */
  *entries(): Generator<[string, FileFacts]> {
    for (const [name, file] of this.#files)
      yield [this.#root + name, { ...file, facts: listOf(file) }]
  }

  /** Begins a scan: `missed` then lists what was neither compared nor read since. */
  beginScan(): void {
    this.#round += 1
  }

  has = (path: string): boolean => this.#files.has(this.#nameOf(path))

  /** Compares a file that is there with how it was when it was read. The stat is not kept. */
  compare(path: string, stat: FileStat): Difference {
    const known = this.#at(path)
    if (!known) return 'new'
    known.round = this.#round
    const { stat: last } = known
    const isSame =
      last?.size === stat.size &&
      last.mtimeMs === stat.mtimeMs &&
      last.ctimeMs === stat.ctimeMs &&
      last.ino === stat.ino
    if (!isSame) return 'differs'
    return last.isRacy ? 'racy' : 'same'
  }

  missed(): string[] {
    const paths: string[] = []
    for (const [name, { round }] of this.#files) {
      if (round !== this.#round) paths.push(this.#root + name)
    }
    return paths
  }

  isMissed(path: string): boolean {
    const known = this.#at(path)
    return known !== undefined && known.round !== this.#round
  }

  /** The next scan reports the file, even with the same stat. */
  distrust(path: string): void {
    const known = this.#at(path)
    if (known) known.stat = undefined
  }

  #at(path: string): KnownFile | undefined {
    return this.#files.get(this.#nameOf(path))
  }

  #nameOf = (path: string): string => path.slice(this.#root.length)
}

const listOf = ({ facts }: KnownFile): readonly Fact[] => ('kind' in facts ? [facts] : facts)
