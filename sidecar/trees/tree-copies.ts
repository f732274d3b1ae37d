// What the linked worktrees of a repository made of a board's tasks. No I/O, no clock.

import { basename, dirname } from 'node:path'
import { type Fact, nameOf, type TaskFact } from '../files/facts.ts'
import { BaseTasks, type Wanted } from './base-tasks.ts'
import type { Copy, TreeMark } from './differences.ts'
import type { ToKeep } from './kept-trees.ts'
import { isNew, type Tree } from './tree.ts'
import { type KeptFiles, TreeFiles } from './tree-files.ts'
import type { MainFiles } from './tree-tasks.ts'

/** What trees made of a task. */
export interface InTrees {
  marks: readonly TreeMark[]
  /** The copies' hashes. */
  hashes: readonly string[]
  /** The main tree has not got it. */
  isAlone: boolean
  /** It has deleted it: a merge base had it. */
  isDeleted: boolean
  /** The trees whose copy was begun apart from the row, in a file of another name. */
  apart: readonly string[]
}

/** What one tree made of a task. */
interface Made {
  mark: TreeMark
  hash: string
  isApart?: boolean
}

export class TreeCopies {
  readonly #main: MainFiles
  readonly #trees = new Map<string, TreeFiles>()
  /** By their top folders. */
  readonly trees: ReadonlyMap<string, TreeFiles> = this.#trees
  /** Files to be read again: another one is compared with them now. */
  readonly due = new Set<string>()
  /** For files with many tasks. */
  readonly #bases = new BaseTasks()
  /** Names of tasks. */
  readonly #touched = new Set<string>()
  /** What an earlier run knew, by the names of the trees, until the first are taken. */
  #restored: ReadonlyMap<string, KeptFiles> = new Map()

  constructor(main: MainFiles) {
    this.#main = main
  }

  /** Those of the tree that has this file. */
  filesAt(path: string): TreeFiles | undefined {
    for (const files of this.#trees.values()) if (files.has(path)) return files
    return undefined
  }

  /** The names of the tasks that may be others since this was last asked. */
  takeTouched(): string[] {
    const names = [...this.#touched]
    this.#touched.clear()
    return names
  }

  /** Takes what an earlier run knew of trees, by their names. */
  restore(kept: ReadonlyMap<string, KeptFiles>): void {
    this.#restored = kept
  }

  /** What the next start is to know. */
  *toKeep(): Generator<ToKeep> {
    for (const files of this.#trees.values())
      if (files.isKnown) yield { tree: files.tree, files: files.toKeep() }
  }

  /** Takes all trees that there are now. */
  take(trees: readonly Tree[]): void {
    const now = new Map(trees.map((tree) => [tree.dir, tree]))
    for (const files of this.#trees.values()) {
      const { tree } = files
      const next = now.get(tree.dir)
      now.delete(tree.dir)
      if (next === tree || (!next && this.#isMoving(tree, trees))) continue
      if (next) files.rebase(next)
      else this.#drop(files)
    }
    for (const tree of now.values()) this.#add(tree)
    this.#restored = new Map()
    const listTrees = [...this.#trees.values()].flatMap(({ differences }) =>
      differences.listTrees(),
    )
    this.#bases.keep([...trees, ...listTrees])
  }

  /** All files of these trees were read. */
  read(trees: readonly Tree[]): void {
    for (const { dir } of trees) {
      const files = this.#trees.get(dir)
      if (!files || files.isRead) continue
      files.readAll()
      for (const each of this.#trees.values())
        if (each !== files && each.tree.name === files.tree.name) this.#drop(each)
    }
  }

  /** A file of the main tree has changed. `before`: the hash that it had. */
  mainChanged(path: string, before: string | undefined): void {
    for (const files of this.#trees.values()) files.mainChanged(path, before)
  }

  /** Texts without which nobody knows what is changed. */
  wanted(): Wanted[] {
    const unread = [...this.#trees.values()].flatMap(({ tree, differences }) =>
      differences.unread().map((path) => ({ tree, path })),
    )
    return [...unread, ...this.#bases.wanted()]
  }

  /** Takes a text that was wanted. Undefined: it cannot be read. */
  learn(wanted: Wanted, text: string | undefined): void {
    const { tree, path, blob } = wanted
    if (blob === undefined) this.#trees.get(tree.dir)?.learnHead(path, text)
    else this.#bases.learn(blob, wanted, text)
    // Other trees may wait for the same text.
    const name = path.slice(tree.store.root.length)
    for (const each of this.#trees.values()) each.learned(each.tree.store.root + name)
  }

  /** What trees made of a task. Undefined: nothing. */
  of(name: string): InTrees | undefined {
    const claims = this.#main.holders.claims(name)
    const row = claims[0] ?? this.newest(name)
    if (!row) return undefined
    const known = [...this.#trees.values()].filter(({ isKnown }) => isKnown)
    const made = known.flatMap((files) => this.#made(files, name, claims, row) ?? [])
    if (made.length === 0) return undefined
    made.sort((one, other) => (one.mark.tree < other.mark.tree ? -1 : 1))
    const isAlone = claims.length === 0
    return {
      marks: made.map(({ mark }) => mark),
      hashes: made.map(({ hash }) => hash),
      isAlone,
      isDeleted: isAlone && known.some((files) => files.wasInMain(name)),
      apart: made.filter(({ isApart }) => isApart).map(({ mark }) => mark.tree),
    }
  }

  /** The newest copy of a task, as trees have it. A guess counts if there is such a task. */
  newest(name: string): TaskFact | undefined {
    if (this.#trees.size === 0) return undefined
    const copies = [...this.#trees.values()].flatMap((it) => (it.isKnown ? it.copiesOf(name) : []))
    const isGuess =
      copies.every((copy) => copy.isGuess) && this.#main.holders.claims(name).length === 0
    return isGuess ? undefined : copies.sort(newerFirst)[0]?.fact
  }

  /** The file beside a task that only trees have, if it is about that task. */
  about(fact: Fact): TaskFact | undefined {
    if (fact.tree === undefined) return undefined
    const name = nameOf(this.#main.store, 'task', fact.id)
    const copies = this.filesAt(fact.path)?.copiesOf(name) ?? []
    const own = copies.find((copy) => copy.fact === fact)
    return own && !own.isAbout ? copies.find(({ isAbout }) => isAbout)?.fact : undefined
  }

  /** All that trees changed, or have beside the main tree's. */
  *facts(): Generator<Fact> {
    for (const { differences } of this.#trees.values()) yield* differences.facts()
  }

  /** `row`: what the row of the task is of. */
  #made(files: TreeFiles, name: string, claims: readonly Fact[], row: Fact): Made | undefined {
    const { name: tree, branch, dir } = files.tree
    const mark = { tree, ...(branch !== undefined && { branch }), dir }
    if (files.hasRemoved(name, claims)) return { mark: { ...mark, gone: true }, hash: '' }
    // The names of folders say something, even of the same bytes.
    const isMain = ({ fact: { hash, path } }: Copy) => {
      const folder = dirname(files.mainPath(path))
      return claims.some((claim) => claim.hash === hash && dirname(claim.path) === folder)
    }
    const copies = files.copiesOf(name)
    const others = copies.filter((copy) => !isMain(copy))
    const isTwin = copies.some((copy) => !copy.isAbout && isMain(copy))
    if (others.length === 0 || isTwin) return undefined
    const areAbout = claims.map((claim) => this.#main.holders.isAbout(claim))
    const hash = others.map(({ fact }) => fact.hash).join(' ')
    const isApart = this.#isApart(files, others, row)
    return { mark: { ...mark, ...shownBy(others, areAbout) }, hash, isApart }
  }

  /** Whether a tree began this apart from the row, with the id that was free in both. */
  #isApart(files: TreeFiles, copies: readonly Copy[], row: Fact): boolean {
    const copy = copies.find(({ isAbout }) => !isAbout)
    if (!copy || copy.shown.invalid || copy.fact === row) return false
    const { path } = copy.fact
    // Where no file but a list has it, nobody has begun it yet.
    if (this.#main.holders.isAbout(row) || basename(path) === basename(row.path)) return false
    const other = this.filesAt(row.path)
    const isRowNew = isNew((other ?? files).tree, other ? row.path : files.ownPath(row.path))
    return isRowNew && isNew(files.tree, path)
  }

  #add(tree: Tree): void {
    const [main, bases, due, touched] = [this.#main, this.#bases, this.due, this.#touched]
    const files = new TreeFiles(tree, { main, bases, due, touched })
    this.#trees.set(tree.dir, files)
    const kept = this.#restored.get(tree.name)
    if (kept) files.restore(kept)
  }

  #drop(files: TreeFiles): void {
    files.drop()
    this.#trees.delete(files.tree.dir)
  }

  /** It is in another place that is not read yet. What it had stands: nobody may get its tasks. */
  #isMoving = ({ name }: Tree, trees: readonly Tree[]): boolean =>
    trees.some((tree) => tree.name === name && !this.#trees.get(tree.dir)?.isKnown)
}

/**
 * What is about a task has its title, where both trees have such a file. `areAbout`: of each file
 * of the main tree, whether it is.
 */
function shownBy(copies: readonly Copy[], areAbout: readonly boolean[]): Copy['shown'] {
  const own = copies.find(({ isAbout }) => !isAbout)?.shown
  const about = copies.find(({ isAbout }) => isAbout)?.shown
  if (about) {
    const { status, ...rest } = about
    // The tree has the other file, which leads, as the main tree has it.
    const isLed = !own && areAbout.includes(false)
    const title = about.title !== undefined && { title: about.title }
    return { ...rest, ...(!isLed && status !== undefined && { status }), ...own, ...title }
  }
  if (!areAbout.includes(true)) return own ?? {}
  const { title: _, ...rest } = own ?? {}
  return rest
}

function newerFirst(one: Copy, other: Copy): number {
  const timeOf = ({ shown, mtimeMs }: Copy) => Date.parse(shown.updatedAt ?? '') || mtimeMs
  const treeOf = ({ fact }: Copy) => fact.tree ?? ''
  return (
    Number(one.isAbout) - Number(other.isAbout) ||
    timeOf(other) - timeOf(one) ||
    (treeOf(one) < treeOf(other) ? -1 : 1)
  )
}
