// What a tree is at and whether git is writing it, by git's small files: the program is not asked.

import { basename, join } from 'node:path'
import { readSmall } from '../layouts/open-here.ts'
import { lookAt } from '../layouts/store-folder.ts'
import type { GitTree } from './worktrees.ts'

const SMALL_BYTES = 64 << 10

const branchOf = (head: string): string | undefined =>
  /^ref: refs\/heads\/(.+)/.exec(head)?.[1]?.trimEnd()

/** The branch of a tree, by its git folder. Undefined: it is on none. */
export const branchIn = (folder: string): string | undefined =>
  branchOf(readSmall(join(folder, 'HEAD'), SMALL_BYTES) ?? '')

/** As git knows it. */
export const headOf = ({ common, gitFolder }: GitTree): string =>
  gitFolder === common ? 'HEAD' : `worktrees/${basename(gitFolder)}/HEAD`

/** Another text for each move of the leading tree's `HEAD`, or of any packed branch. */
export function leadingHead(leading: GitTree): string {
  const names = ['packed-refs', 'reftable/tables.list', 'shallow', 'info/grafts']
  const signs = names.map((name) => signOf(join(leading.common, name)))
  return [ownHead(leading), ...signs].join('\n')
}

/** Another text for each move of a tree's `HEAD` or its branch. */
export function ownHead({ common, gitFolder }: GitTree): string {
  const head = readSmall(join(gitFolder, 'HEAD'), SMALL_BYTES) ?? ''
  const branch = branchOf(head)
  return `${head.trim()}\n${branch === undefined ? '' : signOf(join(common, 'refs/heads', branch))}`
}

/** Another text for each writing of a file; empty if it is not there. */
export function signOf(path: string): string {
  const found = lookAt(path)
  return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : ''
}

const SPARSE = /^[ \t]*sparseCheckout[ \t]*=[ \t]*true/im

export const isSparse = (gitFolder: string): boolean =>
  [join(gitFolder, 'config.worktree'), join(gitFolder, '../../config')].some((path) =>
    SPARSE.test(readSmall(path, SMALL_BYTES) ?? ''),
  )

/** One that crashed leaves its lock behind. */
const BUSY_MS = 60_000

/** git is writing this tree, so half of it may be of another commit. */
export function isBusy(gitFolder: string): boolean {
  const lock = lookAt(join(gitFolder, 'index.lock'))
  if (lock && Date.now() - lock.mtimeMs < BUSY_MS) return true
  return readSmall(join(gitFolder, 'locked'), SMALL_BYTES)?.startsWith('initializing') ?? false
}
