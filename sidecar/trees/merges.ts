// What the linked worktrees of one board have committed, and its main tree has had since. git is
// asked for what is new in a history, and for the texts of lists.

import { join } from 'node:path'
import { setImmediate as otherTurns } from 'node:timers/promises'
import type { LogOf } from '../git/git.ts'
import {
  History,
  isMerge,
  ListHistory,
  newestIn,
  type Tasks,
  type Version,
} from '../git/history.ts'
import type { Repository, TreeNow } from '../git/repository.ts'
import type { Store } from '../layouts/layout.ts'
import { tasksIn } from './base-tasks.ts'
import type { Merged } from './tree.ts'

/** Of a file that holds a list: each of them is parsed. */
const VERSIONS = 200

interface MergesDeps {
  repository: Pick<Repository, 'top' | 'head' | 'log' | 'common' | 'blobs'>
  /** The leading tree's. */
  store: Store
  of: LogOf
}

type OwnVersion = Omit<Version, 'n'>

/** The commits of a tree since its merge bases. */
interface Own {
  key: string
  newest: ReadonlyMap<string, OwnVersion>
  /** By path, of the lists that were compared. */
  lists: Map<string, { key: string; blob: string; merged: ReadonlyMap<string, string | undefined> }>
}

export class Merges {
  readonly #deps: MergesDeps
  #history: History | undefined
  /** Of which merge bases, and of which `HEAD`, it is. */
  #key = { bases: '', head: '' }
  /** By the trees' own git folders, which stay where a tree is moved. */
  readonly #own = new Map<string, Own>()
  /** By path. */
  readonly #lists = new Map<string, ListHistory>()

  constructor(deps: MergesDeps) {
    this.#deps = deps
  }

  /** Asks for what is new. What git does not answer is as if nothing had been merged. */
  async follow(trees: readonly TreeNow[]): Promise<void> {
    const known = new Set(trees.map(({ gitFolder }) => gitFolder))
    for (const each of this.#own.keys()) if (!known.has(each)) this.#own.delete(each)
    const bases = new Set<string>()
    for (const tree of trees) {
      await this.#followOwn(tree)
      // Without commits of its own nothing of it can have been merged.
      if (this.#own.get(tree.gitFolder)?.newest.size)
        for (const id of tree.bases ?? []) bases.add(id)
    }
    if (bases.size > 0) await this.#followMain([...bases].sort())
  }

  /** Compares files that hold a list, task by task. */
  async compareLists(trees: readonly TreeNow[]): Promise<void> {
    for (const { gitFolder, bases = [] } of trees) {
      const own = this.#own.get(gitFolder)
      for (const [path, version] of own?.newest ?? [])
        if (own) await this.#compareList(own, path, version, bases)
    }
  }

  /** As far as it is known. */
  of({ gitFolder, bases = [] }: TreeNow): Merged | undefined {
    const own = this.#own.get(gitFolder)
    const history = this.#history
    if (!own || !history) return undefined
    const since = history.placeOf(bases)
    const files = new Map<string, string | undefined>()
    const lists: Map<string, ReadonlyMap<string, string | undefined>> = new Map()
    for (const [path, version] of own.newest) {
      const isSame = (other: Version) =>
        other.blob === version.blob && isMerge(other, version, since)
      if (history.versionsOf(path).some(isSame)) files.set(path, version.blob)
      const list = own.lists.get(path)
      if (list && list.merged.size > 0) lists.set(path, list.merged)
    }
    return files.size + lists.size === 0 ? undefined : { files, lists }
  }

  async #followOwn(tree: TreeNow): Promise<void> {
    const { gitFolder, head, bases } = tree
    const key = `${head} ${bases}`
    const known = this.#own.get(gitFolder)
    if (!bases || known?.key === key) return
    const commits = await this.#deps.repository.log(tree, bases, this.#deps.of)
    if (!commits) this.#own.delete(gitFolder)
    else
      this.#own.set(gitFolder, { key, newest: newestIn(commits), lists: known?.lists ?? new Map() })
  }

  async #followMain(bases: readonly string[]): Promise<void> {
    const { repository, of } = this.#deps
    const key = { bases: bases.join(' '), head: repository.head() }
    const known = this.#history
    const isWhole = key.bases === this.#key.bases || bases.every((id) => known?.has(id))
    if (known && isWhole && key.head === this.#key.head) return
    const more = known && isWhole ? await repository.log(undefined, [known.head], of) : undefined
    if (more && known?.goesOnWith(more)) {
      known.add(more)
      this.#key = key
      return
    }
    const [only = ''] = bases
    const from = bases.length > 1 ? await repository.common(bases) : only
    const commits = from && (await repository.log(undefined, [from], of))
    this.#history = from && commits ? new History(from, commits) : undefined
    this.#key = this.#history ? key : { bases: '', head: '' }
    this.#lists.clear()
    for (const { lists } of this.#own.values()) lists.clear()
  }

  async #compareList(
    own: Own,
    path: string,
    version: OwnVersion,
    bases: readonly string[],
  ): Promise<void> {
    const file = join(this.#deps.repository.top, path)
    const { blob } = version
    if (!blob || this.#deps.store.classify(file) !== 'tasks') return
    const history = this.#history
    const versions = history?.versionsOf(path).slice(-VERSIONS) ?? []
    const last = versions.at(-1)?.n ?? 0
    const since = history?.placeOf(bases) ?? 0
    const key = `${own.key} ${since} ${last}`
    const known = own.lists.get(path)
    if (known?.key === key) return
    // Another text: what was merged of the one before says nothing of it.
    if (known && known.blob !== blob) own.lists.delete(path)
    if (last <= since) return
    const list = this.#lists.get(path) ?? new ListHistory()
    this.#lists.set(path, list)
    const tasks = await this.#readVersions(list, file, versions, blob)
    // Meanwhile the main tree may have got another history.
    if (history !== this.#history) return
    const merged = tasks ? list.merged(tasks, version, since) : new Map()
    own.lists.set(path, { key, blob, merged })
  }

  /** Reads the versions that a list lacks, and the tree's own: answers the tasks of that. */
  async #readVersions(
    list: ListHistory,
    file: string,
    versions: readonly Version[],
    own: string,
  ): Promise<Tasks | undefined> {
    const { store, repository } = this.#deps
    const fresh = versions.filter(({ n }) => n > list.n)
    const ids = [own, ...fresh.toReversed().flatMap(({ blob }) => blob ?? [])]
    const texts = await repository.blobs(ids)
    const tasksOf = (blob: string | undefined): Tasks | undefined => {
      const bytes = blob === undefined ? undefined : texts.get(blob)
      const read = bytes && tasksIn(store, file, new TextDecoder().decode(bytes))
      return read?.isWhole ? read.tasks : undefined
    }
    for (const each of fresh) {
      const tasks = tasksOf(each.blob)
      if (tasks) list.take(each, tasks)
      await otherTurns()
    }
    list.n = versions.at(-1)?.n ?? 0
    return tasksOf(own)
  }
}
