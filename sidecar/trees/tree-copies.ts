// What the linked worktrees of a repository changed of a board's tasks. A copy with the bytes of
// the main tree's is not parsed, and neither is one that is merely old: as a merge base of the two
// trees has it. No I/O, no clock.

import { type Fact, nameOf, type ParsedFile, type TaskFact } from '../files/facts.ts'
import type { SeenStat } from '../files/file-stat.ts'
import { isAny, isApart, isGone, type MainFiles, mainPath, treePath } from './beside-main.ts'
import { type KeptFiles, type KeptTree, keptOf, restored, type ToKeep } from './kept-trees.ts'
import {
  BaseTasks,
  blobIds,
  isInAll,
  isOld,
  pathIn,
  type Tree,
  type Wanted,
} from './merge-bases.ts'
import {
  CopiesByName,
  copiesIn,
  factsOf,
  type InTrees,
  inOrder,
  isBlob,
  isMoving,
  type Made,
  newerFirst,
  newFiles,
  shownBy,
  type TreeFiles,
  wasInMain,
} from './tree-files.ts'
import { UnreadLists } from './unread-lists.ts'

const NONE: readonly never[] = []

export class TreeCopies {
  readonly #main: MainFiles
  readonly #trees = new Map<string, TreeFiles>()
  /** By their top folders. */
  readonly trees: ReadonlyMap<string, Pick<TreeFiles, 'tree' | 'table'>> = this.#trees
  readonly #copies: CopiesByName
  /** Files to be read again: another one is compared with them now. */
  readonly due = new Set<string>()
  /** For files with many tasks. */
  readonly bases = new BaseTasks()
  readonly #unread = new UnreadLists()
  /** What an earlier run knew, by the names of the trees, until the first are taken. */
  #restored: ReadonlyMap<string, KeptFiles> = new Map()

  constructor(main: MainFiles) {
    this.#main = main
    this.#copies = new CopiesByName((name) => main.claims(name).length > 0)
  }

  /** The tree that has this file. */
  treeOf(path: string): Tree | undefined {
    return this.#filesOf(path)?.tree
  }

  /** Takes what an earlier run knew of trees. */
  restore(kept: readonly KeptTree[]): void {
    this.#restored = new Map(kept.map((tree) => [tree.now.name, tree]))
  }

  /** What the next start is to know. */
  *toKeep(): Generator<ToKeep> {
    for (const files of this.#trees.values()) {
      const { tree, isRead, isKept } = files
      if (!isRead) continue
      yield isKept ? { tree } : { tree, files: keptOf(files, this.#goneIn(files)) }
      files.isKept = true
    }
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
    for (const tree of now.values()) this.#add(tree, names)
    this.#restored = new Map()
    this.bases.keep(trees)
    return names
  }

  /** All files of these trees were read. Returns the names of tasks that may be others. */
  read(trees: readonly Tree[]): Set<string> {
    const names = new Set<string>()
    for (const { dir } of trees) {
      const files = this.#trees.get(dir)
      if (!files || (files.isRead && !files.gone)) continue
      this.#readAnew(files, names)
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
    if (!files || hash === this.#main.hashOf(mainPath(this.#main, files, path))) {
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
      if (hash !== this.#main.hashOf(mainPath(this.#main, files, path)))
        this.#differs(files, path, file)
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
      const own = treePath(this.#main, files, path)
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
      const others = copies.filter(({ fact }) => !isAny(this.#main, claims, fact, files))
      const isTwin = copies.some((copy) => !copy.isAbout && !others.includes(copy))
      if (others.length > 0 && !isTwin) {
        const hash = others.map(({ fact }) => fact.hash).join(' ')
        const mine = { ...mark, ...shownBy(others, areAbout) }
        const isOther = row && isApart(this.#main, row, others, this.treeOf(row.path))
        found.push({ mark: mine, hash, isApart: isOther === true })
      } else if (
        copies.length === 0 &&
        claims.length > 0 &&
        isGone(this.#main, files, name, claims)
      ) {
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

  #differs(files: TreeFiles, path: string, file: ParsedFile) {
    const { hash, blobs = [] } = file
    const isFirst = !files.isRead || files.gone
    if (isFirst && !files.old.has(path)) files.old.set(path, hash)
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

  #add(tree: Tree, names: Set<string>): void {
    const kept = this.#restored.get(tree.name)
    const files = kept ? restored(tree, kept) : newFiles(tree)
    this.#trees.set(tree.dir, files)
    for (const [path, { copies, besides }] of files.differing) {
      // What they have is wanted now, and not once it is asked for.
      if (tree.store.classify(path) === 'tasks') this.bases.of(tree, path)
      for (const copy of copies) this.#copies.add(copy)
      for (const fact of besides) this.#main.add(fact)
    }
    if (kept) this.#namesOf(files, names)
  }

  /** What is only known from an earlier run is over. */
  #readAnew(files: TreeFiles, names: Set<string>): void {
    if (files.gone) this.#namesOf(files, names)
    for (const path of files.gone ? files.differing.keys() : NONE)
      if (files.table.hashOf(path) === undefined) this.#forget(files, path)
    delete files.gone
    files.isRead = true
  }

  #goneIn(files: TreeFiles): string[] {
    const names = new Set<string>()
    this.#namesOf(files, names)
    return [...names].filter((name) => {
      const claims = this.#main.claims(name)
      const hasCopy = this.#copies.of(name).some((copy) => copy.files === files)
      return claims.length > 0 && !hasCopy && isGone(this.#main, files, name, claims)
    })
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
    const isThere = this.#main.hashOf(mainPath(this.#main, files, path)) ?? table.hashOf(path)
    const [tasks] =
      (isThere === undefined && isInAll(tree, path) && this.bases.of(tree, path)) || []
    if (!tasks) return
    vanished.set(path, new Set(tasks.keys()))
    for (const name of tasks.keys()) into.add(name)
  }

  /** Each change of a file comes here. */
  #namesAt(files: TreeFiles, path: string, into: Set<string>): void {
    files.isKept = false
    for (const { name } of files.differing.get(path)?.copies ?? NONE) into.add(name)
    for (const { kind, id } of this.#main.factsAt(mainPath(this.#main, files, path))) {
      if (kind === 'task') into.add(nameOf(this.#main.store, kind, id))
    }
  }
}
