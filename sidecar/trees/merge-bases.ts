// What a linked worktree and the main tree have in common: the files of the commits where their
// histories part. No I/O.

import { createHash } from 'node:crypto'
import { sep } from 'node:path'
import { factOf, nameOf } from '../files/facts.ts'
import { parseFile } from '../files/parse-file.ts'
import type { Tasks } from '../git/history.ts'
import type { Store } from '../layouts/layout.ts'

/** A tree as it was found. */
export interface Tree {
  /** Its name in `worktrees/` of the repository. */
  name: string
  branch?: string | undefined
  /** Its top folder. */
  dir: string
  /** The board that it has where the main tree has its own. */
  store: Store
  /**
   * The board's files in each merge base with the main tree: path from the top, and id of the blob.
   * Undefined: none is known, so what differs counts once it was seen to change.
   */
  bases: readonly ReadonlyMap<string, string>[] | undefined
  /** Absent: nothing that is known. */
  merged?: Merged | undefined
  algorithm: 'sha1' | 'sha256'
  /** What is not there was not taken out. */
  isSparse: boolean
}

/** What a tree has committed, and the main tree has had since a merge base. Paths from the top. */
export interface Merged {
  /** The blobs of files; undefined: it was taken out. */
  files: ReadonlyMap<string, string | undefined>
  /** Of files that hold a list: hash by name of each task; undefined: it was taken out. */
  lists: ReadonlyMap<string, ReadonlyMap<string, string | undefined>>
}

/** A text that git has, and the file of a tree that is compared with it. */
export interface Wanted {
  tree: Tree
  path: string
  /** Of a merge base. Absent: what the tree's `HEAD` has there. */
  blob?: string
}

/** `isWhole`: false: more than these may be in it. */
export function tasksIn(
  store: Store,
  path: string,
  text: string,
): { tasks: Tasks; isWhole: boolean } {
  const tasks = new Map<string, string>()
  const { entries, state } = parseFile(store, path, store.classify(path) ?? 'tasks', text)
  for (const entry of entries) {
    const fact = factOf({ path, hash: '', state }, entry, undefined)
    if (fact?.kind === 'task') tasks.set(nameOf(store, 'task', fact.id), fact.hash)
  }
  return { tasks, isWhole: state === 'ok' }
}

/** What merge bases have in some files: those with many tasks, which are compared one by one. */
export class BaseTasks {
  /** By blob. */
  readonly #wanted = new Map<string, Wanted>()
  /** By blob. Undefined: it cannot be read. */
  readonly #known = new Map<string, Tasks | undefined>()

  wanted = (): readonly Wanted[] => [...this.#wanted.values()]

  learn(blob: string, { tree, path }: Wanted, text: string | undefined): void {
    this.#wanted.delete(blob)
    this.#known.set(blob, text === undefined ? undefined : tasksIn(tree.store, path, text).tasks)
  }

  /** What each merge base has of a file. Undefined: that is wanted first. */
  of(tree: Tree, path: string): Tasks[] | undefined {
    const { bases = [], dir } = tree
    let isKnown = true
    const found: Tasks[] = []
    for (const base of bases) {
      const blob = base.get(pathFrom(dir, path))
      if (blob === undefined) continue
      if (!this.#known.has(blob)) this.#wanted.set(blob, { tree, path, blob })
      isKnown &&= this.#known.has(blob)
      const tasks = this.#known.get(blob)
      if (tasks) found.push(tasks)
    }
    return isKnown ? found : undefined
  }

  /**
   * Whether a task of a list is as a merge base has it, or as the main tree has had it since. Also
   * while that is to be learned first: nobody knows yet what is changed.
   */
  isUnchanged(tree: Tree, path: string, name: string, hash: string): boolean {
    const before = this.of(tree, path)
    const isBefore = before === undefined || before.some((base) => base.get(name) === hash)
    return isBefore || mergedIn(tree, path)?.get(name) === hash
  }

  /** Whether a tree whose list lacks a task removed it: all merge bases have it there. */
  isRemoved(tree: Tree, path: string, name: string): boolean {
    const [before = [], merged] = [this.of(tree, path), mergedIn(tree, path)]
    const isMerged = merged?.has(name) === true && merged.get(name) === undefined
    return before.length > 0 && before.every((base) => base.has(name)) && !isMerged
  }

  /** Forgets what no merge base of these trees has. */
  keep(trees: readonly Tree[]): void {
    if (this.#known.size === 0) return
    const used = new Set<string>()
    for (const { bases = [] } of trees)
      for (const base of bases) for (const id of base.values()) used.add(id)
    for (const blob of this.#known.keys()) if (!used.has(blob)) this.#known.delete(blob)
  }
}

/**
 * Whether a file is as a merge base has it, or as the main tree has had it since; `blobs` are what
 * git may call it.
 */
export function isUnchanged(
  { bases = [], merged, dir }: Tree,
  path: string,
  blobs: readonly string[],
): boolean {
  const name = pathFrom(dir, path)
  const known = [...bases.map((base) => base.get(name)), merged?.files.get(name)]
  return known.some((blob) => blob !== undefined && blobs.includes(blob))
}

/** Whether the main tree has had this file taken out, as the tree has committed it. */
export function isMergedAway({ merged, dir }: Tree, path: string): boolean {
  const name = pathFrom(dir, path)
  return merged?.files.has(name) === true && merged.files.get(name) === undefined
}

/** The tasks of a list that the main tree has had as the tree has committed them. */
const mergedIn = ({ merged, dir }: Tree, path: string) => merged?.lists.get(pathFrom(dir, path))

/** Whether every merge base has a file here. */
export const isInAll = ({ bases = [], dir }: Tree, path: string): boolean =>
  bases.length > 0 && bases.every((base) => base.has(pathFrom(dir, path)))

export const isInAny = ({ bases = [], dir }: Tree, path: string): boolean =>
  bases.some((base) => base.has(pathFrom(dir, path)))

/** Whether no merge base has a file here; false: there is none to ask. */
export const isNew = (tree: Tree, path: string): boolean =>
  tree.bases !== undefined && tree.bases.length > 0 && !isInAny(tree, path)

/** As git has it: from the top of the tree, with slashes. */
export const pathFrom = (dir: string, path: string): string =>
  path.slice(dir.length + 1).replaceAll(sep, '/')

export const pathIn = (dir: string, path: string): string => dir + sep + path.replaceAll('/', sep)

/**
 * The ids that git may have given these bytes: as they are, and with CR LF as LF. git itself would
 * run its filters.
 */
export function blobIds(bytes: Buffer, algorithm: Tree['algorithm']): string[] {
  const id = (text: Buffer) =>
    createHash(algorithm).update(`blob ${text.length}\0`).update(text).digest('hex')
  if (!bytes.includes('\r\n')) return [id(bytes)]
  return [id(bytes), id(Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1'))]
}
