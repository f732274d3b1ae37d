// The tasks that merge bases have in some files, by texts that git is asked for. No I/O.

import { factOf, nameOf } from '../files/facts.ts'
import { parseFile } from '../files/parse-file.ts'
import type { Tasks } from '../git/history.ts'
import type { Store } from '../layouts/layout.ts'
import { pathFrom, type Tree } from './tree.ts'

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

/** Of lists, whose tasks are compared one by one, and of files that neither tree has any more. */
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

/** The tasks of a list that the main tree has had as the tree has committed them. */
const mergedIn = ({ merged, dir }: Tree, path: string) => merged?.lists.get(pathFrom(dir, path))
