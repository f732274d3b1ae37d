// The files of one linked worktree, and how they differ from the main tree's. One with the same
// bytes is not parsed, and neither is one that the tree did not change: as a merge base of the two
// trees has it, or as the main tree has had it since. A file is due when what it is compared with
// has become another. No I/O, no clock.

import type { Fact, FileFacts, ParsedFile } from '../files/facts.ts'
import type { SeenStat } from '../files/file-stat.ts'
import type { FileTable } from '../files/file-table.ts'
import { parseFile } from '../files/parse-file.ts'
import type { BaseTasks } from './base-tasks.ts'
import { type Copy, copiesIn, type Differing } from './differences.ts'
import { blobIds, isInAny, isUnchanged, type Tree } from './tree.ts'
import { type Change, type MainFiles, type ReadDifferences, TreeTasks } from './tree-tasks.ts'

/** What the trees of a board share. */
interface Shared {
  main: MainFiles
  bases: BaseTasks
  /** Files to be read again. */
  due: Set<string>
  /** Names of tasks. */
  touched: Set<string>
}

/** What the next start is to know of a tree. */
export interface KeptFiles {
  /** Those that it changed. `name`: from the root of the board. */
  files: readonly (Omit<Differing, 'list' | 'isUnread'> & { name: string })[]
  /** The names of the tasks that it has removed. On disk it is called this. */
  gone: readonly string[]
}

const NONE: readonly never[] = []

/** In place of the hash of a text that was not read. */
const isBlob = (hash: string): boolean => hash.length > 32

export class TreeFiles {
  #tree: Tree
  readonly #shared: Shared
  readonly #tasks: TreeTasks
  /** Where no merge base is known: a file as it was first seen, or when the main tree's changed. */
  readonly #firstHashes = new Map<string, string>()
  #isKnown: boolean = false
  #goneBefore: ReadonlySet<string> | undefined

  constructor(tree: Tree, shared: Shared) {
    this.#tree = tree
    this.#shared = shared
    this.#tasks = new TreeTasks(this, shared)
  }

  get tree(): Tree {
    return this.#tree
  }

  get table(): FileTable {
    return this.#tasks.table
  }

  get differences(): ReadDifferences {
    return this.#tasks.differences
  }

  /** All of its files were read once, or are known from an earlier run: until then none counts. */
  get isKnown(): boolean {
    return this.#isKnown
  }

  /** Nothing of it is known from an earlier run alone. */
  get isRead(): boolean {
    return this.#isKnown && !this.#goneBefore
  }

  get goneBefore(): ReadonlySet<string> | undefined {
    return this.#goneBefore
  }

  has = (path: string): boolean => this.#tree.store.classify(path) !== undefined

  /** Where the main tree has a file of this one. */
  mainPath = (path: string): string =>
    this.#main.store.root + path.slice(this.#tree.store.root.length)

  /** Where this tree has a file of the main one. */
  ownPath = (path: string): string =>
    this.#tree.store.root + path.slice(this.#main.store.root.length)

  mainHash = (path: string): string | undefined => this.#main.files.hashOf(this.mainPath(path))

  hashOf(path: string): string | undefined {
    return this.#shared.due.has(path) ? undefined : this.table.hashOf(path)
  }

  distrust = (path: string): void => this.table.distrust(path)

  factsOf(path: string): readonly Fact[] {
    const { copies = NONE, besides = NONE } = this.differences.get(path) ?? {}
    return [...copies.map(({ fact }) => fact), ...besides]
  }

  /** The copies of a task that it changed. */
  copiesOf = (name: string): readonly Copy[] => this.differences.copiesOf(name)

  /** Whether it has changed what was read, and the ids that git may have given that. */
  compare(path: string, hash: string, bytes: Buffer): { isChanged: boolean; blobs: string[] } {
    if (hash === this.mainHash(path)) return { isChanged: false, blobs: [] }
    const blobs = blobIds(bytes, this.#tree.algorithm)
    return { isChanged: !this.#isUnchanged(path, hash, blobs), blobs }
  }

  /** Takes what a file says now; null: it was removed. */
  ingest(path: string, file: ParsedFile | null): void {
    if (file && this.hashOf(path) === file.hash) {
      this.table.touch(path, file.stat)
      return
    }
    this.#shared.due.delete(path)
    if (!file) this.#tasks.set(path, undefined, undefined)
    else if (this.#isHalfMerged(path, file)) this.#leaveAsRead(path, file)
    else this.#tasks.set(path, withoutFacts(file), this.#differing(path, file))
  }

  /** Takes a file that git knows to be as a merge base has it. */
  takeUnchanged(path: string, blob: string, stat: SeenStat): void {
    this.#shared.due.delete(path)
    const file = withoutFacts({ hash: blob, stat })
    // At a first start there may be 100,000, and no task of the tree counts yet.
    if (this.#isKnown) this.#tasks.set(path, file, undefined)
    else this.#tasks.setUntouched(path, file, undefined)
  }

  /** A file of the main tree has changed. `before`: the hash that it had. */
  mainChanged(mainPath: string, before: string | undefined): void {
    const path = this.ownPath(mainPath)
    const hash = this.table.hashOf(path)
    if (hash === undefined) this.#tasks.touchVanished(path)
    if (hash === undefined || isBlob(hash)) return
    if (hash === this.mainHash(path)) this.#tasks.setDiffering(path, undefined)
    else if (!this.differences.get(path)) {
      this.#shared.due.add(path)
      if (hash === before) this.#firstHashes.set(path, hash)
    }
  }

  /** Takes the tree as it is now. What was unchanged, and is not by these merge bases, is due. */
  rebase(tree: Tree): void {
    this.#tasks.touchAll()
    this.#tree = tree
    for (const [path, { hash }] of tree.bases ? this.table.entries() : NONE)
      if (isBlob(hash) && !this.#isUnchanged(path, hash, [hash])) this.#shared.due.add(path)
    this.#tasks.setAll(this.#comparedAgain())
  }

  /** All were read: what is only known from an earlier run is over. */
  readAll(): void {
    this.#tasks.touchAll()
    this.#goneBefore = undefined
    this.#isKnown = true
    this.#tasks.setAll(this.#forgotten((path) => this.table.hashOf(path) === undefined))
  }

  /** The tree is no more. */
  drop(): void {
    for (const path of this.#shared.due) if (this.has(path)) this.#shared.due.delete(path)
    this.#tasks.touchAll()
    this.#isKnown = false
    this.#tasks.setAll(this.#forgotten(() => true))
  }

  /** Takes what an earlier run knew. It counts, and each file that is there is read anew. */
  restore({ files, gone }: KeptFiles): void {
    this.#goneBefore = new Set(gone)
    this.#isKnown = true
    this.#tasks.setAll(this.#restored(files))
  }

  /** Undefined: that is kept already. */
  toKeep(): KeptFiles | undefined {
    if (!this.#tasks.takeIsTouched()) return undefined
    const { root } = this.#tree.store
    const changed = [...this.differences.changed()]
    const files = changed.map(([path, { hash, blobs, copies, besides }]) => {
      return { name: path.slice(root.length), hash, blobs, copies, besides }
    })
    const names = new Set(this.#tasks.names())
    return { files, gone: [...names].filter((name) => this.hasRemoved(name)) }
  }

  /** Takes what `HEAD` has of an unread list in its place. Undefined: nobody knows. */
  learnHead(path: string, text: string | undefined): void {
    const file = this.differences.get(path)
    if (!file) return
    const list = this.#tree
    const { state, entries } = parseFile(list.store, path, 'tasks', text ?? '')
    const isWhole = text !== undefined && state === 'ok'
    const read = { path, hash: file.hash, state, entries: isWhole ? entries : NONE }
    this.#tasks.setDiffering(path, {
      ...file,
      ...copiesIn(list, read),
      ...(isWhole && { list }),
      isUnread: false,
    })
  }

  /** A text that a file is compared with is known by now. */
  learned = (path: string): void => this.#tasks.touchAt(path)

  /** Whether a merge base has a task that this tree has, also in a file of another name. */
  wasInMain(name: string): boolean {
    const { bases } = this.#shared
    return this.copiesOf(name).some(({ fact: { path } }) => {
      if (!this.#isList(path)) return isInAny(this.#tree, path) || this.#tasks.hasVanished(name)
      return bases.of(this.#tree, path)?.some((base) => base.has(name)) === true
    })
  }

  /** Whether it removed what the main tree has, by these claims, and every merge base had. */
  hasRemoved(name: string, claims = this.#main.holders.claims(name)): boolean {
    if (claims.length === 0 || this.copiesOf(name).length > 0) return false
    if (this.#goneBefore) return this.#goneBefore.has(name)
    if (this.#tree.isSparse) return false
    return claims.every((claim) => {
      const path = this.ownPath(claim.path)
      const { list } = this.differences.get(path) ?? {}
      if (!list?.bases) return this.#tasks.hasRemoved(name, path)
      return !this.differences.has(path, name) && this.#shared.bases.isRemoved(list, path, name)
    })
  }

  /** How a file differs from the main tree's. Undefined: it has the same bytes. */
  #differing(path: string, file: ParsedFile): Differing | undefined {
    const { hash, blobs = NONE } = file
    if (hash === this.mainHash(path)) return undefined
    if (!this.isRead && !this.#firstHashes.has(path)) this.#firstHashes.set(path, hash)
    const isList = this.#isList(path)
    const isUnread = isList && file.state !== 'ok'
    const isChanged = !isUnread && !this.#isUnchanged(path, hash, blobs)
    const entries = isChanged ? file.entries : NONE
    const { copies, besides } = copiesIn(this.#tree, { ...file, path, entries })
    const list = isChanged && isList && { list: this.#tree }
    return { hash, blobs, copies, besides, ...list, isUnread }
  }

  /** A list that cannot be read, as in the middle of a merge, and could be before. */
  #isHalfMerged(path: string, { state }: ParsedFile): boolean {
    if (state !== 'broken' || !this.#isList(path)) return false
    return this.table.hashOf(path) !== undefined && !this.differences.get(path)?.isUnread
  }

  /** Its tasks stay as they were last read. */
  #leaveAsRead(path: string, file: ParsedFile): void {
    const before = this.differences.get(path)
    const differing = { copies: NONE, besides: NONE, ...before, hash: file.hash, blobs: NONE }
    this.#tasks.setUntouched(path, withoutFacts(file), differing)
  }

  /** Those that differ, and are as a merge base has them by now. Others may be due. */
  *#comparedAgain(): Generator<Change> {
    for (const [path, { hash, blobs, copies, besides }] of this.differences.entries()) {
      const isBare = copies.length + besides.length === 0
      if (!this.#isUnchanged(path, hash, blobs)) {
        if (isBare || this.#isList(path)) this.#shared.due.add(path)
      } else if (!isBare) yield [path, { hash, blobs, copies: NONE, besides: NONE }]
    }
  }

  *#restored(files: KeptFiles['files']): Generator<Change> {
    for (const { name, hash, blobs, copies, besides } of files) {
      const path = this.#tree.store.root + name
      if (this.#isUnchanged(path, hash, blobs)) continue
      const differing = {
        hash,
        blobs,
        copies: copies.map((copy) => ({ ...copy, fact: { ...copy.fact, path } })),
        besides: besides.map((fact) => ({ ...fact, path })),
        ...(this.#isList(path) && { list: this.#tree }),
      }
      yield [path, differing]
    }
  }

  *#forgotten(isGone: (path: string) => boolean): Generator<Change> {
    for (const [path] of this.differences.entries()) if (isGone(path)) yield [path, undefined]
  }

  #isUnchanged(path: string, hash: string, blobs: readonly string[]): boolean {
    if (this.#tree.bases) return isUnchanged(this.#tree, path, blobs)
    return this.#firstHashes.get(path) === hash
  }

  get #main(): MainFiles {
    return this.#shared.main
  }

  #isList = (path: string): boolean => this.#tree.store.classify(path) === 'tasks'
}

/** The tasks of a tree's file are its copies. */
const withoutFacts = ({ hash, stat }: Pick<ParsedFile, 'hash' | 'stat'>): FileFacts => ({
  hash,
  facts: NONE,
  stat,
})
