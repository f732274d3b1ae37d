// Reads a record when the publisher asks for it, from its file as it is then: a board holds no
// bodies. What the file says by now goes into the board first.

import type { DataRecord, Key } from '../../worker/board/wire.ts'
import { type Fact, NO_FILE, type ParsedFile } from '../files/facts.ts'
import type { FileReader } from '../files/file-reader.ts'
import type { Entry } from '../layouts/layout.ts'
import { compose, hashesOf, type RecordSource } from './compose.ts'
import { ParsedCache } from './parsed-cache.ts'
import { RecordUnreadable } from './record-source.ts'

interface RecordReaderDeps {
  readWhole: FileReader['readWhole']
  /** Of a configuration that is in no file. */
  fixed: Entry | undefined
  /** What has this key now. */
  find(key: Key): Fact | undefined
  /** The fact of the other file of a record that two files make. */
  partOf(fact: Fact): Fact | undefined
  sourceOf(fact: Fact): RecordSource
  /** What is known of them. */
  files: {
    hashOf(path: string): string | undefined
    factsOf(path: string): readonly Fact[]
    ingest(path: string, file: ParsedFile | null): void
  }
}

export class RecordReader {
  readonly #deps: RecordReaderDeps
  readonly #parsed = new ParsedCache()
  /** Keys that could not be read: published when their file is read again. */
  readonly #refused = new Set<Key>()
  /** A read found a file changed whose hint has not come yet. */
  #isAhead: boolean = false

  constructor(deps: RecordReaderDeps) {
    this.#deps = deps
  }

  /** A file says this now, and is perhaps asked for in a moment; null: it is gone. */
  took(path: string, file: ParsedFile | null): void {
    if (file) this.#parsed.put(path, file)
    else this.#parsed.drop(path)
  }

  /** Some key could not be read. */
  get hasRefused(): boolean {
    return this.#refused.size > 0
  }

  /** Whether this one could not be read. Asked once: it is published by that. */
  takeRefused = (key: Key): boolean => this.#refused.delete(key)

  /** Whether reads since the last call changed what the board knows. */
  takeIsAhead(): boolean {
    const isAhead = this.#isAhead
    this.#isAhead = false
    return isAhead
  }

  async read(key: Key): Promise<DataRecord | null> {
    const { find, partOf, sourceOf } = this.#deps
    for (;;) {
      const fact = find(key)
      if (fact === undefined) return null
      const entry = this.#entryOf(key, fact)
      const part = partOf(fact)
      const other = part && this.#entryOf(key, part)
      // Reading may have found the file changed; then it is no longer this fact that counts.
      if (find(key) !== fact || partOf(fact) !== part) continue
      if (entry === undefined) this.#refuse(key, 'its file holds it no longer')
      const source = sourceOf(fact)
      return compose(key, hashesOf(key, fact, source), entry, other, source) ?? null
    }
  }

  /** The entry of a fact, from its file as it is now; undefined if it is gone. */
  #entryOf(key: Key, fact: Fact): Entry | undefined {
    const { fixed, files } = this.#deps
    if (fact.path === NO_FILE) return fixed
    const file = this.#readNow(key, fact.path)
    if (file === undefined) return undefined
    const isSame = (other: Fact | Entry): boolean =>
      other.kind === fact.kind && other.id === fact.id
    const twins = files.factsOf(fact.path).filter(isSame)
    return file.entries.filter(isSame)[twins.indexOf(fact)]
  }

  #readNow(key: Key, path: string): ParsedFile | undefined {
    const { files, readWhole } = this.#deps
    const known = files.hashOf(path)
    const parsed = this.#parsed.get(path, known)
    if (parsed !== undefined) {
      // Asked for once; what holds a thousand tasks is asked for a thousand times.
      if (parsed.entries.length === 1) this.#parsed.drop(path)
      return parsed
    }
    const read = readWhole(path)
    if (read.state === 'later') return this.#refuse(key, read.why, read.isAway)
    if (read.state === 'gone') {
      this.#isAhead = true
      files.ingest(path, null)
      return undefined
    }
    const { file } = read
    if (read.unsure && file.hash !== known) return this.#refuse(key, 'it is still being written')
    if (file.hash !== known) this.#isAhead = true
    files.ingest(path, file)
    if (file.entries.length > 1) this.#parsed.put(path, file)
    else this.#parsed.drop(path)
    return file
  }

  #refuse(key: Key, why: string, isAway?: boolean): never {
    this.#refused.add(key)
    throw new RecordUnreadable(`${key} cannot be read now: ${why}`, isAway)
  }
}
