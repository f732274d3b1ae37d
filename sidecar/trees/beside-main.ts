// What is known of the main tree, and how a linked worktree differs from it. Pure.

import { basename, dirname } from 'node:path'
import type { Fact, TaskFact } from '../files/facts.ts'
import type { Store } from '../layouts/layout.ts'
import { isInAll, isMergedAway, isNew, mergedIn, type Tree } from './merge-bases.ts'
import { type Copy, isTakenOut, type TreeFiles } from './tree-files.ts'

export interface MainFiles {
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

/** Where the main tree has a file of a tree. */
export const mainPath = ({ store }: MainFiles, { tree }: TreeFiles, path: string): string =>
  store.root + path.slice(tree.store.root.length)

/** Where a tree has a file of the main tree. */
export const treePath = ({ store }: MainFiles, { tree }: TreeFiles, path: string): string =>
  tree.store.root + path.slice(store.root.length)

/** The names of folders say something, even of the same bytes. */
export function isAny(
  main: MainFiles,
  claims: readonly Fact[],
  { hash, path }: TaskFact,
  files: TreeFiles,
): boolean {
  const folder = dirname(mainPath(main, files, path))
  return claims.some((claim) => claim.hash === hash && dirname(claim.path) === folder)
}

/**
 * Whether a tree began this apart from the row, with the id that was free in both. `other`: the
 * tree that the row is of; absent: the main one.
 */
export function isApart(
  main: MainFiles,
  row: Fact,
  copies: readonly Copy[],
  other: Tree | undefined,
): boolean {
  const copy = copies.find(({ isAbout }) => !isAbout)
  if (!copy || copy.shown.invalid || copy.fact === row) return false
  // Where no file but a list has it, nobody has begun it yet.
  if (main.isAbout(row) || basename(copy.fact.path) === basename(row.path)) return false
  const { files, fact } = copy
  const isRowNew = other
    ? isNew(other, row.path)
    : isNew(files.tree, treePath(main, files, row.path))
  return isRowNew && isNew(files.tree, fact.path)
}

/** Whether a tree took out what the main tree has and every merge base had. */
export function isGone(
  main: MainFiles,
  files: TreeFiles,
  name: string,
  claims: readonly Fact[],
): boolean {
  const { tree, vanished, gone } = files
  const { bases, isSparse } = tree
  if (gone) return gone.has(name)
  if (isSparse) return false
  const isVanished = [...vanished.values()].some((names) => names.has(name))
  return claims.every(({ path }) => {
    const own = treePath(main, files, path)
    const { list } = files.differing.get(own) ?? {}
    if (list && bases) return isTakenOut(list, name, mergedIn(tree, own))
    if (files.table.hashOf(own) !== undefined) return false
    if (isVanished) return true
    return bases ? isInAll(tree, own) && !isMergedAway(tree, own) : files.removed.has(own)
  })
}
