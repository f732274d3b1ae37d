// A published board in a repository with a linked worktree beside it, and what trees say of it.

import { mkdirSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, vi } from 'vitest'
import type { Task } from '../../../worker/board/wire.ts'
import { PATIENT } from '../../support/patience.ts'
import { git, initialize } from '../git/git-folder.ts'
import { type Files, PublishedFolder } from '../published-folder.ts'

/** The tree is called `feat`. */
export async function openWithTree(files: Files) {
  const folder = await PublishedFolder.open(files, (dir) => {
    initialize(dir)
    git(dir, 'worktree', 'add', '-q', '../feat', '-b', 'feat')
  })
  return { folder, tree: join(folder.dir, '../feat') }
}

/**
 * The sidecar is started anew while the folder of the tree is where nobody looks. Returns what puts
 * it back.
 */
export async function restartWithout(folder: PublishedFolder, tree: string): Promise<() => void> {
  await folder.stopSidecar()
  const far = join(tree, '../far/away/feat')
  mkdirSync(dirname(far), { recursive: true })
  renameSync(tree, far)
  await folder.startSidecar()
  return () => renameSync(far, tree)
}

/** Of each task that trees changed: what they say, with a plus if only they have it. */
export async function marksOf(folder: PublishedFolder): Promise<Record<string, string>> {
  const shown = ({ trees, inMain }: Task) =>
    (inMain === false ? '+' : '') +
    trees
      ?.map((it) => `${it.tree}: ${it.gone ? 'gone' : it.invalid ? 'unreadable' : it.status}`)
      .join(', ')
  const tasks = Object.values(await folder.tasks()).filter(({ trees }) => trees)
  return Object.fromEntries(tasks.map((it) => [it.id, shown(it)]))
}

export const untilMarks = (folder: PublishedFolder, expected: Record<string, string>) =>
  vi.waitFor(async () => expect(await marksOf(folder)).toEqual(expected), PATIENT)
