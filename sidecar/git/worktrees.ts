// The trees of a git repository hold copies of its boards: the main tree's are the ones that count,
// or those of the linked worktree that was added first. Only git's own small files are read, and no
// program is run.

import { lstat, readdir } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import type { Store } from '../layouts/layout.ts'
import { readSmall } from '../layouts/open-here.ts'
import { type Search, StoreError, storesIn } from '../layouts/registry.ts'
import { isThere, isWithin, lookAt, realFolder } from '../layouts/store-folder.ts'

/** A tree whose repository knows it. Real paths. */
export interface GitTree {
  /** Its top folder. */
  dir: string
  /** The repository's folder. */
  common: string
  /** Its own folder: in `worktrees/` of the common one, which is that of the main tree itself. */
  gitFolder: string
  /** Its folder was moved without git, which knows it in its old place. */
  isMoved?: true
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
 * Where nothing is at the place that its repository knows, it is one that was moved.
 */
export async function linkedTree(dir: string): Promise<GitTree | undefined> {
  const own = await pointedAt(dir)
  const common = own && (await commonOf(own))
  const back = own && backOf(own)
  if (!common || back === undefined) return undefined
  const tree = { dir, common, gitFolder: own }
  if ((await realFolder(dirname(back))) === dir) return tree
  if (isThere(back)) return undefined
  const [only, another] = (await pointersIn(common, [dirname(dir)])).get(own) ?? []
  return only === dir && another === undefined ? { ...tree, isMoved: true } : undefined
}

/** Of the own folder of a linked worktree. Undefined: it is none. */
async function commonOf(own: string): Promise<string | undefined> {
  const shared = readSmall(join(own, 'commondir'), POINTER_BYTES)?.trim()
  const common = shared && (await realFolder(resolve(own, shared)))
  return common && dirname(own) === join(common, 'worktrees') ? common : undefined
}

/** The file `.git` of a linked worktree, where its repository knows it. */
function backOf(own: string): string | undefined {
  const back = readSmall(join(own, 'gitdir'), POINTER_BYTES)?.trim()
  return back ? resolve(own, back) : undefined
}

/** A folder with more beside a worktree is looked into no further. */
const NEIGHBOURS = 1_000

/**
 * The folders that name an own folder of this repository, by that: of those beside its trees, where
 * these are and were, and in `places`.
 */
async function pointersIn(
  common: string,
  places: readonly string[],
): Promise<Map<string, string[]>> {
  const known = (await ownFoldersOf(common)).flatMap((own) => backOf(own) ?? [])
  const main = await mainTreeOf(common)
  const around = [...known.map(dirname), ...(main === undefined ? [] : [main])].map(dirname)
  const pointers = new Map<string, string[]>()
  for (const place of new Set([...around, ...places])) {
    const real = await realFolder(place)
    const names = real === undefined ? [] : await readdir(real).catch((): string[] => [])
    for (const name of names.slice(0, NEIGHBOURS)) {
      const dir = join(real ?? place, name)
      const own = await pointedAt(dir)
      if (own !== undefined) pointers.set(own, [...new Set([...(pointers.get(own) ?? []), dir])])
    }
  }
  return pointers
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
  const [, named] = /^[ \t]*worktree[ \t]*=[ \t]*"?([^"\s][^"\r\n]*)/im.exec(config) ?? []
  return named && resolve(common, named.trimEnd())
}

async function gitFolderOf(dir: string): Promise<string | undefined> {
  const own = join(dir, '.git')
  return (await realFolder(own)) === own ? own : await pointedAt(dir)
}

/** By a file `.git`. */
async function pointedAt(dir: string): Promise<string | undefined> {
  const named = namedAt(dir)
  return named && (await realFolder(named))
}

/** What a file `.git` names, whether or not it is there. */
function namedAt(dir: string): string | undefined {
  const pointer = readSmall(join(dir, '.git'), POINTER_BYTES)
  const [, named] = /^gitdir: (.+?)\r?\n?$/.exec(pointer ?? '') ?? []
  return named && resolve(dir, named)
}

async function ownFoldersOf(common: string): Promise<string[]> {
  const folder = join(common, 'worktrees')
  const names = await readdir(folder).catch((): string[] => [])
  return names.toSorted().map((name) => join(folder, name))
}

/**
 * All linked worktrees of a repository that are there, by name. `seen`: folders that may be one
 * that was moved.
 */
export async function linkedTreesOf(
  common: string,
  seen: readonly string[] = [],
): Promise<GitTree[]> {
  const trees: GitTree[] = []
  let pointers: Map<string, string[]> | undefined
  for (const own of await ownFoldersOf(common)) {
    const back = backOf(own)
    if (back === undefined || (await commonOf(own)) !== common) continue
    const dir = await realFolder(dirname(back))
    if (isThere(back)) {
      if (dir && (await pointedAt(dir)) === own) trees.push({ dir, common, gitFolder: own })
      continue
    }
    pointers ??= await pointersIn(common, seen.map(dirname))
    const [only, another] = pointers.get(own) ?? []
    if (only === undefined || another !== undefined) continue
    trees.push({ dir: only, common, gitFolder: own, isMoved: true })
  }
  return trees
}

/** All trees of a repository, in the order in which they lead: the main one, then the oldest. */
async function treesOf(common: string): Promise<GitTree[]> {
  const main = await mainTreeOf(common)
  const linked = await linkedTreesOf(common)
  const addedMs = ({ gitFolder }: GitTree) => lookAt(join(gitFolder, 'commondir'))?.mtimeMs ?? 0
  const ages = new Map(linked.map((tree) => [tree, addedMs(tree)]))
  linked.sort((one, other) => (ages.get(one) ?? 0) - (ages.get(other) ?? 0))
  return [...(main === undefined ? [] : [{ dir: main, common, gitFolder: common }]), ...linked]
}

/** That in which a folder is. Real path. */
export const treeOf = (folder: string): Promise<GitTree | undefined> => above(folder, treeAt)

export const linkedTreeOf = (folder: string): Promise<GitTree | undefined> =>
  above(folder, linkedTree)

async function above(folder: string, at: typeof treeAt): Promise<GitTree | undefined> {
  const top = await repositoryAbove(folder)
  return top === undefined ? undefined : await at(top)
}

/** The top of the repository in which a folder is. */
async function repositoryAbove(folder: string): Promise<string | undefined> {
  for (let dir = folder; ; dir = dirname(dir)) {
    if (await isRepository(dir)) return dir
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
  const trees = await treesOf(tree.common)
  for await (const { store, refused, dir } of boardsIn(trees, tree, folder, search))
    if (!refused) return { store, dir }
  return undefined
}

/** The boards that these trees have where a tree has a folder. */
async function* boardsIn(
  trees: readonly GitTree[],
  tree: GitTree,
  folder: string,
  search?: Search,
) {
  for (const other of trees) {
    const dir = inTree(tree, folder, other)
    // A link could lead anywhere.
    if ((await realFolder(dir)) !== dir) continue
    for await (const found of storesIn(dir, search)) yield { ...found, dir }
  }
}

/**
 * The folder that a program means which is started in a tree: where there is a board of it or of
 * the main tree, or above, that folder of the tree that leads there; where neither has one, one of
 * another tree; else the folder itself. Real path. Throws StoreError in a folder that says it is a
 * worktree and is none.
 */
export async function leadingFolder(folder: string): Promise<string> {
  const here = await realFolder(folder)
  const top = here && (await repositoryAbove(here))
  const stray = top && (await strayAt(top, [here]))
  if (stray) throw new StoreError('stray_worktree', stray)
  const tree = here && (await treeOf(here))
  if (!here || !tree) return folder
  const isOwn = ({ dir, gitFolder }: GitTree) => dir === tree.dir || gitFolder === tree.common
  const trees = await treesOf(tree.common)
  for (const among of [trees.filter(isOwn), trees]) {
    for (let at = here; isWithin(at, tree.dir); at = dirname(at)) {
      if ((await boardsIn(among, tree, at).next()).done) continue
      const leading = await leadingBoard(tree, at)
      return leading === undefined || leading.dir === at ? folder : leading.dir
    }
  }
  return folder
}

/**
 * What a folder of a linked worktree is called: as in the main tree, or in the repository itself
 * where that is bare. So a board has the same name whichever tree leads.
 */
export async function locationOf(folder: string): Promise<string> {
  const tree = await linkedTreeOf(folder)
  return tree ? inTree(tree, folder, { dir: await placeOf(tree.common) }) : folder
}

/** The main tree, or where a bare repository is. */
async function placeOf(common: string): Promise<string> {
  const hidden = basename(common).startsWith('.') ? dirname(common) : common
  return (await mainTreeOf(common)) ?? hidden
}

/**
 * Why a folder that says it is a linked worktree is none, in one sentence: a copy, or one whose
 * repository does not know it, or is of another machine. It is no board of its own if the
 * repository is in one of `here`, or around it. Undefined: it says no such thing, or is one.
 */
export async function strayAt(dir: string, here: readonly string[]): Promise<string | undefined> {
  const named = namedAt(dir)
  if (named === undefined || basename(dirname(named)) !== 'worktrees') return undefined
  const own = await realFolder(named)
  // A submodule, or the separate git folder of a main tree.
  if (own !== undefined && !isThere(join(own, 'commondir'))) return undefined
  if (await linkedTree(dir)) return undefined
  const common = await realFolder(dirname(dirname(named)))
  const isKnown = common !== undefined && isThere(join(common, 'HEAD'))
  const place = isKnown ? await placeOf(common) : await mainTreeAround(dir)
  const isNear = (it: string) => place && (isWithin(place, it) || isWithin(it, place))
  if (place === undefined || !here.some(isNear)) return undefined
  const back = own && backOf(own)
  const what =
    own === undefined
      ? `a linked worktree whose git folder ${named} is not there`
      : back !== undefined && isThere(back)
        ? `a copy of the linked worktree in ${dirname(back)}`
        : `one of several folders that may be the linked worktree ${basename(named)}`
  const use = `the board to use is the one of ${place}`
  return `${dir} is ${what}, so its board is left out: ${use}.`
}

async function mainTreeAround(dir: string): Promise<string | undefined> {
  for (let at = dirname(dir); ; at = dirname(at)) {
    const own = join(at, '.git')
    if ((await realFolder(own)) === own) return at
    if (at === dirname(at)) return undefined
  }
}

/** Whether it is the top of a repository. */
export const isRepository = (folder: string): Promise<boolean> =>
  lstat(join(folder, '.git')).then(
    () => true,
    () => false,
  )
