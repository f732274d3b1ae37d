// The files that one linked worktree has not, though a merge base has them or they were there once:
// by them it has removed tasks. No I/O, no clock.

import type { FileTable } from '../files/file-table.ts'
import type { BaseTasks } from './base-tasks.ts'
import { isInAll, isMergedAway, pathIn, type TreeView } from './tree.ts'

type View = Pick<TreeView, 'tree' | 'isKnown' | 'mainHash'>

export class AbsentFiles {
  readonly #view: View
  readonly #table: Pick<FileTable, 'hashOf'>
  readonly #bases: BaseTasks
  /** They were there once. */
  readonly #removed = new Set<string>()
  /** Those that neither tree has any more, with the names of their tasks. */
  readonly #vanished = new Map<string, ReadonlySet<string>>()

  /** `table`: what is known of its files. */
  constructor(view: View, table: Pick<FileTable, 'hashOf'>, bases: BaseTasks) {
    this.#view = view
    this.#table = table
    this.#bases = bases
  }

  /** It was there, and is not any more. */
  removed(path: string): void {
    this.#removed.add(path)
  }

  found(path: string): void {
    this.#removed.delete(path)
  }

  paths(): string[] {
    const { bases = [], dir } = this.#view.tree
    const known = bases.flatMap((base) => [...base.keys()].map((name) => pathIn(dir, name)))
    return [...known, ...this.#removed].filter((path) => !this.#isThere(path))
  }

  vanished(): string[] {
    return [...this.#vanished.keys()]
  }

  /** The tasks of files that neither tree has: the main one may have them under other names. */
  *names(): Generator<string> {
    for (const names of this.#vanished.values()) yield* names
  }

  /** Looks whether neither tree has these; yields the tasks of which it was so, or is now. */
  *look(paths: readonly string[]): Generator<string> {
    for (const path of paths) {
      yield* this.#vanished.get(path) ?? []
      this.#vanished.delete(path)
      if (!this.#isInNeither(path)) continue
      const [tasks] = this.#bases.of(this.#view.tree, path) ?? []
      if (!tasks) continue
      this.#vanished.set(path, new Set(tasks.keys()))
      yield* tasks.keys()
    }
  }

  /** Whether the tree removed the task of this name, which is in this file there. */
  hasRemoved(name: string, path: string): boolean {
    const { tree } = this.#view
    if (this.#isThere(path)) return false
    if (this.hasVanished(name)) return true
    return tree.bases ? isInAll(tree, path) && !isMergedAway(tree, path) : this.#removed.has(path)
  }

  hasVanished = (name: string): boolean =>
    [...this.#vanished.values()].some((names) => names.has(name))

  #isInNeither(path: string): boolean {
    const { tree, isKnown } = this.#view
    const kind = tree.store.classify(path)
    if (!isKnown || tree.isSparse || (kind !== 'task' && kind !== 'about')) return false
    return this.#view.mainHash(path) === undefined && !this.#isThere(path) && isInAll(tree, path)
  }

  #isThere = (path: string): boolean => this.#table.hashOf(path) !== undefined
}
