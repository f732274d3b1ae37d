// What the linked worktrees of one board have committed, and its main tree has had since. git is
// asked for what is new in a history, and for the texts of lists.

import { join } from 'node:path'
import { setImmediate as otherTurns } from 'node:timers/promises'
import type { LogOf } from '../git/git.ts'
import { History, isMerge, ListHistory, newestIn, type Version } from '../git/history.ts'
import type { Repository, TreeNow } from '../git/repository.ts'
import type { Store } from '../layouts/layout.ts'
import { type Merged, tasksIn } from './merge-bases.ts'

/** Of a file that holds a list: each of them is parsed. */
const VERSIONS = 200

interface MergesDeps {
  repository: Pick<Repository, 'top' | 'head' | 'log' | 'common' | 'blobs'>
  /** The leading tree's. */
  store: Store
  of: LogOf
}

/** The commits of a tree since its merge bases. */
interface Own {
  key: string
  newest: ReadonlyMap<string, Omit<Version, 'n'>>
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

  /** Compares lists. Whether any was compared anew. */
  async learn(trees: readonly TreeNow[]): Promise<boolean> {
    let isNew = false
    for (const { gitFolder, bases = [] } of trees) {
      const own = this.#own.get(gitFolder)
      for (const path of own?.newest.keys() ?? [])
        if (own && (await this.#compare(own, path, bases))) isNew = true
    }
    return isNew
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

  /** Whether there was anything to compare. */
  async #compare(own: Own, path: string, bases: readonly string[]): Promise<boolean> {
    const { store, repository } = this.#deps
    const file = join(repository.top, path)
    const version = own.newest.get(path)
    const history = this.#history
    const versions = history?.versionsOf(path).slice(-VERSIONS) ?? []
    const last = versions.at(-1)?.n ?? 0
    const since = history?.placeOf(bases) ?? 0
    if (!version?.blob || store.classify(file) !== 'tasks') return false
    const key = `${own.key} ${since} ${last}`
    const known = own.lists.get(path)
    if (known?.key === key) return false
    // Another text: what was merged of the one before says nothing of it.
    if (known && known.blob !== version.blob) own.lists.delete(path)
    if (last <= since) return false
    const list = this.#lists.get(path) ?? new ListHistory()
    this.#lists.set(path, list)
    const fresh = versions.filter(({ n }) => n > list.n)
    const ids = [version.blob, ...fresh.toReversed().flatMap(({ blob }) => blob ?? [])]
    const texts = await repository.blobs(ids)
    const read = (blob: string | undefined) => {
      const bytes = blob === undefined ? undefined : texts.get(blob)
      return bytes && tasksIn(store, file, new TextDecoder().decode(bytes))
    }
    for (const each of fresh) {
      const found = read(each.blob)
      if (found?.isWhole) list.take(each, found.tasks)
      await otherTurns()
    }
    list.n = last
    // Meanwhile the main tree may have got another history.
    if (history !== this.#history) return true
    const head = read(version.blob)
    const merged = head?.isWhole ? list.merged(head.tasks, version, since) : new Map()
    own.lists.set(path, { key, blob: version.blob, merged })
    return true
  }
}
