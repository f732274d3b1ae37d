// Finds what changed in the linked worktrees of a board without hints, one tree after another.

import type { Clock } from '../../worker/shared/clock.ts'
import { seen } from '../files/file-stat.ts'
import { scan } from '../files/scan.ts'
import type { BoardTrees } from './board-trees.ts'
import type { Tree } from './merge-bases.ts'
import type { TreeCopies } from './tree-copies.ts'

export interface TreesReport {
  /** Files to be read. */
  found: readonly string[]
  /** All that were scanned. */
  trees: readonly Tree[]
  /** git was writing one that was left out: it is to be looked at again. */
  isBusy: boolean
  /** As of a scan. */
  workMs: number
}

export const NO_TREES: TreesReport = { found: [], trees: [], isBusy: false, workMs: 0 }

/** A tree that is not there is no empty one: it is left out. */
export async function scanTrees(
  board: { trees: TreeCopies; touchNames(names: ReadonlySet<string>): void },
  trees: Pick<BoardTrees, 'isBusy' | 'oldOf'> | undefined,
  { now }: Pick<Clock, 'now'>,
): Promise<TreesReport> {
  const found: string[] = []
  const scanned: Tree[] = []
  let isBusy = false
  let workMs = 0
  for (const { tree, table } of board.trees.trees.values()) {
    if (trees?.isBusy(tree)) {
      isBusy = true
      continue
    }
    const oldOf = trees?.oldOf(tree)
    const names = new Set<string>()
    const report = await scan(tree.store, table, (path, stat) => {
      const blob = oldOf?.(path, stat)
      if (blob === undefined) return false
      const touched = board.trees.takeOld(tree, path, blob, seen(stat, now()))
      for (const name of touched) names.add(name)
      return true
    })
    board.touchNames(names)
    workMs += report.workMs
    if (report.state === 'missing') continue
    found.push(...report.changed, ...report.gone, ...report.suspects)
    scanned.push(tree)
  }
  return { found, trees: scanned, isBusy, workMs }
}
