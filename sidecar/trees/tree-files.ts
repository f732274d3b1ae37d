// What is known of the files of one linked worktree, and of the tasks that it has otherwise than
// the main tree. Pure.

import type { Task } from '../../worker/board/wire.ts'
import { compact } from '../files/compact.ts'
import { type Fact, factOf, nameOf, type ParsedFile, type TaskFact } from '../files/facts.ts'
import { FileTable } from '../files/file-table.ts'
import type { Tasks } from '../git/history.ts'
import { type Entry, isAbout } from '../layouts/layout.ts'
import { type BaseTasks, mergedIn, pathFrom, type Tree } from './merge-bases.ts'

export type TreeMark = NonNullable<Task['trees']>[number]

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
export interface Made {
  mark: TreeMark
  hash: string
  isApart?: boolean
}

export function inOrder(
  made: readonly Made[],
  of: Pick<InTrees, 'isAlone' | 'isDeleted'>,
): InTrees {
  const all = made.toSorted((one, other) => (one.mark.tree < other.mark.tree ? -1 : 1))
  const apart = all.filter(({ isApart }) => isApart).map(({ mark }) => mark.tree)
  return { marks: all.map(({ mark }) => mark), hashes: all.map(({ hash }) => hash), ...of, apart }
}

/** A task as a tree has it. */
export interface Copy {
  files: TreeFiles
  /** Its file has only what is about the task. */
  isAbout: boolean
  /** Its id is a guess by the name of its file. */
  isGuess: boolean
  name: string
  fact: TaskFact
  shown: Pick<TreeMark, 'status' | 'title' | 'updatedAt' | 'invalid'>
  mtimeMs: number
}

/** A file whose bytes are not the main tree's. */
export interface Differing {
  hash: string
  blobs: readonly string[]
  copies: readonly Copy[]
  /** Its session, heartbeat or run. */
  besides: readonly Fact[]
  /** Of a file with many tasks: all that it has, and what the merge bases had when it was read. */
  list?: { names: ReadonlySet<string>; before: readonly Tasks[] }
  /** No text of it could be read yet: what its tree's `HEAD` has is to be known. */
  isUnread?: boolean
}

export const factsOf = ({ copies, besides }: Pick<Differing, 'copies' | 'besides'> = NOTHING) => [
  ...copies.map(({ fact }): Fact => fact),
  ...besides,
]

const NOTHING = { copies: [], besides: [] }

/** The files of one tree. */
export interface TreeFiles {
  tree: Tree
  table: FileTable
  differing: Map<string, Differing>
  /** The hash of a file when the main tree's became another, or when it was first seen. */
  old: Map<string, string>
  /** Files that were there once. */
  removed: Set<string>
  /** Files that a merge base has, and neither tree any more, with the names of their tasks. */
  vanished: Map<string, ReadonlySet<string>>
  /** All of its files were read once, or are known from an earlier run. */
  isRead: boolean
  /** Only from an earlier run: the names of the tasks that it had taken out then. */
  gone?: ReadonlySet<string>
  /** What it has is kept for the next start. */
  isKept: boolean
}

/** In place of the hash of a text that was not read. */
export const isBlob = (hash: string): boolean => hash.length > 32

/** Trees have files of the same names: each is kept but once, in as many as there are of late. */
const names = new Map<string, string>()
const MAX_NAMES = 100_000
function sharedName(name: string): string {
  const known = names.get(name)
  if (known !== undefined) return known
  if (names.size >= MAX_NAMES) names.clear()
  const kept = compact(name)
  names.set(kept, kept)
  return kept
}

export const newFiles = (tree: Tree): TreeFiles => ({
  tree,
  table: new FileTable(tree.store.root, sharedName),
  differing: new Map(),
  old: new Map(),
  removed: new Set(),
  vanished: new Map(),
  isRead: false,
  isKept: false,
})

/** It is in another place that is not read yet. What it had stands: nobody may get its tasks. */
export const isMoving = (
  { tree: { name } }: TreeFiles,
  trees: readonly Tree[],
  known: ReadonlyMap<string, TreeFiles>,
): boolean => trees.some((tree) => tree.name === name && !known.get(tree.dir)?.isRead)

/** The copies of all trees, by the names of their tasks. */
export class CopiesByName {
  readonly #copies = new Map<string, readonly Copy[]>()
  readonly #isInMain: (name: string) => boolean

  constructor(isInMain: (name: string) => boolean) {
    this.#isInMain = isInMain
  }

  get size(): number {
    return this.#copies.size
  }

  /** Without guesses, where nothing says that there is such a task. */
  of(name: string): readonly Copy[] {
    const copies = this.#all(name)
    return copies.every(({ isGuess }) => isGuess) && !this.#isInMain(name) ? [] : copies
  }

  #all = (name: string): readonly Copy[] => this.#copies.get(name) ?? []

  add(copy: Copy): void {
    this.#copies.set(copy.name, [...this.#all(copy.name), copy])
  }

  delete(copy: Copy): void {
    const others = this.#all(copy.name).filter((other) => other !== copy)
    if (others.length > 0) this.#copies.set(copy.name, others)
    else this.#copies.delete(copy.name)
  }
}

/** What a file of a tree has that is not old, and the names of all its tasks. */
export function copiesIn(
  files: TreeFiles,
  { path, hash, stat, state, entries }: Omit<ParsedFile, 'chars'> & { path: string },
  bases: readonly Tasks[] | undefined,
) {
  const { store, name: tree } = files.tree
  const merged = mergedIn(files.tree, path)
  const copies: Copy[] = []
  const besides: Fact[] = []
  const names = new Set<string>()
  for (const entry of entries) {
    const own = factOf({ path, hash, state }, entry, undefined)
    if (!own) continue
    const fact = { ...own, tree }
    if (fact.kind !== 'task' || entry.kind !== 'task') {
      besides.push(withBranch(fact, entry, files.tree))
      continue
    }
    const name = nameOf(store, 'task', fact.id)
    names.add(name)
    const isOld = bases?.some((base) => base.get(name) === fact.hash)
    if (isOld || merged?.get(name) === fact.hash) continue
    copies.push({
      files,
      isAbout: isAbout(store, path, fact.id),
      isGuess: store.isGuess?.(path) === true,
      name,
      fact,
      shown: shownOf(entry, state),
      mtimeMs: stat?.mtimeMs ?? 0,
    })
  }
  return { copies, besides, names }
}

/** Whether a tree took a task out of a list that every merge base has it in. */
export function isTakenOut(
  { names, before }: NonNullable<Differing['list']>,
  name: string,
  merged: ReturnType<typeof mergedIn>,
): boolean {
  const isMerged = merged?.has(name) === true && merged.get(name) === undefined
  return (
    !names.has(name) && before.length > 0 && before.every((base) => base.has(name)) && !isMerged
  )
}

/** Whether a merge base has its task, also in a file of another name. */
export function wasInMain(copy: Copy, known: BaseTasks): boolean {
  const { name, fact, files } = copy
  const { tree, vanished } = files
  if (tree.store.classify(fact.path) === 'tasks') {
    return known.of(tree, fact.path)?.some((base) => base.has(name)) === true
  }
  const isThere = tree.bases?.some((base) => base.has(pathFrom(tree.dir, fact.path)))
  return isThere || [...vanished.values()].some((names) => names.has(name))
}

/** Of a file that cannot be read whole, nobody knows which status and title it has. */
function shownOf(
  { task }: Extract<Entry, { kind: 'task' }>,
  state: ParsedFile['state'],
): Copy['shown'] {
  const { status, title, updatedAt } = task
  if (state === 'broken') return { invalid: true }
  return { ...(status !== '' && { status }), title, ...(updatedAt !== undefined && { updatedAt }) }
}

export function newerFirst(one: Copy, other: Copy): number {
  const timeOf = ({ shown, mtimeMs }: Copy) => Date.parse(shown.updatedAt ?? '') || mtimeMs
  const difference = timeOf(other) - timeOf(one)
  return (
    Number(one.isAbout) - Number(other.isAbout) ||
    difference ||
    (one.files.tree.name < other.files.tree.name ? -1 : 1)
  )
}

/**
 * What is about a task has its title, where both trees have such a file. `areAbout`: of each file
 * of the main tree, whether it is.
 */
export function shownBy(copies: readonly Copy[], areAbout: readonly boolean[]): Copy['shown'] {
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

function withBranch(fact: Fact, entry: Entry, tree: Tree): Fact {
  const ranOn = entry.kind === 'session' ? entry.session.branch : undefined
  const isElsewhere = ranOn !== undefined && ranOn !== tree.branch
  return fact.kind === 'session' && isElsewhere ? { ...fact, isElsewhere } : fact
}
