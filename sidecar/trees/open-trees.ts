// Opens the board that a linked worktree has where the leading tree has its own: its store, and its
// files in each merge base of the two.

import { join, relative, sep } from 'node:path'
import { isBusy } from '../git/heads.ts'
import type { Repository, TreeNow } from '../git/repository.ts'
import type { FileKind, Store } from '../layouts/layout.ts'
import { storesIn } from '../layouts/registry.ts'
import { isThere, isWithin, realFolder } from '../layouts/store-folder.ts'
import { pathFrom, type Tree } from './tree.ts'

/** A tree with the board, and how its repository saw it. */
export interface OpenTree {
  now: TreeNow
  tree: Tree
}

type Files = ReadonlyMap<string, string>

export class OpenTrees {
  readonly #repository: Pick<Repository, 'top' | 'files'>
  /** The leading tree's. */
  readonly #store: Store
  /** The folder of its project. */
  readonly #dir: string
  /** By commit, while it is in use. */
  readonly #bases = new Map<string, Files>()

  constructor(repository: Pick<Repository, 'top' | 'files'>, store: Store, dir: string) {
    this.#repository = repository
    this.#store = store
    this.#dir = dir
  }

  /** As it is now, or as it was before while nobody can say. Undefined: it has no such board. */
  async open(now: TreeNow, before: OpenTree | undefined): Promise<OpenTree | undefined> {
    // One that was away may have other folders now.
    const isHere = before && before.now.awaySince === undefined && (await isInPlace(before.tree))
    const isWhole = before && (!now.bases || before.tree.bases)
    const isSame = isHere && isSameTree(before.now, now)
    if (isWhole && (isSame || now.awaySince !== undefined)) return { now, tree: before.tree }
    const tree = await this.#open(now)
    // It may have moved since its repository was looked at, which looks again soon.
    const isAway = !tree && (isBusy(now.gitFolder) || !isThere(now.dir))
    const isUnanswered = tree && now.bases && !tree.bases
    if (before && (isAway || isUnanswered)) return before
    return tree && { now, tree }
  }

  /** One that was not looked for yet: as an earlier run knew it. */
  away(now: TreeNow): OpenTree {
    const tree = treeIn(now, copiesOf(this.#storeAway(now)), undefined)
    return { now: { ...now, awaySince: 0 }, tree }
  }

  /** Forgets what only others needed. */
  keep(trees: Iterable<OpenTree>): void {
    const used = new Set([...trees].flatMap(({ now }) => now.bases ?? []))
    for (const id of this.#bases.keys()) if (!used.has(id)) this.#bases.delete(id)
  }

  /** Whether a file is one of the board that trees have, too, by its path from the top. */
  isOfBoard = (path: string): boolean =>
    isCopied(this.#store.classify(join(this.#repository.top, path)))

  async #open(now: TreeNow): Promise<Tree | undefined> {
    const away = this.#storeAway(now)
    const dir = join(now.dir, relative(this.#repository.top, this.#dir))
    const found = now.awaySince === undefined ? await storeIn(dir, this.#store.layout) : away
    if (found?.root !== away.root) return undefined
    return treeIn(now, copiesOf(found), await this.#filesOf(now))
  }

  /** Where its folder is gone: its files have the names that the leading tree's have. */
  #storeAway({ dir }: TreeNow): Store {
    const store = this.#store
    const root = join(dir, relative(this.#repository.top, store.root))
    const inLeading = (path: string) => store.root + path.slice(root.length)
    return {
      ...store,
      root,
      tasksIn: root + store.tasksIn.slice(store.root.length),
      folders: () => [],
      classify: (path) => (isWithin(path, root) ? store.classify(inLeading(path)) : undefined),
    }
  }

  async #filesOf({ bases }: TreeNow): Promise<Files[] | undefined> {
    const repository = this.#repository
    const folders = placesOf(this.#store).map((place) => pathFrom(repository.top, place))
    const of = { folders, isOfBoard: this.isOfBoard }
    const all: Files[] = []
    for (const id of bases ?? []) {
      const files = this.#bases.get(id) ?? (await repository.files(id, of))
      if (!files) return undefined
      this.#bases.set(id, files)
      all.push(files)
    }
    return bases && all
  }
}

/**
 * Where all of its files are, also of folders that the main tree has no longer: what is right below
 * its root. Nothing of it is outside but a configuration, which is the main tree's.
 */
function placesOf({ root, folders }: Store): string[] {
  const within = folders().filter((folder) => isWithin(folder, root))
  const places = within.map((folder) => join(root, relative(root, folder).split(sep)[0] ?? ''))
  return [...new Set(places)]
}

async function storeIn(dir: string, layout: Store['layout']): Promise<Store | undefined> {
  for await (const { store, refused } of storesIn(dir, { only: [layout] }))
    return refused ? undefined : store
  return undefined
}

function treeIn(now: TreeNow, store: Store, bases: Tree['bases']): Tree {
  const { name, branch, dir, isSparse } = now
  const algorithm = now.bases?.[0]?.length === 64 ? 'sha256' : 'sha1'
  return { name, branch, dir, store, bases, algorithm, isSparse }
}

/** The configuration is the main tree's. */
const isCopied = (kind: FileKind | undefined): boolean =>
  kind !== undefined && kind !== 'board' && kind !== 'setting'

const copiesOf = (store: Store): Store => ({
  ...store,
  classify(path) {
    const kind = store.classify(path)
    return isCopied(kind) ? kind : undefined
  },
})

const isSameTree = (one: TreeNow, other: TreeNow): boolean =>
  one.dir === other.dir &&
  one.gitFolder === other.gitFolder &&
  one.branch === other.branch &&
  one.isSparse === other.isSparse &&
  String(one.bases) === String(other.bases)

const isInPlace = async ({ store: { root } }: Tree): Promise<boolean> =>
  (await realFolder(root)) === root
