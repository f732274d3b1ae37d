// What the linked worktrees of a repository changed of a board's tasks. A copy with the bytes of
// the main tree's is not parsed, and neither is one that is merely old: as a merge base of the two
// trees has it. No I/O, no clock.

import { basename, dirname } from 'node:path'
import { type Fact, nameOf, type ParsedFile, type TaskFact } from '../files/facts.ts'
import type { SeenStat } from '../files/file-stat.ts'
import type { Store } from '../layouts/layout.ts'
import {
  BaseTasks,
  blobIds,
  isInAll,
  isMergedAway,
  isNew,
  isOld,
  mergedIn,
  pathIn,
  type Tree,
  type Wanted,
} from './merge-bases.ts'
import {
  CopiesByName,
  type Copy,
  copiesIn,
  factsOf,
  type InTrees,
  inOrder,
  isBlob,
  isMoving,
  isTakenOut,
  type Made,
  newerFirst,
  newFiles,
  shownBy,
  type TreeFiles,
  wasInMain,
} from './tree-files.ts'
import { UnreadLists } from './unread-lists.ts'

/** What is known of the main tree. */
interface MainTree {
  store: Pick<Store, 'root' | 'fold'>
  hashOf(path: string): string | undefined
  factsAt(path: string): readonly Fact[]
  /** All that claim a name. */
  claims(name: string): readonly Fact[]
  isAbout(fact: Fact): boolean
  /** Sessions, heartbeats and runs of trees stand beside its own. */
  add(fact: Fact): void
  remove(fact: Fact): void
}

const NONE: readonly never[] = []

export class TreeCopies {
  readonly #main: MainTree
  readonly #trees = new Map<string, TreeFiles>()
  /** By their top folders. */
  readonly trees: ReadonlyMap<string, Pick<TreeFiles, 'tree' | 'table'>> = this.#trees
  readonly #copies: CopiesByName
  /** Files to be read again: another one is compared with them now. */
  readonly due = new Set<string>()
  /** For files with many tasks. */
  readonly bases = new BaseTasks()
  readonly #unread = new UnreadLists()

  constructor(main: MainTree) {
    this.#main = main
    this.#copies = new CopiesByName((name) => main.claims(name).length > 0)
  }

  /** The tree that has this file. */
  treeOf(path: string): Tree | undefined {
    return this.#filesOf(path)?.tree
  }

  /** Takes all trees that there are now. Returns the names of tasks that may be others. */
  take(trees: readonly Tree[]): Set<string> {
    const names = new Set<string>()
    const now = new Map(trees.map((tree) => [tree.dir, tree]))
    for (const files of this.#trees.values()) {
      const next = now.get(files.tree.dir)
      now.delete(files.tree.dir)
      if (next === files.tree || (!next && isMoving(files, trees, this.#trees))) continue
      this.#namesOf(files, names)
      if (next && next.store.root === files.tree.store.root) this.#rebase(files, next)
      else this.#drop(files)
      this.#namesOf(files, names)
    }
    for (const tree of now.values()) this.#trees.set(tree.dir, newFiles(tree))
    this.bases.keep(trees)
    return names
  }

  /** All files of these trees were read. Returns the names of tasks that may be others. */
  read(trees: readonly Tree[]): Set<string> {
    const names = new Set<string>()
    for (const { dir } of trees) {
      const files = this.#trees.get(dir)
      if (!files || files.isRead) continue
      files.isRead = true
      for (const each of this.#trees.values()) {
        if (each.tree.name !== files.tree.name) continue
        this.#namesOf(each, names)
        if (each !== files) this.#drop(each)
      }
    }
    return names
  }

  hashOf(path: string): string | undefined {
    return this.due.has(path) ? undefined : this.#filesOf(path)?.table.hashOf(path)
  }

  distrust(path: string): void {
    this.#filesOf(path)?.table.distrust(path)
  }

  /** Whether what was read is news, and the ids that git may have given it. */
  compare(path: string, hash: string, bytes: Buffer): { isNews: boolean; blobs: string[] } {
    const files = this.#filesOf(path)
    if (!files || hash === this.#main.hashOf(this.#mainPath(files, path))) {
      return { isNews: false, blobs: [] }
    }
    const blobs = blobIds(bytes, files.tree.algorithm)
    return { isNews: !isOld(files, path, hash, blobs), blobs }
  }

  /** Takes what a file says now; null: it is gone. Returns the tasks that may be others. */
  ingest(path: string, file: ParsedFile | null): Set<string> {
    const files = this.#filesOf(path)
    const names = new Set<string>()
    if (!files) return names
    if (file && this.hashOf(path) === file.hash) {
      files.table.touch(path, file.stat)
      return names
    }
    this.due.delete(path)
    const list = file?.state === 'broken' && files.tree.store.classify(path) === 'tasks'
    if (file && list && this.#unread.stands(files, path, file)) return names
    this.#namesAt(files, path, names)
    this.#forget(files, path)
    if (!file) {
      if (files.table.hashOf(path) !== undefined) files.removed.add(path)
      files.table.delete(path)
    } else {
      const { hash, stat } = file
      files.removed.delete(path)
      files.table.put(path, { hash, facts: NONE, stat })
      if (hash !== this.#main.hashOf(this.#mainPath(files, path))) this.#differs(files, path, file)
    }
    this.#namesAt(files, path, names)
    this.#lookForVanished(files, path, names)
    return names
  }

  /** Lists of which no text could be read yet. */
  unread = () => this.#unread.among(this.#trees.values())

  /** Takes what the `HEAD` of a tree has of such a list. Undefined: nobody knows. */
  standIn(path: string, text: string | undefined): void {
    this.#unread.learn(path, this.#filesOf(path)?.tree.store, text)
    this.due.add(path)
  }

  /** Takes a file that git knows to be as a merge base has it. Returns as `ingest` does. */
  takeOld({ dir }: Tree, path: string, blob: string, stat: SeenStat): Set<string> {
    const names = new Set<string>()
    const files = this.#trees.get(dir)
    if (!files) return names
    this.due.delete(path)
    if (files.isRead) this.#namesAt(files, path, names)
    this.#forget(files, path)
    files.removed.delete(path)
    files.table.put(path, { hash: blob, facts: NONE, stat })
    this.#lookForVanished(files, path, names)
    return names
  }

  /** Takes the text of a blob that was wanted. Undefined: it cannot be read. */
  learn(wanted: Wanted, text: string | undefined): void {
    const files = this.#filesOf(wanted.path)
    this.bases.learn(wanted, files?.tree.store, text)
    if (files) this.due.add(wanted.path)
  }

  /** A file of the main tree has changed. Returns the names of tasks that may be others. */
  mainChanged(path: string, before: string | undefined): Set<string> {
    const names = new Set<string>()
    const hash = this.#main.hashOf(path)
    for (const files of this.#trees.values()) {
      const own = this.#treePath(files, path)
      const known = files.table.hashOf(own)
      if (known === undefined) this.#lookForVanished(files, own, names)
      if (known === undefined || isBlob(known)) continue
      if (known === hash) {
        this.#namesAt(files, own, names)
        this.#forget(files, own)
      } else if (!files.differing.has(own)) {
        this.due.add(own)
        if (known === before) files.old.set(own, known)
      }
    }
    return names
  }

  /** What trees changed of a task, by the names of the trees. Undefined: nothing. */
  of(name: string): InTrees | undefined {
    const claims = this.#main.claims(name)
    const row = claims[0] ?? this.newest(name)
    const areAbout = claims.map((claim) => this.#main.isAbout(claim))
    const found: Made[] = []
    for (const files of this.#trees.values()) {
      if (!files.isRead) continue
      const { name: tree, branch, dir } = files.tree
      const mark = { tree, ...(branch !== undefined && { branch }), dir }
      const copies = this.#copies.of(name).filter((copy) => copy.files === files)
      const others = copies.filter(({ fact }) => !this.#isAny(claims, fact, files))
      const isTwin = copies.some((copy) => !copy.isAbout && !others.includes(copy))
      if (others.length > 0 && !isTwin) {
        const hash = others.map(({ fact }) => fact.hash).join(' ')
        const isApart = row !== undefined && this.#isApart(row, others)
        found.push({ mark: { ...mark, ...shownBy(others, areAbout) }, hash, isApart })
      } else if (copies.length === 0 && claims.length > 0 && this.#isGone(files, name, claims)) {
        found.push({ mark: { ...mark, gone: true }, hash: '' })
      }
    }
    if (found.length === 0) return undefined
    const isAlone = claims.length === 0
    const isDeleted = isAlone && this.#copies.of(name).some((it) => wasInMain(it, this.bases))
    return inOrder(found, { isAlone, isDeleted })
  }

  /** The newest copy of a task that only trees have. */
  newest(name: string): TaskFact | undefined {
    const copies = this.#copies.of(name).filter(({ files }) => files.isRead)
    return copies.toSorted(newerFirst)[0]?.fact
  }

  /** The file beside a task that only trees have, if it is about that task. */
  about(fact: Fact): TaskFact | undefined {
    if (this.#copies.size === 0) return undefined
    const name = nameOf(this.#main.store, 'task', fact.id)
    const copies = this.#copies.of(name)
    const own = copies.find((copy) => copy.fact === fact)
    if (!own || own.isAbout) return undefined
    return copies.find(({ files, isAbout }) => isAbout && files === own.files)?.fact
  }

  /** Undefined: the file is of no tree. */
  factsAt(path: string): readonly Fact[] | undefined {
    const files = this.#filesOf(path)
    return files && factsOf(files.differing.get(path))
  }

  /** All that trees changed, or have beside the main tree's. */
  *facts(): Generator<Fact> {
    for (const { differing } of this.#trees.values()) {
      for (const file of differing.values()) yield* factsOf(file)
    }
  }

  #filesOf(path: string): TreeFiles | undefined {
    for (const files of this.#trees.values()) {
      if (files.tree.store.classify(path) !== undefined) return files
    }
    return undefined
  }

  #mainPath({ tree }: TreeFiles, path: string): string {
    return this.#main.store.root + path.slice(tree.store.root.length)
  }

  /** Where a tree has a file of the main tree. */
  #treePath({ tree }: TreeFiles, path: string): string {
    return tree.store.root + path.slice(this.#main.store.root.length)
  }

  #differs(files: TreeFiles, path: string, file: ParsedFile) {
    const { hash, blobs = [] } = file
    if (!files.isRead && !files.old.has(path)) files.old.set(path, hash)
    const { store } = files.tree
    const kind = store.classify(path)
    const { state, entries, isUnread } = this.#unread.readOf(path, file, kind === 'tasks')
    const isNews = !isOld(files, path, hash, blobs)
    const bases = isNews && kind === 'tasks' ? this.bases.of(files.tree, path) : []
    // Without a base that must be known first, nobody knows yet what is changed.
    const read = { ...file, path, state, entries: isNews && bases ? entries : NONE }
    const { copies, besides, names } = copiesIn(files, read, bases)
    for (const copy of copies) this.#copies.add(copy)
    const isMany = kind === 'tasks' && isNews && bases && state === 'ok'
    for (const fact of besides) this.#main.add(fact)
    const more = {
      ...(isMany && { list: { names, before: bases } }),
      ...(isUnread && { isUnread }),
    }
    files.differing.set(path, { hash, blobs, copies, besides, ...more })
  }

  #forget(files: TreeFiles, path: string): void {
    const { copies = NONE, besides = NONE } = files.differing.get(path) ?? {}
    for (const fact of besides) this.#main.remove(fact)
    for (const copy of copies) this.#copies.delete(copy)
    files.differing.delete(path)
  }

  #drop(files: TreeFiles): void {
    for (const path of files.differing.keys()) this.#forget(files, path)
    for (const path of this.due) if (this.#filesOf(path) === files) this.due.delete(path)
    this.#trees.delete(files.tree.dir)
  }

  /** Only what turns from old to changed is read again. */
  #rebase(files: TreeFiles, tree: Tree): void {
    files.tree = tree
    for (const [path, { hash }] of tree.bases ? files.table.entries() : NONE) {
      if (isBlob(hash) && !isOld(files, path, hash, [hash])) this.due.add(path)
    }
    for (const [path, { hash, blobs, copies, besides }] of [...files.differing]) {
      const isMerelyOld = isOld(files, path, hash, blobs)
      const isMany = tree.store.classify(path) === 'tasks'
      const isBare = copies.length + besides.length === 0
      if (!isMerelyOld && (isMany || isBare)) this.due.add(path)
      if (!isMerelyOld || isBare) continue
      this.#forget(files, path)
      files.differing.set(path, { hash, blobs, copies: NONE, besides: NONE })
    }
  }

  /** Adds the names of what a tree changed, and of what it may have taken out. */
  #namesOf(files: TreeFiles, into: Set<string>): void {
    for (const path of files.differing.keys()) this.#namesAt(files, path, into)
    for (const path of [...files.vanished.keys()]) this.#lookForVanished(files, path, into)
    const { dir } = files.tree
    const known = files.tree.bases?.flatMap((base) => [...base.keys()]) ?? []
    for (const path of [...known.map((path) => pathIn(dir, path)), ...files.removed]) {
      if (files.table.hashOf(path) !== undefined) continue
      this.#namesAt(files, path, into)
      this.#lookForVanished(files, path, into)
    }
  }

  /** A file that neither tree has: the main one may have its task under another name. */
  #lookForVanished(files: TreeFiles, path: string, into: Set<string>): void {
    const { tree, table, vanished, isRead } = files
    for (const name of vanished.get(path) ?? NONE) into.add(name)
    vanished.delete(path)
    const kind = tree.store.classify(path)
    if (!isRead || tree.isSparse || (kind !== 'task' && kind !== 'about')) return
    const isThere = this.#main.hashOf(this.#mainPath(files, path)) ?? table.hashOf(path)
    const [tasks] =
      (isThere === undefined && isInAll(tree, path) && this.bases.of(tree, path)) || []
    if (!tasks) return
    vanished.set(path, new Set(tasks.keys()))
    for (const name of tasks.keys()) into.add(name)
  }

  #namesAt(files: TreeFiles, path: string, into: Set<string>): void {
    for (const { name } of files.differing.get(path)?.copies ?? NONE) into.add(name)
    for (const { kind, id } of this.#main.factsAt(this.#mainPath(files, path))) {
      if (kind === 'task') into.add(nameOf(this.#main.store, kind, id))
    }
  }

  /** The names of folders say something, even of the same bytes. */
  #isAny(claims: readonly Fact[], { hash, path }: TaskFact, files: TreeFiles): boolean {
    const folder = dirname(this.#mainPath(files, path))
    return claims.some((claim) => claim.hash === hash && dirname(claim.path) === folder)
  }

  /** Whether a tree began this apart from the row, with the id that was free in both. */
  #isApart(row: Fact, copies: readonly Copy[]): boolean {
    const copy = copies.find(({ isAbout }) => !isAbout)
    if (!copy || copy.shown.invalid || copy.fact === row) return false
    // Where no file but a list has it, nobody has begun it yet.
    if (this.#main.isAbout(row) || basename(copy.fact.path) === basename(row.path)) return false
    const { files, fact } = copy
    const other = this.#filesOf(row.path)
    const isRowNew = other
      ? isNew(other.tree, row.path)
      : isNew(files.tree, this.#treePath(files, row.path))
    return isRowNew && isNew(files.tree, fact.path)
  }

  /** Whether the tree took out what the main tree has and every merge base had. */
  #isGone(files: TreeFiles, name: string, claims: readonly Fact[]): boolean {
    const { tree, vanished } = files
    const { bases, isSparse } = tree
    if (isSparse) return false
    const isVanished = [...vanished.values()].some((names) => names.has(name))
    return claims.every(({ path }) => {
      const own = this.#treePath(files, path)
      const { list } = files.differing.get(own) ?? {}
      if (list && bases) return isTakenOut(list, name, mergedIn(tree, own))
      if (files.table.hashOf(own) !== undefined) return false
      if (isVanished) return true
      return bases ? isInAll(tree, own) && !isMergedAway(tree, own) : files.removed.has(own)
    })
  }
}
