// A linked worktree that has the board, and what its files have in common with the main tree's: by
// the commits where the histories of the two part, and by what the main tree has had since. No I/O.
//
// The files of this folder:
// - found-trees.ts has all trees that there are: open-trees.ts opens them, and merges.ts asks git
//   what of them was merged; scan-trees.ts finds the files that changed in them;
// - tree-copies.ts has what all of them made of a task; kept-trees.ts keeps it on disk;
// - tree-files.ts has the files of one tree, in tree-tasks.ts, which touches the tasks in them:
//   differences.ts has those that differ, absent-files.ts those that are absent;
// - base-tasks.ts has the tasks of merge bases, for all trees.
//
// The words of this folder:
// - merged: what the tree has committed, and the main tree has had since a merge base;
// - differing: a file with other bytes than the main tree's;
// - changed: a differing file, or a task in one, that is neither as a merge base has it nor merged;
// - absent: a file that is not in the tree; removed: one that was there or is in a merge base;
// - vanished: a file that neither tree has, though every merge base does;
// - touched: a task that may be another since its board last asked; due: a file to be read again.

import { createHash } from 'node:crypto'
import { sep } from 'node:path'
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
  /** What is not there was not removed. */
  isSparse: boolean
}

/** A tree as it is now, and where the main one has its files. */
export interface TreeView {
  readonly tree: Tree
  /** Until then none of its tasks counts. */
  readonly isKnown: boolean
  /** The names of the tasks that it had removed before a stop. Undefined: all was read since. */
  readonly goneBefore: ReadonlySet<string> | undefined
  mainPath(path: string): string
  /** Of the main tree's file in the same place. */
  mainHash(path: string): string | undefined
}

/** What a tree has committed, and the main tree has had since a merge base. Paths from the top. */
export interface Merged {
  /** The blobs of files; undefined: it was removed. */
  files: ReadonlyMap<string, string | undefined>
  /** Of files that hold a list: hash by name of each task; undefined: it was removed. */
  lists: ReadonlyMap<string, ReadonlyMap<string, string | undefined>>
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

/** Whether the main tree has had this file removed, as the tree has committed it. */
export function isMergedAway({ merged, dir }: Tree, path: string): boolean {
  const name = pathFrom(dir, path)
  return merged?.files.has(name) === true && merged.files.get(name) === undefined
}

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
