// What the sidecar knows of a board: facts of every file, and what follows from them. It holds no
// bodies; a record is read again when the publisher asks for it. No timer, no clock: `takeChanged`
// takes the time, `nextStaleAt` says when to come back.
//
// The files of this folder, which has the facts of one board and its records:
// - relations.ts has which facts hang on which: id-holders.ts which fact holds which id, and
//   derive.ts the rules for what follows, such as that a task is ready;
// - record-source.ts is what the publisher asks: record-reader.ts reads a record from its file, or
//   has it from parsed-cache.ts, and compose.ts puts it together;
// - hash-tree.ts has the sums of the records' hashes, which a sync compares.

import { type Key, parseKey } from '../../worker/board/wire.ts'
import { compact } from '../files/compact.ts'
import {
  type Fact,
  type FileFacts,
  factOf,
  factsIn,
  isOfTask,
  NO_FILE,
  type ParsedFile,
  type SavedFile,
} from '../files/facts.ts'
import type { FileReader } from '../files/file-reader.ts'
import { FileTable } from '../files/file-table.ts'
import type { Store } from '../layouts/layout.ts'
import { TreeCopies } from '../trees/tree-copies.ts'
import { placeIn, type RecordSource, recordHash } from './compose.ts'
import { HashTree } from './hash-tree.ts'
import type { IdHolders } from './id-holders.ts'
import { RecordReader } from './record-reader.ts'
import type { Records } from './record-source.ts'
import { type Counts, Relations } from './relations.ts'

type FileRules = Pick<Store, 'root' | 'within' | 'classify' | 'roleOf' | 'isGuess' | 'whyIgnored'>
type StoreRules = FileRules & Pick<Store, 'fold' | 'board' | 'remember'>
const NONE: ReadonlySet<never> = new Set()

interface Summary {
  counts: Counts
  /** What the tool calls the project. */
  project?: string
  /** When a task last changed, in ms, as far as that is known. */
  changedAt?: number
}

export class Board implements Records {
  readonly #store: StoreRules
  /** What is known of each file. */
  readonly files = new FileTable()
  readonly trees: TreeCopies
  readonly #relations: Relations
  readonly #holders: IdHolders
  readonly #hashes = new HashTree()
  readonly #reader: RecordReader
  /** By name, the keys of tasks that trees have, and perhaps not the main tree. */
  readonly #alone = new Map<string, Key>()
  /** Keys whose record may have another hash. */
  #dirty = new Set<Key>()
  /** Every record may be; at the start a set of all keys would be held for nothing. */
  #isAllDirty: boolean = true
  /** All files were read once, or known from an earlier run. */
  #isRead: boolean = false
  #derivedAt = 0
  /** When a task last changed, in ms; 0: not known. */
  #changedAt = 0
  /** The same, of what was not taken yet. Infinity: now. */
  #newsAt = 0
  #summary: { root: string; counts: Counts } | undefined

  constructor(store: StoreRules, readWhole: FileReader['readWhole']) {
    this.#store = store
    this.#relations = new Relations(store)
    this.#holders = this.#relations.holders
    this.trees = new TreeCopies({
      store,
      files: this.files,
      holders: this.#holders,
      add: (fact) => {
        this.#relations.add(fact)
        this.#besideChanged(fact)
      },
      remove: (fact) => {
        this.#besideChanged(fact)
        this.#relations.remove(fact)
      },
    })
    const { board } = store
    const fixed = board && ({ kind: 'board', id: 'board', board } as const)
    this.#reader = new RecordReader({
      readWhole,
      fixed,
      find: this.#find,
      partOf: this.#partOf,
      sourceOf: this.#sourceOf,
      files: this,
    })
    const fact = fixed && factOf({ path: NO_FILE, hash: NO_FILE, state: 'ok' }, fixed, undefined)
    if (!fact) return
    this.#relations.add(fact)
    this.#relations.takeRules()
    this.#dirty.add('board:board')
  }

  /** How many tasks are listed. */
  countTasks(): number {
    return this.#holders.countTasks(this.files.facts())
  }

  /** What a list of boards says of this one. Counted again only after a change. */
  summary(): Summary {
    const root = this.#hashes.root()
    if (this.#summary?.root !== root) {
      this.#summary = { root, counts: this.#relations.count(this.files.facts(), this.#derivedAt) }
    }
    const { project } = this.#relations
    return {
      counts: this.#summary.counts,
      ...(project !== undefined && { project }),
      ...(this.#changedAt > 0 && { changedAt: this.#changedAt }),
    }
  }

  /** Hash of the text that is known of a file. */
  hashOf = (path: string): string | undefined => this.#filesAt(path).hashOf(path)

  factsOf = (path: string): readonly Fact[] => this.#filesAt(path).factsOf(path)

  /** Where its file is below the project's folder. Undefined: it is in none there. */
  placeOf({ path, tree }: Fact): string | undefined {
    return placeIn((tree && this.trees.filesAt(path)?.tree.store) || this.#store, path)
  }

  /** The next scan reports the file, even with the same stat. */
  distrust = (path: string): void => this.#filesAt(path).distrust(path)

  #filesAt = (path: string) => this.trees.filesAt(path) ?? this.files

  /** Takes what a file says now; null: it is gone. The same bytes change nothing. */
  ingest(path: string, file: ParsedFile | null): void {
    const inTree = this.trees.filesAt(path)
    if (inTree) {
      // One that says nothing new was not parsed.
      if (file && file.entries.length > 0) this.#reader.took(path, file)
      this.#takeFromTrees()
      inTree.ingest(path, file)
      if (this.#takeFromTrees() && this.#isRead) this.#newsAt = Infinity
      return
    }
    if (file === null) {
      this.#reader.took(path, null)
      this.#replace(path, undefined)
      return
    }
    const { hash, stat, state } = file
    const before = this.files.factsOf(path)
    if (this.files.hashOf(path) === hash) {
      this.files.touch(path, stat)
      if (this.#reader.hasRefused) for (const fact of before) this.#touchRecord(fact)
      return
    }
    this.#reader.took(path, file)
    const name = before[0]?.path ?? compact(path)
    const facts = file.entries
      .map((entry) => factOf({ path: name, hash, state }, entry, this.#relations.rules))
      .filter((fact) => fact !== undefined)
    const isKept = state === 'broken' && this.#store.classify(path) === 'tasks'
    const names = new Set(facts.map((fact) => this.#holders.nameOf(fact)))
    const isSaid = (fact: Fact) => names.has(this.#holders.nameOf(fact))
    const kept = isKept ? before.filter((fact) => !isSaid(fact)) : []
    this.#replace(name, { hash, facts: [...facts, ...kept], stat })
  }

  /** Takes what was known of a file when an earlier run ended. */
  restore(path: string, file: SavedFile): void {
    for (const { kind, id } of file.facts) if (kind === 'task') this.#store.remember?.(id)
    this.#replace(path, file, file.besides)
  }

  /** What the next start is to know of every file. */
  *saved(): Generator<[string, SavedFile]> {
    for (const [path, file] of this.files.entries()) {
      const besides = file.facts.filter((fact) => !this.#holders.isPublished(fact))
      yield [path, { ...file, besides: besides.length === 0 ? NONE : new Set(besides) }]
    }
  }

  /**
   * Derives everything that is affected by what was ingested, and by time. Answers the keys of the
   * records that changed, appeared or went since the last call. `isReading`: not all files were
   * read once.
   */
  takeChanged(now: number, isReading = false): Key[] {
    this.#isRead ||= !isReading
    this.#takeFromTrees()
    const changed: Key[] = []
    this.#relations.touchStale(this.#derivedAt, now, this.#dirty)
    this.#derivedAt = now
    this.#changedAt = Math.max(this.#changedAt, Math.min(this.#newsAt, now))
    this.#newsAt = 0
    this.#holders.publish()
    for (const key of this.#dirty) if (this.#hashAgain(key)) changed.push(key)
    this.#dirty = new Set()
    if (!this.#isAllDirty) return changed
    this.#isAllDirty = false
    for (const key of this.#keys()) if (this.#hashAgain(key)) changed.push(key)
    return changed
  }

  /** When the next session becomes stalled. Undefined: none will unless a file changes. */
  nextStaleAt = (): number | undefined => this.#relations.nextStaleAt(this.#derivedAt)

  root = (): string => this.#hashes.root()
  buckets = (): string[] => this.#hashes.buckets()
  bucket = (n: number): Record<Key, string> => this.#hashes.bucket(n)

  follow(): Key[] {
    if (!this.#reader.takeIsAhead()) return []
    return this.takeChanged(this.#derivedAt, !this.#isRead)
  }

  read = (key: Key): ReturnType<Records['read']> => this.#reader.read(key)

  /** `besides`: of a file that is restored. */
  #replace(path: string, after: FileFacts | undefined, besides?: ReadonlySet<Fact>): void {
    const before = this.files.factsOf(path)
    // Those that it had, too: another file may hold their ids from here on.
    const facts = after ? [...before, ...after.facts] : before
    const names = new Set(facts.map((fact) => this.#holders.nameOf(fact)))
    this.#touchAround(names, () => {
      const hashBefore = this.files.hashOf(path)
      for (const fact of before) this.#relations.remove(fact)
      for (const fact of after?.facts ?? []) {
        this.#relations.add(fact, besides && !besides.has(fact))
      }
      if (after) this.files.put(path, after)
      else this.files.delete(path)
      this.trees.mainChanged(path, hashBefore)
      if (names.has('board:board') && this.#relations.takeRules()) this.#isAllDirty = true
    })
    // Rare, and any record may show it.
    if (facts.some(({ kind }) => kind === 'setting')) this.#isAllDirty = true
    if (!facts.some(isOfTask)) return
    // A file that comes later may be an old one that was moved here.
    const at = this.#isRead ? Infinity : (after?.stat?.mtimeMs ?? 0)
    this.#newsAt = Math.max(this.#newsAt, at)
  }

  /** Marks what hangs on these names before the change, and after it, and what waits for them. */
  #touchAround(names: ReadonlySet<string>, change: () => void): void {
    // Before anything was taken everything is dirty, and no key that has a hash can be lost.
    if (this.#isAllDirty && this.#hashes.size === 0) {
      change()
      return
    }
    const wasClosed = new Set([...names].filter((name) => this.#relations.isClosed(name)))
    this.#touch(names)
    change()
    this.#touch(names)
    for (const name of names) {
      if (this.#relations.isClosed(name) === wasClosed.has(name)) continue
      this.#relations.touchDependents(name, this.#dirty)
    }
  }

  /** Marks all records that these names may change. */
  #touch(names: Iterable<string>): void {
    for (const name of names) {
      this.#relations.touch(name, this.#dirty)
      this.#setAlone(name)
    }
  }

  #touchRecord(fact: Fact): void {
    this.#relations.touch(this.#holders.nameOf(fact), this.#dirty)
  }

  /** Marks what trees touched since. Whether they did. */
  #takeFromTrees(): boolean {
    const names = this.trees.takeTouched()
    this.#touch(names)
    return names.length > 0
  }

  /** A session, heartbeat or run of a tree comes or goes. */
  #besideChanged(fact: Fact): void {
    this.#touchRecord(fact)
    if (this.#isRead && isOfTask(fact)) this.#newsAt = Infinity
  }

  /** As a task that only trees have, it may have had another key before. */
  #setAlone(name: string): void {
    const before = this.#alone.get(name)
    const copy = this.trees.newest(name)
    const key: Key | undefined = copy && `task:${copy.id}`
    if (before) this.#dirty.add(before)
    if (key) this.#dirty.add(key)
    if (key) this.#alone.set(name, key)
    else this.#alone.delete(name)
  }

  #hashAgain(key: Key): boolean {
    const fact = this.#find(key)
    const isOther = this.#hashes.set(key, fact && recordHash(key, fact, this.#sourceOf(fact)))
    return this.#reader.takeRefused(key) || isOther
  }

  *#keys(): Generator<Key> {
    const keys = new Set<Key>()
    for (const fact of factsIn(this.files, this.trees)) {
      const name = this.#holders.nameOf(fact)
      // All that claim a name come with its holder: once, not once for each of them.
      if (this.#holders.holder(name) !== fact) continue
      keys.clear()
      this.#relations.touch(name, keys)
      yield* keys
    }
    yield* this.#alone.values()
  }

  #find = (key: Key): Fact | undefined => {
    const fact = this.#holders.find(key) ?? this.#findInTrees(key)
    // Of two configurations only the first counts.
    if (fact?.kind === 'board' && key !== 'board:board') return undefined
    return fact
  }

  /** A task that only trees have. */
  #findInTrees(key: Key): Fact | undefined {
    const { kind, id } = parseKey(key)
    if (kind !== 'task') return undefined
    const name = `task:${this.#store.fold(id)}`
    const fact = this.#holders.holder(name) ? undefined : this.trees.newest(name)
    return fact?.id === id ? fact : undefined
  }

  #partOf = (fact: Fact): Fact | undefined => this.#relations.partOf(fact) ?? this.trees.about(fact)

  /** One listed beside its holder is no task of a tree. */
  #treesOf(fact: Fact) {
    if (fact.kind !== 'task' || this.trees.trees.size === 0) return undefined
    const name = this.#holders.nameOf(fact)
    const holder = this.#holders.holder(name)
    return holder === undefined || holder === fact ? this.trees.of(name) : undefined
  }

  #sourceOf = (fact: Fact): RecordSource => {
    const derived = this.#relations.derive(fact, this.#derivedAt)
    const [part, trees] = [this.#partOf(fact), this.#treesOf(fact)]
    return { derived, place: this.placeOf(fact), part, trees }
  }
}
