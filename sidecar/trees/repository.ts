// The linked worktrees of one repository, and what each has in common with its main tree. git is
// asked again only when a HEAD or a branch has moved.

import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../worker/shared/clock.ts'
import { readSmall } from '../layouts/open-here.ts'
import type { Log } from '../log.ts'
import { type Git, openGit } from './git.ts'
import { type LinkedTree, linkedTreesOf, mainTreeOf } from './worktrees.ts'

/** Between two looks, of which many trees make work: an idle board must stay idle. */
const LOOK_MS = { least: 1_000, most: 5_000, perMs: 100 }
const SMALL_BYTES = 64 << 10

/** A linked worktree as it is now. */
export interface TreeNow extends LinkedTree {
  name: string
  branch: string | undefined
  isSparse: boolean
  /** All merge bases; undefined: none is known. */
  bases: readonly string[] | undefined
  /** What its `HEAD` and the main tree's pointed to when it was asked for them. */
  heads: string
}

export interface Repository {
  readonly main: string
  readonly git: Pick<Git, 'files' | 'blob'>
  trees(): readonly TreeNow[]
  /** `onLook` is called after each look, once at least. Returns what ends that. */
  follow(onLook: () => void): () => void
}

interface RepositoriesDeps {
  /** Where the program git is looked for, as in `PATH`. */
  path: string
  clock: Clock
  log: Log
}

/** The repositories of the boards of a process: those of one repository share its looks. */
export class Repositories {
  readonly #deps: RepositoriesDeps
  readonly #known = new Map<string, Repository>()

  constructor(deps: RepositoriesDeps) {
    this.#deps = deps
  }

  /** That of whose main tree a folder is a part. Undefined: of none. */
  async of(folder: string): Promise<Repository | undefined> {
    const main = await mainTreeOf(folder)
    if (main === undefined) return undefined
    const known = this.#known.get(main)
    if (known) return known
    const made = new OneRepository(main, this.#deps)
    this.#known.set(main, made)
    return made
  }
}

class OneRepository implements Repository {
  readonly main: string
  readonly git: Git
  readonly #clock: Clock
  readonly #log: Log
  readonly #followers = new Set<() => void>()
  #trees: readonly TreeNow[] = []
  #isLooking: boolean = false
  #cancel: () => void = () => undefined

  constructor(main: string, { clock, log, path }: RepositoriesDeps) {
    this.main = main
    this.git = openGit(join(main, '.git'), path)
    this.#clock = clock
    this.#log = log
  }

  trees = (): readonly TreeNow[] => this.#trees

  follow(onLook: () => void): () => void {
    this.#followers.add(onLook)
    void this.#look()
    return () => {
      this.#followers.delete(onLook)
      if (this.#followers.size === 0) this.#cancel()
    }
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    this.#cancel()
    const startedAt = performance.now()
    try {
      const trees: TreeNow[] = []
      for (const tree of await linkedTreesOf(this.main)) trees.push(await this.#now(tree))
      this.#trees = trees
    } catch (error) {
      this.#log('error', 'trees.defect', { error })
    }
    this.#isLooking = false
    for (const onLook of this.#followers) onLook()
    if (this.#followers.size > 0) {
      const pauseMs = LOOK_MS.perMs * (performance.now() - startedAt)
      const dueMs = Math.min(Math.max(pauseMs, LOOK_MS.least), LOOK_MS.most)
      this.#cancel = this.#clock.after(dueMs, () => void this.#look())
    }
  }

  async #now(tree: LinkedTree): Promise<TreeNow> {
    const { gitFolder, dir } = tree
    const name = gitFolder.slice(join(this.main, '.git/worktrees').length + 1)
    const branch = branchIn(gitFolder)
    const heads = headsOf(join(this.main, '.git'), gitFolder)
    const known = this.#trees.find((other) => other.dir === dir)
    const now = { ...tree, name, branch, heads, isSparse: isSparse(gitFolder) }
    // Whatever git is doing now moves them once more.
    const isAsked = known?.heads === heads || (known && isBusy(gitFolder))
    if (isAsked) return { ...now, bases: known.bases, heads: known.heads }
    const bases = (await this.git.mergeBases(name)) ?? known?.bases
    if (!bases) {
      const what = 'its tasks count as changed once they were seen to change'
      this.#log('warn', 'tree.no_merge_base', { tree: name, dir, what })
    } else if (!known) this.#log('info', 'tree.found', { tree: name, dir, branch })
    return { ...now, bases }
  }
}

const REF = /^ref: refs\/heads\/(.+?)\s*$/

const branchIn = (folder: string): string | undefined =>
  REF.exec(readSmall(join(folder, 'HEAD'), SMALL_BYTES) ?? '')?.[1]

/** Another text for each move of a `HEAD` or a branch. */
function headsOf(common: string, own: string): string {
  const signs = [common, own].flatMap((folder) => {
    const head = readSmall(join(folder, 'HEAD'), SMALL_BYTES) ?? ''
    const [, branch] = REF.exec(head) ?? []
    return [head.trim(), branch === undefined ? '' : signOf(join(common, 'refs/heads', branch))]
  })
  const all = ['packed-refs', 'reftable/tables.list', 'shallow', 'info/grafts']
  return [...signs, ...all.map((name) => signOf(join(common, name)))].join('\n')
}

function signOf(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false, bigint: true })
  return found ? `${found.ino} ${found.size} ${found.mtimeNs}` : ''
}

const SPARSE = /^\s*sparseCheckout\s*=\s*true/im

const isSparse = (gitFolder: string): boolean =>
  [join(gitFolder, 'config.worktree'), join(gitFolder, '../../config')].some((path) =>
    SPARSE.test(readSmall(path, SMALL_BYTES) ?? ''),
  )

/** One that crashed leaves its lock behind. */
const BUSY_MS = 60_000

/** git is writing this tree, so half of it may be of another commit. */
export function isBusy(gitFolder: string): boolean {
  const lock = lstatSync(join(gitFolder, 'index.lock'), { throwIfNoEntry: false })
  if (lock && Date.now() - lock.mtimeMs < BUSY_MS) return true
  return readSmall(join(gitFolder, 'locked'), SMALL_BYTES)?.startsWith('initializing') ?? false
}
