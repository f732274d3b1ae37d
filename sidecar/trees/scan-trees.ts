// Finds what changed in the linked worktrees of a board: by hints, and without, one tree after
// another.

import type { Clock } from '../../worker/shared/clock.ts'
import { seen } from '../files/file-stat.ts'
import { scan } from '../files/scan.ts'
import type { Store } from '../layouts/layout.ts'
import { isThere } from '../layouts/store-folder.ts'
import type { WatchedStore } from '../watch/watch.ts'
import type { FoundTrees } from './found-trees.ts'
import type { Tree } from './tree.ts'
import type { TreeCopies } from './tree-copies.ts'

/** What is watched of a board: its own files, and their copies in trees. */
export const watchedWith = (store: Store, copies: TreeCopies): WatchedStore => {
  const stores = () => [...copies.trees.values()].map(({ tree }) => tree.store)
  return {
    root: store.root,
    roots: () => stores().map(({ root }) => root),
    folders: () => [store, ...stores()].flatMap(({ folders }) => folders()),
    classify: (path) => copies.filesAt(path)?.tree.store.classify(path) ?? store.classify(path),
  }
}

export interface TreesReport {
  /** Of each that was scanned, its files to be read. */
  found: ReadonlyMap<Tree, readonly string[]>
  /** git was writing one that was left out: it is to be looked at again. */
  isBusy: boolean
  /** As of a scan. */
  workMs: number
}

export const NO_TREES: TreesReport = { found: new Map(), isBusy: false, workMs: 0 }

/** A tree that is not there is no empty one: it is left out. */
export async function scanTrees(
  copies: TreeCopies,
  trees: Pick<FoundTrees, 'isAway' | 'isBusy' | 'unchangedIn'> | undefined,
  { now }: Pick<Clock, 'now'>,
): Promise<TreesReport> {
  const found = new Map<Tree, readonly string[]>()
  let isBusy = false
  let workMs = 0
  for (const files of copies.trees.values()) {
    const { tree, table } = files
    if (trees?.isAway(tree)) continue
    if (trees?.isBusy(tree)) {
      isBusy = true
      continue
    }
    const blobOf = trees?.unchangedIn(tree)
    const report = await scan(tree.store, table, (path, stat) => {
      const blob = blobOf?.(path, stat)
      if (blob === undefined) return false
      files.takeUnchanged(path, blob, seen(stat, now()))
      return true
    })
    workMs += report.workMs
    if (report.state === 'missing') continue
    found.set(tree, [...report.changed, ...report.gone, ...report.suspects])
  }
  return { found, isBusy, workMs }
}

/**
 * The trees of which all that was found is known by now. Of one that moved on, or that git began to
 * write, what was found could not be read.
 */
export function treesRead(
  { found }: TreesReport,
  { trees }: Pick<TreeCopies, 'trees'>,
): readonly Tree[] {
  const isRead = ([tree, paths]: readonly [Tree, readonly string[]]) => {
    const table = trees.get(tree.dir)?.table
    const isKnown = (path: string) => table?.hashOf(path) !== undefined || !isThere(path)
    return paths.every(isKnown) && isThere(tree.store.root)
  }
  return [...found].filter(isRead).map(([tree]) => tree)
}
