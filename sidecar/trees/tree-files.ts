// The files of one linked worktree, and how they differ from the main tree's. One with the same
// bytes is not parsed, and neither is one that is merely old: as a merge base of the two trees has
// it, or as the main tree has had it since. A file is due when what it is compared with has become
// another; besides a task's copies stand its sessions, heartbeats and runs. No I/O, no clock.

import { interning } from '../files/compact.ts'
import { type Fact, nameOf, type ParsedFile } from '../files/facts.ts'
import type { SeenStat } from '../files/file-stat.ts'
import { FileTable } from '../files/file-table.ts'
import { parseFile } from '../files/parse-file.ts'
import type { Store } from '../layouts/layout.ts'
import { AbsentFiles } from './absent-files.ts'
import { type Copy, copiesIn, Differences, type Differing } from './differences.ts'
import { type BaseTasks, blobIds, isInAny, isOld, type Tree, type Wanted } from './merge-bases.ts'

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
  /** Those that are not as a merge base has them. `name`: from the root of the board. */
  files: readonly (Omit<Differing, 'list' | 'isUnread'> & { name: string })[]
  /** The names of the tasks that it has taken out. */
  gone: readonly string[]
}

const NONE: readonly never[] = []

/** In place of the hash of a text that was not read. */
const isBlob = (hash: string): boolean => hash.length > 32

/** Trees have files of the same names. */
const sharedName = interning(100_000)

export class TreeFiles {
  readonly table: FileTable
  /** All of its files were read once, or are known from an earlier run. */
  isRead: boolean = false
  #tree: Tree
  readonly #shared: Shared
  readonly #differing: Differences
  /** The hash of a file when the main tree's became another, or when it was first seen. */
  readonly #old = new Map<string, string>()
  readonly #absent: AbsentFiles
  /** Only from an earlier run: the names of the tasks that it had taken out then. */
  #gone: ReadonlySet<string> | undefined
  /** What it has is kept for the next start. */
  #isKept: boolean = false

  constructor(tree: Tree, shared: Shared) {
    this.#tree = tree
    this.#shared = shared
    this.#differing = new Differences(shared.main)
    this.table = new FileTable(tree.store.root, sharedName)
    this.#absent = new AbsentFiles(this, shared.bases)
  }

  get tree(): Tree {
    return this.#tree
  }

  /** Nothing of it is known from an earlier run alone. */
  get isReadNow(): boolean {
    return this.isRead && !this.#gone
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
    const { copies = NONE, besides = NONE } = this.#differing.get(path) ?? {}
    return [...copies.map(({ fact }) => fact), ...besides]
  }

  /** What it changed, or has beside the main tree's. */
  *facts(): Generator<Fact> {
    for (const [, { copies, besides }] of this.#differing.entries()) {
      for (const copy of copies) if (!this.#isOldTask(copy)) yield copy.fact
      yield* besides
    }
  }

  /** Whether what was read is news, and the ids that git may have given it. */
  compare(path: string, hash: string, bytes: Buffer): { isNews: boolean; blobs: string[] } {
    if (hash === this.mainHash(path)) return { isNews: false, blobs: [] }
    const blobs = blobIds(bytes, this.#tree.algorithm)
    return { isNews: !this.#isOld(path, hash, blobs), blobs }
  }

  /** Takes what a file says now; null: it is gone. */
  ingest(path: string, file: ParsedFile | null): void {
    if (file && this.hashOf(path) === file.hash) {
      this.table.touch(path, file.stat)
      return
    }
    this.#shared.due.delete(path)
    if (file?.state === 'broken' && this.#isList(path) && this.#stands(path, file)) return
    this.#touchAt(path)
    this.#differing.forget(path)
    if (file) this.#take(path, file)
    else {
      if (this.table.hashOf(path) !== undefined) this.#absent.removed(path)
      this.table.delete(path)
    }
    this.#touchAt(path)
    this.#touch(this.#absent.look([path]))
  }

  /** Takes a file that git knows to be as a merge base has it. */
  takeOld(path: string, blob: string, stat: SeenStat): void {
    this.#shared.due.delete(path)
    if (this.isRead) this.#touchAt(path)
    this.#differing.forget(path)
    this.#absent.found(path)
    this.table.put(path, { hash: blob, facts: NONE, stat })
    this.#touch(this.#absent.look([path]))
  }

  /** A file of the main tree has changed. `before`: the hash that it had. */
  mainChanged(path: string, before: string | undefined): void {
    const own = this.ownPath(path)
    const known = this.table.hashOf(own)
    if (known === undefined) this.#touch(this.#absent.look([own]))
    if (known === undefined || isBlob(known)) return
    if (known === this.mainHash(own)) {
      this.#touchAt(own)
      this.#differing.forget(own)
    } else if (!this.#differing.get(own)) {
      this.#shared.due.add(own)
      if (known === before) this.#old.set(own, known)
    }
  }

  /** Takes the tree as it was found now: only what turns from old to changed is read again. */
  rebase(tree: Tree): void {
    this.#touchAll()
    this.#tree = tree
    for (const [path, { hash }] of tree.bases ? this.table.entries() : NONE)
      if (isBlob(hash) && !this.#isOld(path, hash, [hash])) this.#shared.due.add(path)
    for (const [path, { hash, blobs, copies, besides }] of this.#differing.entries()) {
      const isBare = copies.length + besides.length === 0
      if (!this.#isOld(path, hash, blobs)) {
        if (isBare || this.#isList(path)) this.#shared.due.add(path)
      } else if (!isBare) {
        this.#differing.put(path, { hash, blobs, copies: NONE, besides: NONE })
      }
    }
    this.#touchAll()
  }

  /** All were read: what is only known from an earlier run is over. */
  readAll(): void {
    if (this.#gone) this.#touchAll()
    for (const [path] of this.#gone ? this.#differing.entries() : NONE)
      if (this.table.hashOf(path) === undefined) this.#differing.forget(path)
    this.#gone = undefined
    this.isRead = true
    this.#touchAll()
  }

  /** The tree is no more. */
  drop(): void {
    this.#touchAll()
    for (const [path] of this.#differing.entries()) this.#differing.forget(path)
    for (const path of this.#shared.due) if (this.has(path)) this.#shared.due.delete(path)
  }

  /** Takes what an earlier run knew. It counts, and each file that is there is read anew. */
  restore({ files, gone }: KeptFiles): void {
    this.isRead = true
    this.#gone = new Set(gone)
    for (const { name, hash, blobs, copies, besides } of files) {
      const path = this.#tree.store.root + name
      if (this.#isOld(path, hash, blobs)) continue
      this.#put(path, {
        hash,
        blobs,
        copies: copies.map((copy) => ({ ...copy, fact: { ...copy.fact, path } })),
        besides: besides.map((fact) => ({ ...fact, path })),
        ...(this.#isList(path) && { list: this.#tree }),
      })
    }
    this.#touchAll()
  }

  /** Undefined: that is kept already. */
  toKeep(): KeptFiles | undefined {
    if (this.#isKept) return undefined
    this.#isKept = true
    const { root } = this.#tree.store
    const files = this.#differing.entries().flatMap(([path, { hash, blobs, besides, ...of }]) => {
      const copies = of.copies.filter((copy) => !this.#isOldTask(copy))
      const name = path.slice(root.length)
      return copies.length + besides.length > 0 ? [{ name, hash, blobs, copies, besides }] : []
    })
    const names = new Set(this.#names(this.#absent.paths()))
    const gone = [...names].filter((name) =>
      this.hasTakenOut(name, this.#main.holders.claims(name)),
    )
    return { files, gone }
  }

  /** What its lists are compared with. */
  *lists(): Generator<Tree> {
    for (const [, { list }] of this.#differing.entries()) if (list) yield list
  }

  /** Lists of which no text could be read yet. */
  *unread(): Generator<Wanted> {
    const tree = this.#tree
    for (const [path, { isUnread }] of this.#differing.entries()) if (isUnread) yield { tree, path }
  }

  /** Takes what `HEAD` has of such a list in its place. Undefined: nobody knows. */
  learnHead(path: string, text: string | undefined): void {
    const file = this.#differing.get(path)
    if (!file) return
    const list = this.#tree
    const { state, entries } = parseFile(list.store, path, 'tasks', text ?? '')
    const isWhole = text !== undefined && state === 'ok'
    const read = { path, hash: file.hash, state, entries: isWhole ? entries : NONE }
    this.#put(path, {
      ...file,
      ...copiesIn(list, read),
      ...(isWhole && { list }),
      isUnread: false,
    })
  }

  /** A text that a file is compared with is known by now. */
  learned(path: string): void {
    this.#touchAt(path)
    this.#touch(this.#absent.look([path]))
  }

  /** Those of a task that are not merely old. */
  copiesOf(name: string): readonly Copy[] {
    return this.#differing.named(name).filter((copy) => !this.#isOldTask(copy))
  }

  /** Whether a merge base has a task that this tree has, also in a file of another name. */
  wasInMain(name: string): boolean {
    const { bases } = this.#shared
    return this.copiesOf(name).some(({ fact: { path } }) => {
      if (!this.#isList(path)) return isInAny(this.#tree, path) || this.#absent.hasVanished(name)
      return bases.of(this.#tree, path)?.some((base) => base.has(name)) === true
    })
  }

  /** Whether it took out what the main tree has and every merge base had. */
  hasTakenOut(name: string, claims: readonly Fact[]): boolean {
    if (claims.length === 0 || this.copiesOf(name).length > 0) return false
    if (this.#gone) return this.#gone.has(name)
    if (this.#tree.isSparse) return false
    return claims.every((claim) => {
      const path = this.ownPath(claim.path)
      const { list } = this.#differing.get(path) ?? {}
      if (list?.bases)
        return !this.#has(path, name) && this.#shared.bases.isTakenOut(list, path, name)
      return this.#absent.hasTakenOut(name, path)
    })
  }

  #has = (path: string, name: string): boolean =>
    this.#differing.named(name).some(({ fact }) => fact.path === path)

  #take(path: string, file: ParsedFile): void {
    const { hash, blobs = NONE, stat } = file
    this.#absent.found(path)
    this.table.put(path, { hash, facts: NONE, stat })
    if (hash === this.mainHash(path)) return
    if (!this.isReadNow && !this.#old.has(path)) this.#old.set(path, hash)
    const isNews = !this.#isOld(path, hash, blobs)
    const isList = this.#isList(path)
    const isUnread = isList && file.state !== 'ok'
    const entries = isNews && !isUnread ? file.entries : NONE
    const { copies, besides } = copiesIn(this.#tree, { ...file, path, entries })
    const list = isList && isNews && !isUnread && { list: this.#tree }
    this.#put(path, { hash, blobs, copies, besides, ...list, isUnread })
  }

  #put(path: string, file: Differing): void {
    this.#differing.put(path, file)
    // What a list is compared with is wanted now, and not once it is asked for.
    if (file.list) this.#shared.bases.of(file.list, path)
  }

  /** A list that cannot be read, as in the middle of a merge: false if nothing was read before. */
  #stands(path: string, { hash, stat }: ParsedFile): boolean {
    const last = this.#differing.get(path)
    if (this.table.hashOf(path) === undefined || last?.isUnread) return false
    this.table.put(path, { hash, facts: NONE, stat })
    this.#differing.put(path, { copies: NONE, besides: NONE, ...last, hash, blobs: NONE })
    return true
  }

  #isOldTask({ name, fact: { path, hash } }: Copy): boolean {
    const { list } = this.#differing.get(path) ?? {}
    return list !== undefined && this.#shared.bases.isOld(list, path, name, hash)
  }

  /** As a merge base has it, or the main tree has had it; without a base, as it was first seen. */
  #isOld(path: string, hash: string, blobs: readonly string[]): boolean {
    return this.#tree.bases ? isOld(this.#tree, path, blobs) : this.#old.get(path) === hash
  }

  /** The names of what it changed, and of what it may have taken out. */
  *#names(absent: readonly string[]): Generator<string> {
    for (const [path] of this.#differing.entries()) yield* this.#namesAt(path)
    for (const path of absent) yield* this.#namesAt(path)
    yield* this.#absent.names()
  }

  *#namesAt(path: string): Generator<string> {
    for (const { name } of this.#differing.get(path)?.copies ?? NONE) yield name
    for (const { kind, id } of this.#main.files.factsOf(this.mainPath(path)))
      if (kind === 'task') yield nameOf(this.#main.store, kind, id)
  }

  #touchAll(): void {
    const absent = this.#absent.paths()
    this.#touch(this.#absent.look([...this.#absent.vanished(), ...absent]))
    this.#touch(this.#names(absent))
  }

  /** Each change of a file comes here. */
  #touchAt(path: string): void {
    this.#touch(this.#namesAt(path))
  }

  #touch(names: Iterable<string>): void {
    this.#isKept = false
    for (const name of names) this.#shared.changed.add(name)
  }

  get #main(): MainFiles {
    return this.#shared.main
  }

  #isList = (path: string): boolean => this.#tree.store.classify(path) === 'tasks'
}
