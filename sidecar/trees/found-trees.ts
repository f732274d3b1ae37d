// The trees that have one board: which they are, and the files of it in each merge base.

import { join, relative, sep } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { type Log, messageOf } from '../../worker/shared/log.ts'
import type { FileStat } from '../files/file-stat.ts'
import { readIndex } from '../git/git-index.ts'
import { MainTreeNews } from '../git/main-tree.ts'
import { isBusy, type Repositories, type Repository, type TreeNow } from '../git/repository.ts'
import type { FileKind, Store } from '../layouts/layout.ts'
import { storesIn } from '../layouts/registry.ts'
import { isThere, isWithin, realFolder } from '../layouts/store-folder.ts'
import { type Merged, pathFrom, type Tree, type Wanted } from './merge-bases.ts'
import { Merges } from './merges.ts'
import type { TreeCopies } from './tree-copies.ts'

interface FoundTreesDeps {
  /** The leading tree's. */
  store: Store
  /** The folder of its project. */
  dir: string
  repositories: Pick<Repositories, 'of'>
  log: Log
}

interface FoundTree {
  now: TreeNow
  tree: Tree
}

/** The repository of the board, and what is called when it has moved. */
interface Followed {
  repository: Repository
  main: MainTreeNews
  merges: Merges
  /** Called when there are other trees. */
  onChange(): void
  /** Called when the leading one may have moved to another commit. */
  onMove(): void
}

/** A start, and a save after a commit, wait no longer for what was merged of lists. */
const LISTS_MS = 1_000

type Files = ReadonlyMap<string, string>

export class FoundTrees {
  readonly #deps: FoundTreesDeps
  /** Undefined: it is in none, or was not looked for yet. */
  #followed: Followed | undefined
  /** By their top folders. */
  #trees = new Map<string, FoundTree>()
  /** By commit, while it is in use. */
  readonly #bases = new Map<string, Files>()
  #looking: Promise<void> | undefined
  /** The repository was looked at since the last look here began. */
  #isBehind: boolean = false
  /** The leading tree had moved at the last look. */
  #hadMoved: boolean = false
  #learning: Promise<boolean> | undefined
  #end: () => void = () => undefined

  constructor(deps: FoundTreesDeps) {
    this.#deps = deps
  }

  /** Resolves when the first are known. `earlier`: as they were when an earlier run ended. */
  async start(
    onChange: () => void,
    onMove: () => void = () => undefined,
    earlier: readonly TreeNow[] = [],
  ): Promise<void> {
    const { repositories, store, dir } = this.#deps
    const repository = await repositories.of(dir)
    if (!repository) return
    const of = { folder: pathFrom(repository.top, store.root), isOfBoard: this.#isIn(repository) }
    const merges = new Merges({ repository, store, of })
    const main = new MainTreeNews(repository)
    const followed = { repository, main, merges, onChange, onMove }
    this.#followed = followed
    repository.remember(earlier)
    this.#remember(repository, earlier)
    if (this.#trees.size > 0) onChange()
    await new Promise<void>((resolve) => {
      this.#end = repository.follow(() => resolve(this.#lookAgain(followed)))
    })
  }

  close(): void {
    this.#end()
  }

  /** Where the leading tree is, if that is other than what the edge has. */
  mainSince: MainTreeNews['since'] = async (sent) => await this.#followed?.main.since(sent)

  /** After that, `all` has the trees by the commits that are checked out now. */
  async catchUp(): Promise<void> {
    await this.#followed?.repository.catchUp()
    await this.#looking
  }

  all(): readonly Tree[] {
    return [...this.#trees.values()].map(({ tree }) => tree)
  }

  /** Undefined: it is not there now, as one that has moved on. */
  nowOf({ dir }: Pick<Tree, 'dir'>): TreeNow | undefined {
    return this.#trees.get(dir)?.now
  }

  /** Its folder is gone, or was not looked for yet: what was known of it stands. */
  isAway(tree: Pick<Tree, 'dir'>): boolean {
    return this.nowOf(tree)?.awaySince !== undefined
  }

  /** git is writing a tree: what was known of it stands. */
  isBusy(tree: Pick<Tree, 'dir'>): boolean {
    const now = this.nowOf(tree)
    return now !== undefined && isBusy(now.gitFolder)
  }

  /** The texts of blobs of merge bases, and of lists that cannot be read. */
  async learn(copies: TreeCopies): Promise<void> {
    for (const wanted of copies.wanted()) {
      const bytes = await this.#bytesOf(wanted)
      copies.learn(wanted, bytes && new TextDecoder().decode(bytes))
    }
  }

  async #bytesOf({ tree, path, blob }: Wanted): Promise<Buffer | undefined> {
    const { repository } = this.#followed ?? {}
    if (blob !== undefined) return await repository?.blob(blob)
    const now = this.nowOf(tree)
    return now && (await repository?.committed(now, pathFrom(tree.dir, path)))
  }

  /** The blob of a file that git knows to be as a merge base has it. */
  oldOf({
    dir,
    bases = [],
    algorithm,
  }: Tree): (path: string, stat: FileStat) => string | undefined {
    const now = this.#trees.get(dir)?.now
    if (!now || bases.length === 0) return () => undefined
    const isOfBase = (name: string) => bases.some((base) => base.has(name))
    let blobOf: ReturnType<typeof readIndex> | undefined
    return (path, stat) => {
      blobOf ??= readIndex(now.gitFolder, algorithm, isOfBase)
      const name = pathFrom(dir, path)
      const blob = blobOf(name, stat)
      return bases.some((base) => base.get(name) === blob) ? blob : undefined
    }
  }

  /** Until the repository was looked at they are as they were, and git may be slow. */
  #remember({ top }: Repository, earlier: readonly TreeNow[]): void {
    for (const now of earlier.filter(({ gitFolder }) => isThere(gitFolder))) {
      const store = this.#storeAway(top, now)
      const tree = treeIn(now, copiesOf(store), undefined)
      this.#trees.set(now.dir, { now: { ...now, awaySince: 0 }, tree })
    }
  }

  /** After each look of the repository. Resolves when all is known that it has found. */
  #lookAgain(followed: Followed): Promise<void> {
    const { main, onMove } = followed
    // What a switch has written is published first, and says so: by the next look it is.
    if (main.hasMoved && this.#hadMoved) onMove()
    this.#hadMoved = main.hasMoved
    this.#isBehind = true
    this.#looking ??= this.#lookWhileBehind(followed)
      .catch((error) => this.#deps.log('error', 'trees.defect', { error: messageOf(error) }))
      .finally(() => {
        this.#looking = undefined
      })
    return this.#looking
  }

  async #lookWhileBehind(followed: Followed): Promise<void> {
    const { repository, merges, onChange } = followed
    while (this.#isBehind) {
      this.#isBehind = false
      const trees = repository.trees()
      await merges.follow(trees)
      this.#learning ??= merges.learn(trees).finally(() => {
        this.#learning = undefined
      })
      const late = sleep(LISTS_MS, 'late', { ref: false })
      if ((await Promise.race([this.#learning, late])) === 'late') {
        // Until then their marks stay.
        const again = () => this.#lookAgain(followed)
        void this.#learning?.then(again, again)
      }
      if (await this.#look(repository, merges)) onChange()
    }
  }

  async #look(repository: Repository, merges: Merges): Promise<boolean> {
    const before = this.#trees
    const trees: typeof before = new Map()
    let isOther = false
    const known = new Map([...before.values()].map((each) => [each.now.gitFolder, each]))
    for (const seen of repository.trees()) {
      const last = known.get(seen.gitFolder)
      const found = await this.#find(repository, seen, last)
      if (!found) continue
      const tree = withMerged(found.tree, merges.of(found.now))
      trees.set(found.now.dir, { now: found.now, tree })
      isOther ||= tree !== last?.tree
    }
    isOther ||= trees.size !== before.size
    this.#trees = trees
    const used = new Set([...trees.values()].flatMap(({ now }) => now.bases ?? []))
    for (const id of this.#bases.keys()) if (!used.has(id)) this.#bases.delete(id)
    return isOther
  }

  /** A tree as it is now, or as it was while nobody can say. Undefined: it has no such board. */
  async #find(
    repository: Repository,
    now: TreeNow,
    known: FoundTree | undefined,
  ): Promise<FoundTree | undefined> {
    const isAwayStill = now.awaySince !== undefined
    // One that was away may have other folders now.
    const isHere = known && known.now.awaySince === undefined && (await isInPlace(known.tree))
    const isWhole = known && (!now.bases || known.tree.bases)
    const isSame = isHere && isSameTree(known.now, now)
    if (isWhole && (isSame || isAwayStill)) return { now, tree: known.tree }
    const tree = await this.#open(repository, now)
    // It may have moved since its repository was looked at, which looks again soon.
    const isAway = !tree && (isBusy(now.gitFolder) || !isThere(now.dir))
    const isUnanswered = tree && now.bases && !tree.bases
    if (known && (isAway || isUnanswered)) return known
    return tree && { now, tree }
  }

  async #open(repository: Repository, now: TreeNow): Promise<Tree | undefined> {
    const { dir: leading, store } = this.#deps
    const away = this.#storeAway(repository.top, now)
    const dir = join(now.dir, relative(repository.top, leading))
    const found = now.awaySince === undefined ? await storeIn(dir, store.layout) : away
    if (found?.root !== away.root) return undefined
    return treeIn(now, copiesOf(found), await this.#filesOf(repository, now))
  }

  /** Where its folder is gone: its files have the names that the leading tree's have. */
  #storeAway(top: string, { dir }: TreeNow): Store {
    const { store } = this.#deps
    const root = join(dir, relative(top, store.root))
    const inLeading = (path: string) => store.root + path.slice(root.length)
    return {
      ...store,
      root,
      tasksIn: root + store.tasksIn.slice(store.root.length),
      folders: () => [],
      classify: (path) => (isWithin(path, root) ? store.classify(inLeading(path)) : undefined),
    }
  }

  async #filesOf(repository: Repository, { bases }: TreeNow): Promise<Files[] | undefined> {
    const { store } = this.#deps
    const of = {
      folders: placesOf(store).map((place) => pathFrom(repository.top, place)),
      isOfBoard: this.#isIn(repository),
    }
    const all: Files[] = []
    for (const id of bases ?? []) {
      const files = this.#bases.get(id) ?? (await repository.files(id, of))
      if (!files) return undefined
      this.#bases.set(id, files)
      all.push(files)
    }
    return bases && all
  }

  /** Whether a file is one of the board, by its path from the top. */
  #isIn =
    ({ top }: Repository) =>
    (path: string): boolean =>
      isCopied(this.#deps.store.classify(join(top, path)))
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

/** The same one where nothing else was merged: then nothing of it is compared again. */
const withMerged = (tree: Tree, merged: Merged | undefined): Tree =>
  isDeepStrictEqual(tree.merged, merged) ? tree : { ...tree, merged }

const isInPlace = async ({ store: { root } }: Tree): Promise<boolean> =>
  (await realFolder(root)) === root
