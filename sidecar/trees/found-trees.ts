// The trees that have one board: which they are now, and whether they can be read.

import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { type Log, messageOf } from '../../worker/shared/log.ts'
import type { FileStat } from '../files/file-stat.ts'
import { readIndex } from '../git/git-index.ts'
import { isBusy } from '../git/heads.ts'
import { MainTreeNews } from '../git/main-tree.ts'
import type { Repositories, Repository, TreeNow } from '../git/repository.ts'
import type { Store } from '../layouts/layout.ts'
import { isThere } from '../layouts/store-folder.ts'
import type { Wanted } from './base-tasks.ts'
import { Merges } from './merges.ts'
import { type OpenTree, OpenTrees } from './open-trees.ts'
import { type Merged, pathFrom, type Tree } from './tree.ts'
import type { TreeCopies } from './tree-copies.ts'

interface FoundTreesDeps {
  /** The leading tree's. */
  store: Store
  /** The folder of its project. */
  dir: string
  repositories: Pick<Repositories, 'of'>
  log: Log
}

/** The repository of the board, and what is called when it has moved. */
interface Followed {
  repository: Repository
  main: MainTreeNews
  merges: Merges
  opener: OpenTrees
  /** Called when there are other trees. */
  onChange(): void
  /** Called when the leading one may have moved to another commit. */
  onMove(): void
}

/** A start, and a save after a commit, wait no longer for what was merged of lists. */
const LISTS_MS = 1_000

export class FoundTrees {
  readonly #deps: FoundTreesDeps
  /** Undefined: it is in none, or was not looked for yet. */
  #followed: Followed | undefined
  /** By their top folders. */
  #trees = new Map<string, OpenTree>()
  #looking: Promise<void> | undefined
  /** The repository was looked at since the last look here began. */
  #isBehind: boolean = false
  /** The leading tree had moved at the last look. */
  #hadMoved: boolean = false
  #comparing: Promise<void> | undefined
  #end: () => void = () => undefined

  constructor(deps: FoundTreesDeps) {
    this.#deps = deps
  }

  /** Resolves when the first are known. `kept`: as they were when an earlier run ended. */
  async start(
    onChange: () => void,
    onMove: () => void = () => undefined,
    kept: readonly TreeNow[] = [],
  ): Promise<void> {
    const { repositories, store, dir } = this.#deps
    const repository = await repositories.of(dir)
    if (!repository) return
    const opener = new OpenTrees(repository, store, dir)
    const { isOfBoard } = opener
    const of = { folder: pathFrom(repository.top, store.root), isOfBoard }
    const merges = new Merges({ repository, store, of })
    const main = new MainTreeNews(repository)
    const followed = { repository, main, merges, opener, onChange, onMove }
    this.#followed = followed
    repository.remember(kept)
    // Until the repository was looked at they are as they were, and git may be slow.
    const known = kept.filter(({ gitFolder }) => isThere(gitFolder))
    this.#trees = new Map(known.map((now) => [now.dir, opener.away(now)]))
    if (known.length > 0) onChange()
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

  /** Reads the texts that trees are compared with: of merge bases, and of lists that are broken. */
  async readWanted(copies: TreeCopies): Promise<void> {
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
  unchangedIn(tree: Tree): (path: string, stat: FileStat) => string | undefined {
    const { dir, bases = [], algorithm } = tree
    const now = this.nowOf(tree)
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
    while (this.#isBehind) {
      this.#isBehind = false
      const trees = followed.repository.trees()
      await followed.merges.follow(trees)
      await this.#compareLists(followed, trees)
      if (await this.#look(followed)) followed.onChange()
    }
  }

  /** Of lists that take longer than a second the marks stay until then. */
  async #compareLists(followed: Followed, trees: readonly TreeNow[]): Promise<void> {
    this.#comparing ??= followed.merges.compareLists(trees).finally(() => {
      this.#comparing = undefined
    })
    const late = sleep(LISTS_MS, 'late', { ref: false })
    if ((await Promise.race([this.#comparing, late])) !== 'late') return
    const again = () => this.#lookAgain(followed)
    void this.#comparing?.then(again, again)
  }

  /** Whether there are other trees, or others of their commits. */
  async #look({ repository, merges, opener }: Followed): Promise<boolean> {
    const before = [...this.#trees.values()]
    const known = new Map(before.map((each) => [each.now.gitFolder, each]))
    const trees = new Map<string, OpenTree>()
    let isOther = false
    for (const seen of repository.trees()) {
      const last = known.get(seen.gitFolder)
      const open = await opener.open(seen, last)
      if (!open) continue
      const { now } = open
      const tree = withMerged(open.tree, merges.of(now))
      trees.set(now.dir, { now, tree })
      isOther ||= tree !== last?.tree
    }
    this.#trees = trees
    opener.keep(trees.values())
    return isOther || trees.size !== before.length
  }
}

/** The same one where nothing else was merged: then nothing of it is compared again. */
const withMerged = (tree: Tree, merged: Merged | undefined): Tree =>
  isDeepStrictEqual(tree.merged, merged) ? tree : { ...tree, merged }
