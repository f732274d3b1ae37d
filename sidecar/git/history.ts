// What the commits of a tree made of a board's files, and which of that the main tree has had, too:
// by a squash, a rebase or a cherry-pick no merge base says so. No I/O.

/** A text that a commit gave a file. */
export interface Version {
  /** Undefined: it removed the file. */
  blob: string | undefined
  /** Committer's time, in s. */
  at: number
  /** Of two commits the later one has the larger number. */
  n: number
}

export interface Commit {
  id: string
  parent: string | undefined
  at: number
  files: readonly (readonly [path: string, blob: string | undefined])[]
}

const HEADER = /^([0-9a-f]{40,64}) (\d+) ([0-9a-f]*)/
const CHANGE = /^\n?:\d+ (\d+) [0-9a-f]+ ([0-9a-f]+) [A-Z]/

/**
 * Reads `git log --raw -z --no-abbrev --format='%H %ct %P'`, the newest commit first. `take` gets
 * what each zero byte ends, in turn.
 */
export function logReader(isOfBoard: (path: string) => boolean) {
  const commits: (Commit & { files: [string, string | undefined][] })[] = []
  /** Of the change whose path comes next. A link, or a submodule, is no file. */
  let change: { blob: string | undefined } | undefined
  function take(part: string): void {
    if (change) {
      if (isOfBoard(part)) commits.at(-1)?.files.push([part, change.blob])
      change = undefined
      return
    }
    const [, mode = '', blob] = CHANGE.exec(part) ?? []
    if (blob !== undefined) {
      change = { blob: mode.startsWith('100') ? blob : undefined }
      return
    }
    const [, id, time, parent] = HEADER.exec(part) ?? []
    if (id) commits.push({ id, parent: parent || undefined, at: Number(time), files: [] })
  }
  return { take, commits: (): Commit[] => commits }
}

/** The commits of the main tree, by first parents, from one of them on. */
export class History {
  /** The commit before the first. */
  readonly from: string
  #head: string
  /** The places of commits. */
  readonly #places = new Map<string, number>()
  readonly #versions = new Map<string, Version[]>()

  constructor(from: string, commits: readonly Commit[]) {
    this.from = from
    this.#head = from
    this.add(commits)
  }

  get head(): string {
    return this.#head
  }

  /** Whether these come right after the last one. */
  goesOnWith = (commits: readonly Commit[]): boolean => commits.at(-1)?.parent === this.#head

  /** The newest first. */
  add(commits: readonly Commit[]): void {
    for (const { id, at, files } of commits.toReversed()) {
      const n = this.#places.size + 1
      this.#places.set(id, n)
      this.#head = id
      for (const [path, blob] of files) {
        const known = this.#versions.get(path)
        if (known) known.push({ blob, at, n })
        else this.#versions.set(path, [{ blob, at, n }])
      }
    }
  }

  has = (commit: string): boolean => commit === this.from || this.#places.has(commit)

  /** The place of the latest of these; what came by a merge has none, and its time decides. */
  placeOf = (commits: readonly string[]): number =>
    Math.max(...commits.map((id) => this.#places.get(id) ?? 0))

  /** The oldest first. */
  versionsOf = (path: string): readonly Version[] => this.#versions.get(path) ?? NONE
}

const NONE: readonly never[] = []

/** By path, the newest that the commits of a tree made of its files. */
export function newestIn(commits: readonly Commit[]): Map<string, Omit<Version, 'n'>> {
  const newest = new Map<string, Omit<Version, 'n'>>()
  for (const { at, files } of commits) {
    for (const [path, blob] of files) if (!newest.has(path)) newest.set(path, { blob, at })
  }
  return newest
}

/** A commit of the main tree after the merge base, not older than the tree's on that file. */
export const isMerge = (
  { at, n }: Pick<Version, 'at' | 'n'>,
  own: Pick<Version, 'at'>,
  since: number,
): boolean => n > since && at >= own.at

/** Name and hash of each task of a file. */
export type Tasks = ReadonlyMap<string, string>

/** What the main tree has had of the tasks of one file that holds a list. */
export class ListHistory {
  /** How far it goes. */
  n = 0
  /** By name and hash of a task. */
  readonly #had = new Map<string, Map<string, Version>>()
  /** By name: when it was not in the list. */
  readonly #lacked = new Map<string, Version>()
  #before: Version | undefined

  /** In the order of time. */
  take(version: Version, tasks: Tasks): void {
    for (const name of this.#had.keys()) if (!tasks.has(name)) this.#lacked.set(name, version)
    for (const [name, hash] of tasks) {
      const texts = this.#had.get(name)
      if (texts) {
        texts.set(hash, version)
        continue
      }
      this.#had.set(name, new Map([[hash, version]]))
      if (this.#before) this.#lacked.set(name, this.#before)
    }
    this.#before = version
  }

  /** Of a tree's list as it is committed: the tasks whose text, or lack, the main tree has had. */
  merged(head: Tasks, own: Pick<Version, 'at'>, since: number): Map<string, string | undefined> {
    const found = new Map<string, string | undefined>()
    for (const [name, texts] of this.#had) {
      const hash = head.get(name)
      const version = hash === undefined ? this.#lacked.get(name) : texts.get(hash)
      if (version && isMerge(version, own, since)) found.set(name, hash)
    }
    return found
  }
}
