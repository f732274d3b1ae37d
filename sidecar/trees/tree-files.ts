// The files of one linked worktree, and how they differ from the main tree's. One with the same
// bytes is not parsed, and neither is one that the tree did not change: as a merge base of the two
// trees has it, or as the main tree has had it since. A file is due when what it is compared with
// has become another; besides a task's copies stand its sessions, heartbeats and runs. No I/O, no
// clock.

import { interning } from '../files/compact.ts'
import { type Fact, nameOf, type ParsedFile } from '../files/facts.ts'
import type { SeenStat } from '../files/file-stat.ts'
import { FileTable } from '../files/file-table.ts'
import { parseFile } from '../files/parse-file.ts'
import type { Store } from '../layouts/layout.ts'
import { AbsentFiles } from './absent-files.ts'
import type { BaseTasks } from './base-tasks.ts'
import { type Copy, copiesIn, Differences, type Differing } from './differences.ts'
import { blobIds, isInAny, isUnchanged, type Tree } from './tree.ts'

/** What is known of the main tree. */
export interface MainFiles {
  store: Pick<Store, 'root' | 'fold'>
  files: Pick<FileTable, 'hashOf' | 'factsOf'>
  holders: {
    /** All that claim a name. */
    claims(name: string): readonly Fact[]
    isAbout(fact: Fact): boolean
  }
  /** Sessions, heartbeats and runs of trees stand beside its own. */
  add(fact: Fact): void
  remove(fact: Fact): void
}

/** What the trees of a board share. */
interface Shared {
  main: MainFiles
  bases: BaseTasks
  /** Files to be read again. */
  due: Set<string>
  /** Names of tasks that may be others. */
  changed: Set<string>
}

/** What the next start is to know of a tree. */
export interface KeptFiles {
  /** Those that it changed. `name`: from the root of the board. */
  files: readonly (Omit<Differing, 'list' | 'isUnread'> & { name: string })[]
  /** The names of the tasks that it has removed. */
  gone: readonly string[]
}

const NONE: readonly never[] = []

/** In place of the hash of a text that was not read. */
const isBlob = (hash: string): boolean => hash.length > 32

/** Trees have files of the same names. */
const sharedName = interning(100_000)

export class TreeFiles {
  readonly table: FileTable
  #tree: Tree
  readonly #shared: Shared
  readonly #differences: Differences
  readonly #absent: AbsentFiles
  /** Where no merge base is known: a file as it was first seen, or when the main tree's changed. */
  readonly #firstHashes = new Map<string, string>()
  #isKnown: boolean = false
  /** Only from an earlier run: the names of the tasks that it had removed then. */
  #keptGone: ReadonlySet<string> | undefined
  /** The next start is to know nothing else. */
  #isKept: boolean = false

  constructor(tree: Tree, shared: Shared) {
    this.#tree = tree
    this.#shared = shared
    this.#differences = new Differences(shared.main, shared.bases)
    this.table = new FileTable(tree.store.root, sharedName)
    this.#absent = new AbsentFiles(this, shared.bases)
  }

  get tree(): Tree {
    return this.#tree
  }

  get differences(): Pick<Differences, 'facts' | 'lists' | 'unread'> {
    return this.#differences
  }

  /** All of its files were read once, or are known from an earlier run: until then none counts. */
  get isKnown(): boolean {
    return this.#isKnown
  }

  /** Nothing of it is known from an earlier run alone. */
  get isRead(): boolean {
    return this.#isKnown && !this.#keptGone
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

  distrust(path: string): void {
    this.table.distrust(path)
  }

  factsOf(path: string): readonly Fact[] {
    const { copies = NONE, besides = NONE } = this.#differences.get(path) ?? {}
    return [...copies.map(({ fact }) => fact), ...besides]
  }

  /** The copies of a task that it changed. */
  copiesOf(name: string): readonly Copy[] {
    return this.#differences.copiesOf(name)
  }

  /** Whether what was read is news, and the ids that git may have given it. */
  compare(path: string, hash: string, bytes: Buffer): { isNews: boolean; blobs: string[] } {
    if (hash === this.mainHash(path)) return { isNews: false, blobs: [] }
    const blobs = blobIds(bytes, this.#tree.algorithm)
    return { isNews: !this.#isUnchanged(path, hash, blobs), blobs }
  }

  /** Takes what a file says now; null: it is gone. */
  ingest(path: string, file: ParsedFile | null): void {
    if (file && this.hashOf(path) === file.hash) {
      this.table.touch(path, file.stat)
      return
    }
    this.#shared.due.delete(path)
    if (file && this.#isHalfMerged(path, file)) this.#leaveAsRead(path, file)
    else this.#change(path, () => (file ? this.#take(path, file) : this.#remove(path)))
  }

  /** Takes a file that git knows to be as a merge base has it. */
  takeUnchanged(path: string, blob: string, stat: SeenStat): void {
    this.#shared.due.delete(path)
    const take = () => {
      this.#differences.forget(path)
      this.#absent.found(path)
      this.table.put(path, { hash: blob, facts: NONE, stat })
    }
    // At a first start there may be 100,000, and no task of the tree counts yet.
    if (this.#isKnown) this.#change(path, take)
    else take()
  }

  /** A file of the main tree has changed. `before`: the hash that it had. */
  mainChanged(mainPath: string, before: string | undefined): void {
    const path = this.ownPath(mainPath)
    const hash = this.table.hashOf(path)
    if (hash === undefined) this.#touch(this.#absent.look([path]))
    if (hash === undefined || isBlob(hash)) return
    if (hash === this.mainHash(path)) this.#change(path, () => this.#differences.forget(path))
    else if (!this.#differences.get(path)) {
      this.#shared.due.add(path)
      if (hash === before) this.#firstHashes.set(path, hash)
    }
  }

  /** Takes the tree as it is now. What was unchanged, and is not by these merge bases, is due. */
  rebase(tree: Tree): void {
    this.#changeAll(() => {
      this.#tree = tree
      for (const [path, { hash }] of tree.bases ? this.table.entries() : NONE)
        if (isBlob(hash) && !this.#isUnchanged(path, hash, [hash])) this.#shared.due.add(path)
      for (const [path, file] of this.#differences.entries()) this.#compareAgain(path, file)
    })
  }

  /** All were read: what is only known from an earlier run is over. */
  readAll(): void {
    this.#changeAll(() => {
      for (const [path] of this.#differences.entries())
        if (this.table.hashOf(path) === undefined) this.#differences.forget(path)
      this.#keptGone = undefined
      this.#isKnown = true
    })
  }

  /** The tree is no more. */
  drop(): void {
    this.#changeAll(() => {
      for (const [path] of this.#differences.entries()) this.#differences.forget(path)
      for (const path of this.#shared.due) if (this.has(path)) this.#shared.due.delete(path)
      this.#isKnown = false
    })
  }

  /** Takes what an earlier run knew. It counts, and each file that is there is read anew. */
  restore({ files, gone }: KeptFiles): void {
    this.#changeAll(() => {
      for (const { name, hash, blobs, copies, besides } of files) {
        const path = this.#tree.store.root + name
        if (this.#isUnchanged(path, hash, blobs)) continue
        this.#differences.put(path, {
          hash,
          blobs,
          copies: copies.map((copy) => ({ ...copy, fact: { ...copy.fact, path } })),
          besides: besides.map((fact) => ({ ...fact, path })),
          ...(this.#isList(path) && { list: this.#tree }),
        })
      }
      this.#keptGone = new Set(gone)
      this.#isKnown = true
    })
  }

  /** Undefined: that is kept already. */
  toKeep(): KeptFiles | undefined {
    if (this.#isKept) return undefined
    this.#isKept = true
    const { root } = this.#tree.store
    const changed = [...this.#differences.changed()]
    const files = changed.map(([path, { hash, blobs, copies, besides }]) => {
      return { name: path.slice(root.length), hash, blobs, copies, besides }
    })
    const names = new Set(this.#names(this.#absent.paths()))
    return { files, gone: [...names].filter((name) => this.hasRemoved(name)) }
  }

  /** Takes what `HEAD` has of an unread list in its place. Undefined: nobody knows. */
  learnHead(path: string, text: string | undefined): void {
    const file = this.#differences.get(path)
    if (!file) return
    const list = this.#tree
    const { state, entries } = parseFile(list.store, path, 'tasks', text ?? '')
    const isWhole = text !== undefined && state === 'ok'
    const read = { path, hash: file.hash, state, entries: isWhole ? entries : NONE }
    this.#differences.put(path, {
      ...file,
      ...copiesIn(list, read),
      ...(isWhole && { list }),
      isUnread: false,
    })
  }

  /** A text that a file is compared with is known by now. */
  learned(path: string): void {
    this.#touchAt(path)
  }

  /** Whether a merge base has a task that this tree has, also in a file of another name. */
  wasInMain(name: string): boolean {
    const { bases } = this.#shared
    return this.copiesOf(name).some(({ fact: { path } }) => {
      if (!this.#isList(path)) return isInAny(this.#tree, path) || this.#absent.hasVanished(name)
      return bases.of(this.#tree, path)?.some((base) => base.has(name)) === true
    })
  }

  /** Whether it removed what the main tree has, by these claims, and every merge base had. */
  hasRemoved(name: string, claims = this.#main.holders.claims(name)): boolean {
    if (claims.length === 0 || this.copiesOf(name).length > 0) return false
    if (this.#keptGone) return this.#keptGone.has(name)
    if (this.#tree.isSparse) return false
    return claims.every((claim) => {
      const path = this.ownPath(claim.path)
      const { list } = this.#differences.get(path) ?? {}
      if (!list?.bases) return this.#absent.hasRemoved(name, path)
      return !this.#differences.has(path, name) && this.#shared.bases.isRemoved(list, path, name)
    })
  }

  #take(path: string, file: ParsedFile): void {
    const { hash, blobs = NONE, stat } = file
    this.#absent.found(path)
    this.table.put(path, { hash, facts: NONE, stat })
    this.#differences.forget(path)
    if (hash === this.mainHash(path)) return
    if (!this.isRead && !this.#firstHashes.has(path)) this.#firstHashes.set(path, hash)
    const isList = this.#isList(path)
    const isUnread = isList && file.state !== 'ok'
    const isChanged = !isUnread && !this.#isUnchanged(path, hash, blobs)
    const entries = isChanged ? file.entries : NONE
    const { copies, besides } = copiesIn(this.#tree, { ...file, path, entries })
    const list = isChanged && isList && { list: this.#tree }
    this.#differences.put(path, { hash, blobs, copies, besides, ...list, isUnread })
  }

  #remove(path: string): void {
    this.#differences.forget(path)
    if (this.table.hashOf(path) !== undefined) this.#absent.removed(path)
    this.table.delete(path)
  }

  /** A list that cannot be read, as in the middle of a merge, and could be before. */
  #isHalfMerged(path: string, { state }: ParsedFile): boolean {
    if (state !== 'broken' || !this.#isList(path)) return false
    return this.table.hashOf(path) !== undefined && !this.#differences.get(path)?.isUnread
  }

  /** Its tasks stay as they were last read. */
  #leaveAsRead(path: string, { hash, stat }: ParsedFile): void {
    const before = this.#differences.get(path)
    this.table.put(path, { hash, facts: NONE, stat })
    this.#differences.put(path, { copies: NONE, besides: NONE, ...before, hash, blobs: NONE })
  }

  #compareAgain(path: string, { hash, blobs, copies, besides }: Differing): void {
    const isBare = copies.length + besides.length === 0
    if (!this.#isUnchanged(path, hash, blobs)) {
      if (isBare || this.#isList(path)) this.#shared.due.add(path)
    } else if (!isBare) {
      this.#differences.put(path, { hash, blobs, copies: NONE, besides: NONE })
    }
  }

  #isUnchanged(path: string, hash: string, blobs: readonly string[]): boolean {
    if (this.#tree.bases) return isUnchanged(this.#tree, path, blobs)
    return this.#firstHashes.get(path) === hash
  }

  /** Changes a file: the tasks that it had, and those that it has then, may be others. */
  #change(path: string, change: () => void): void {
    this.#touch(this.#differences.namesIn(path))
    change()
    this.#touchAt(path)
  }

  /** Changes any of them. */
  #changeAll(change: () => void): void {
    if (this.#isKnown) this.#touchAll()
    change()
    if (this.#isKnown) this.#touchAll()
  }

  #touchAt(path: string): void {
    this.#touch(this.#namesAt(path))
    this.#touch(this.#absent.look([path]))
  }

  #touchAll(): void {
    const absent = this.#absent.paths()
    this.#touch(this.#absent.look([...this.#absent.vanished(), ...absent]))
    this.#touch(this.#names(absent))
  }

  #touch(names: Iterable<string>): void {
    this.#isKept = false
    for (const name of names) this.#shared.changed.add(name)
  }

  /** The names of what it changed, and of what it may have removed. */
  *#names(absent: readonly string[]): Generator<string> {
    for (const [path] of this.#differences.entries()) yield* this.#namesAt(path)
    for (const path of absent) yield* this.#namesAt(path)
    yield* this.#absent.names()
  }

  /** The names of the tasks that a file has, here and in the main tree. */
  *#namesAt(path: string): Generator<string> {
    yield* this.#differences.namesIn(path)
    for (const { kind, id } of this.#main.files.factsOf(this.mainPath(path)))
      if (kind === 'task') yield nameOf(this.#main.store, kind, id)
  }

  get #main(): MainFiles {
    return this.#shared.main
  }

  #isList = (path: string): boolean => this.#tree.store.classify(path) === 'tasks'
}
