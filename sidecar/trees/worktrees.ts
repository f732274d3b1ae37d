// Linked worktrees of a git repository hold copies of its boards: the main tree's are the ones that
// count. Only git's own small files are read, and no program is run.

import { lstat, readdir } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { readSmall } from '../layouts/open-here.ts'
import { storesIn } from '../layouts/registry.ts'
import { isWithin, realFolder } from '../layouts/store-folder.ts'

/** A linked worktree whose repository knows it. Real paths. */
export interface LinkedTree {
  /** Its top folder. */
  dir: string
  /** That of the main tree. */
  main: string
  /** Its own folder in `worktrees/` of the repository's. */
  gitFolder: string
}

const POINTER_BYTES = 8 << 10

/**
 * The linked worktree whose top is this folder; undefined: it is none, or a submodule. Both must
 * point at each other: a folder of others could name any repository of this machine as its own.
 */
export async function linkedTree(dir: string): Promise<LinkedTree | undefined> {
  const pointer = readSmall(join(dir, '.git'), POINTER_BYTES)
  const [, named] = /^gitdir: (.+?)\r?\n?$/.exec(pointer ?? '') ?? []
  const own = named && (await realFolder(resolve(dir, named)))
  if (!own) return undefined
  const shared = readSmall(join(own, 'commondir'), POINTER_BYTES)?.trim()
  const common = shared && (await realFolder(resolve(own, shared)))
  if (!common || dirname(own) !== join(common, 'worktrees')) return undefined
  const back = readSmall(join(own, 'gitdir'), POINTER_BYTES)?.trim()
  const isKnown = back !== undefined && (await realFolder(dirname(resolve(own, back)))) === dir
  // The main tree of a bare repository is none.
  const isLinked = isKnown && basename(common) === '.git'
  return isLinked ? { dir, main: dirname(common), gitFolder: own } : undefined
}

/** The main tree that a folder is in. Undefined: it is in none, or in a linked one. */
export async function mainTreeOf(folder: string): Promise<string | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    if (await isRepository(at)) {
      const common = join(at, '.git')
      return (await realFolder(common)) === common ? at : undefined
    }
    if (at === dirname(at)) return undefined
  }
}

/** All linked worktrees of a main tree that are there, by name. */
export async function linkedTreesOf(main: string): Promise<LinkedTree[]> {
  const folder = join(main, '.git/worktrees')
  const names = await readdir(folder).catch((): string[] => [])
  const trees: LinkedTree[] = []
  for (const name of names.toSorted()) {
    const own = join(folder, name)
    const back = readSmall(join(own, 'gitdir'), POINTER_BYTES)?.trim()
    const dir = back && (await realFolder(dirname(resolve(own, back))))
    const tree = dir ? await linkedTree(dir) : undefined
    if (tree?.gitFolder === own) trees.push(tree)
  }
  return trees
}

/** That in which a folder is. Real path. */
export async function linkedTreeOf(folder: string): Promise<LinkedTree | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    if (await isRepository(at)) return await linkedTree(at)
    if (at === dirname(at)) return undefined
  }
}

/** Where a folder of a linked worktree is in the main tree. */
export const inMain = ({ dir, main }: LinkedTree, folder: string): string =>
  join(main, relative(dir, folder))

/**
 * The folder of the main tree that a program means which is started in a linked worktree, if the
 * main tree has a board there or above; else the folder itself. Real path.
 */
export async function leadingFolder(folder: string): Promise<string> {
  const here = await realFolder(folder)
  const tree = here && (await linkedTreeOf(here))
  if (!here || !tree) return folder
  const there = inMain(tree, here)
  for (let at = there; isWithin(at, tree.main); at = dirname(at)) {
    if ((await realFolder(at)) !== at) continue
    for await (const _ of storesIn(at)) return at
  }
  return folder
}

/** Whether it is the top of a repository. */
export const isRepository = (folder: string): Promise<boolean> =>
  lstat(join(folder, '.git')).then(
    () => true,
    () => false,
  )
