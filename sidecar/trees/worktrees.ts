// The trees of a git repository hold copies of its boards: the main tree's are the ones that count,
// or those of the linked worktree that was added first. Only git's own small files are read, and no
// program is run.

import { lstatSync } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import type { Store } from '../layouts/layout.ts'
import { readSmall } from '../layouts/open-here.ts'
import { type Search, storesIn } from '../layouts/registry.ts'
import { isWithin, realFolder } from '../layouts/store-folder.ts'

/** A tree whose repository knows it. Real paths. */
export interface GitTree {
  /** Its top folder. */
  dir: string
  /** The repository's folder. */
  common: string
  /** Its own folder: in `worktrees/` of the common one, which is that of the main tree itself. */
  gitFolder: string
}

const POINTER_BYTES = 8 << 10
const CONFIG_BYTES = 64 << 10

/** That of which this folder is the top. Undefined: its repository does not know it. */
async function treeAt(dir: string): Promise<GitTree | undefined> {
  const linked = await linkedTree(dir)
  if (linked) return linked
  const common = await gitFolderOf(dir)
  const isMain = common !== undefined && (await mainTreeOf(common)) === dir
  return isMain ? { dir, common, gitFolder: common } : undefined
}

/**
 * The linked worktree whose top is this folder; undefined: it is none, or a submodule. Both must
 * point at each other: a folder of others could name any repository of this machine as its own.
 */
export async function linkedTree(dir: string): Promise<GitTree | undefined> {
  const own = await pointedAt(dir)
  const shared = own && readSmall(join(own, 'commondir'), POINTER_BYTES)?.trim()
  const common = own && shared && (await realFolder(resolve(own, shared)))
  if (!common || dirname(own) !== join(common, 'worktrees')) return undefined
  const back = readSmall(join(own, 'gitdir'), POINTER_BYTES)?.trim()
  const isKnown = back !== undefined && (await realFolder(dirname(resolve(own, back)))) === dir
  return isKnown ? { dir, common, gitFolder: own } : undefined
}

/** The top of the main tree. Undefined: it is not there, or the repository is bare. */
async function mainTreeOf(common: string): Promise<string | undefined> {
  const named = basename(common) === '.git' ? dirname(common) : worktreeIn(common)
  const dir = named && (await realFolder(named))
  return dir && (await gitFolderOf(dir)) === common ? dir : undefined
}

/** `core.worktree`, as a submodule has it. */
function worktreeIn(common: string): string | undefined {
  const config = readSmall(join(common, 'config'), CONFIG_BYTES) ?? ''
  const [, named] = /^\s*worktree\s*=\s*"?([^"\r\n]+?)"?\s*$/im.exec(config) ?? []
  return named && resolve(common, named)
}

async function gitFolderOf(dir: string): Promise<string | undefined> {
  const own = join(dir, '.git')
  return (await realFolder(own)) === own ? own : await pointedAt(dir)
}

/** By a file `.git`. */
async function pointedAt(dir: string): Promise<string | undefined> {
  const pointer = readSmall(join(dir, '.git'), POINTER_BYTES)
  const [, named] = /^gitdir: (.+?)\r?\n?$/.exec(pointer ?? '') ?? []
  return named && (await realFolder(resolve(dir, named)))
}

/** All linked worktrees of a repository that are there, by name. */
export async function linkedTreesOf(common: string): Promise<GitTree[]> {
  const folder = join(common, 'worktrees')
  const names = await readdir(folder).catch((): string[] => [])
  const trees: GitTree[] = []
  for (const name of names.toSorted()) {
    const own = join(folder, name)
    const back = readSmall(join(own, 'gitdir'), POINTER_BYTES)?.trim()
    const dir = back && (await realFolder(dirname(resolve(own, back))))
    const tree = dir ? await linkedTree(dir) : undefined
    if (tree?.gitFolder === own) trees.push(tree)
  }
  return trees
}

/** All trees of a repository, in the order in which they lead: the main one, then the oldest. */
async function treesOf(common: string): Promise<GitTree[]> {
  const main = await mainTreeOf(common)
  const linked = await linkedTreesOf(common)
  const addedMs = ({ gitFolder }: GitTree) =>
    lstatSync(join(gitFolder, 'commondir'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const ages = new Map(linked.map((tree) => [tree, addedMs(tree)]))
  linked.sort((one, other) => (ages.get(one) ?? 0) - (ages.get(other) ?? 0))
  return [...(main === undefined ? [] : [{ dir: main, common, gitFolder: common }]), ...linked]
}

/** That in which a folder is. Real path. */
export const treeOf = (folder: string): Promise<GitTree | undefined> => above(folder, treeAt)

export const linkedTreeOf = (folder: string): Promise<GitTree | undefined> =>
  above(folder, linkedTree)

async function above(folder: string, at: typeof treeAt): Promise<GitTree | undefined> {
  for (let dir = folder; ; dir = dirname(dir)) {
    if (await isRepository(dir)) return await at(dir)
    if (dir === dirname(dir)) return undefined
  }
}

/** Where another tree has what a tree has in a folder. */
export const inTree = (tree: GitTree, folder: string, other: Pick<GitTree, 'dir'>): string =>
  join(other.dir, relative(tree.dir, folder))

/** The board of a folder, in the first tree of its repository that has one there. */
export async function leadingBoard(
  tree: GitTree,
  folder: string,
  search?: Search,
): Promise<{ store: Store; dir: string } | undefined> {
  for (const other of await treesOf(tree.common)) {
    const dir = inTree(tree, folder, other)
    // A link could lead anywhere.
    if ((await realFolder(dir)) !== dir) continue
    for await (const { store, refused } of storesIn(dir, search))
      if (!refused) return { store, dir }
  }
  return undefined
}

/**
 * The folder that a program means which is started in a tree: where there is a board of it or of
 * the main tree, or above, that folder of the tree that leads there; where neither has one, one of
 * another tree; else the folder itself. Real path.
 */
export async function leadingFolder(folder: string): Promise<string> {
  const here = await realFolder(folder)
  const tree = here && (await treeOf(here))
  if (!here || !tree) return folder
  const isOwn = ({ dir, gitFolder }: GitTree) => dir === tree.dir || gitFolder === tree.common
  const trees = await treesOf(tree.common)
  for (const among of [trees.filter(isOwn), trees]) {
    for (let at = here; isWithin(at, tree.dir); at = dirname(at)) {
      if (!(await hasBoard(among, tree, at))) continue
      const leading = await leadingBoard(tree, at)
      return leading === undefined || leading.dir === at ? folder : leading.dir
    }
  }
  return folder
}

async function hasBoard(among: readonly GitTree[], tree: GitTree, folder: string) {
  for (const other of among) {
    const dir = inTree(tree, folder, other)
    if ((await realFolder(dir)) !== dir) continue
    for await (const _ of storesIn(dir)) return true
  }
  return false
}

/**
 * What a folder of a linked worktree is called: as in the main tree, or in the repository itself
 * where that is bare. So a board has the same name whichever tree leads.
 */
export async function locationOf(folder: string): Promise<string> {
  const tree = await linkedTreeOf(folder)
  if (!tree) return folder
  const { common } = tree
  const hidden = basename(common).startsWith('.') ? dirname(common) : common
  return inTree(tree, folder, { dir: (await mainTreeOf(common)) ?? hidden })
}

/** Whether it is the top of a repository. */
export const isRepository = (folder: string): Promise<boolean> =>
  lstat(join(folder, '.git')).then(
    () => true,
    () => false,
  )
