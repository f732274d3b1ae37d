// The linked worktrees of one repository, and what each has in common with the tree that leads: the
// main one, if it has the board. git is asked again only when a HEAD or a branch has moved.

import { basename, join } from 'node:path'
import type { Clock } from '../../worker/shared/clock.ts'
import { type Log, messageOf } from '../../worker/shared/log.ts'
import { readEnd } from '../layouts/open-here.ts'
import { isThere } from '../layouts/store-folder.ts'
import { type Git, type LogOf, openGit } from './git.ts'
import { branchIn, headOf, isBusy, isSparse, leadingHead, ownHead, signOf } from './heads.ts'
import { type GitTree, linkedTreesOf, treeOf } from './worktrees.ts'

/** Between two looks, of which many trees make work: an idle board must stay idle. */
const LOOK_MS = { least: 1_000, most: 5_000, perMs: 100 }
const MOVES_BYTES = 64 << 10
/** A tree whose folder is gone keeps its marks for so long: it may be on its way. */
const AWAY_MS = 600_000
/** What git did not answer may take its whole time again. */
const AGAIN_MS = 60_000
/** A commit holds the lock for as long as its message is written. */
const IDLE_WITHIN_MS = 300
const IDLE_LOOK_MS = 20
const MOVE = /^[0-9a-f]{40,64} [0-9a-f]{40,64} /

/** A linked worktree as it is now. */
export interface TreeNow extends GitTree {
  name: string
  branch: string | undefined
  isSparse: boolean
  /** All merge bases; undefined: none is known. */
  bases: readonly string[] | undefined
  /** Another text for each move of its `HEAD`, as of the last answer. */
  head: string
  /** What its `HEAD` and the leading tree's pointed to when it was asked for them. */
  heads: string
  /** Its folder is gone, and git knows it still: since then, by `clock.elapsed()`. */
  awaySince?: number
}

export type Repository = Pick<OneRepository, keyof OneRepository>

interface RepositoriesDeps {
  /** Where the program git is looked for, as in `PATH`. */
  path: string
  clock: Clock
  log: Log
  /** Called when the folder of a linked worktree is gone. */
  onAway?: () => void
}

/** The repositories of the boards of a process: those of one repository share its looks. */
export class Repositories {
  readonly #deps: RepositoriesDeps
  readonly #known = new Map<string, Repository>()
  #moved: readonly string[] = []

  constructor(deps: RepositoriesDeps) {
    this.#deps = deps
  }

  /** Folders that were found, and may be linked worktrees that were moved. */
  seen(moved: readonly string[]): void {
    this.#moved = moved
  }

  /** That of a folder, whose tree leads. Undefined: it is in none. */
  async of(folder: string): Promise<Repository | undefined> {
    const tree = await treeOf(folder)
    if (!tree) return undefined
    const known = this.#known.get(tree.dir)
    if (known) return known
    const made = new OneRepository(tree, this.#deps, () => this.#moved)
    this.#known.set(tree.dir, made)
    return made
  }
}

class OneRepository {
  /** The leading tree's. */
  readonly top: string
  readonly blob: Git['blob']
  readonly blobs: Git['blobs']
  readonly #git: Git
  /** What git did not answer, and when, by `clock.elapsed()`. */
  readonly #failed = new Map<string, number>()
  readonly #leading: GitTree
  readonly #moves: string
  readonly #deps: RepositoriesDeps
  readonly #moved: () => readonly string[]
  readonly #followers = new Set<() => void>()
  #trees: readonly TreeNow[] = []
  #looking: Promise<void> | undefined
  #cancel: () => void = () => undefined

  constructor(leading: GitTree, deps: RepositoriesDeps, moved: () => readonly string[]) {
    this.#deps = deps
    this.#moved = moved
    this.top = leading.dir
    this.#leading = leading
    this.#moves = join(leading.gitFolder, 'logs/HEAD')
    this.#git = openGit(leading.common, deps.path)
    this.blob = this.#git.blob
    this.blobs = this.#git.blobs
  }

  trees = (): readonly TreeNow[] => this.#trees

  files: Git['files'] = (commit, of) => this.#ask(commit, () => this.#git.files(commit, of))

  common: Git['common'] = (commits) =>
    this.#ask(`common ${commits}`, () => this.#git.common(commits))

  /** What the commits of the leading tree, or of another one, changed. */
  log(tree: TreeNow | undefined, before: readonly string[], of: LogOf): ReturnType<Git['log']> {
    const head = tree?.head ?? this.head()
    const ask = () => this.#git.log(headOf(tree ?? this.#leading), before, of)
    return this.#ask(`log ${head} ${before} ${of.folder}`, ask)
  }

  /** A file as the `HEAD` of a tree has it. */
  committed = (tree: TreeNow, path: string) => this.#git.file(headOf(tree), path)

  /** Another text for each move of the leading tree's `HEAD`. */
  head = (): string => leadingHead(this.#leading)

  /** git's log of the moves of the leading tree's `HEAD`, newest last; empty if none is kept. */
  moves = (): string[] =>
    (readEnd(this.#moves, MOVES_BYTES) ?? '')
      .split('\n')
      .filter((line) => MOVE.test(line))
      // By a gc, which writes the log anew, a line without a message gets a tab.
      .map((line) => line.trimEnd())

  /** Another text for each of them, and for some writing of that log without one. */
  movesSign = (): string => signOf(this.#moves)

  /** Resolves once git does not write the leading tree, or after 300 ms. */
  async whenIdle(): Promise<void> {
    const until = this.#deps.clock.elapsed() + IDLE_WITHIN_MS
    while (isBusy(this.#leading.gitFolder) && this.#deps.clock.elapsed() < until) {
      await new Promise<void>((resolve) => this.#deps.clock.after(IDLE_LOOK_MS, resolve))
    }
  }

  /** What the leading tree is at. */
  checkedOut = () => this.#git.checkedOut(headOf(this.#leading))

  /** The commit of a branch. Undefined: it is gone, or git did not answer. */
  tipOf = async (branch: string): Promise<string | undefined> =>
    (await this.#git.checkedOut(`refs/heads/${branch}`))?.head

  /** Whether the leading tree has this commit, or one after it. */
  goesOn = (commit: string) => this.#git.goesOn(commit, headOf(this.#leading))

  /** Undefined: there was no answer, now or shortly before. */
  async #ask<T>(what: string, call: () => Promise<T | undefined>): Promise<T | undefined> {
    const now = this.#deps.clock.elapsed()
    for (const [key, at] of this.#failed) if (now - at >= AGAIN_MS) this.#failed.delete(key)
    if (this.#failed.has(what)) return undefined
    const answer = await call()
    if (answer === undefined) this.#failed.set(what, this.#deps.clock.elapsed())
    return answer
  }

  /** `onLook` is called after each look, once at least. Returns what ends that. */
  follow(onLook: () => void): () => void {
    this.#followers.add(onLook)
    void this.#look()
    return () => {
      this.#followers.delete(onLook)
      if (this.#followers.size === 0) this.#cancel()
    }
  }

  /** These were known to an earlier run. Before `follow`. */
  remember(trees: readonly TreeNow[]): void {
    const known = new Set(this.#trees.map(({ gitFolder }) => gitFolder))
    const others = trees.filter(({ gitFolder }) => !known.has(gitFolder))
    // When they went, nobody knows.
    this.#trees = [...this.#trees, ...others.map(({ awaySince: _, ...tree }) => tree)]
  }

  /** Looks now if a HEAD or a branch has moved since the last look. */
  async catchUp(): Promise<void> {
    const isMoved = () => {
      const leading = leadingHead(this.#leading)
      const isOther = (tree: TreeNow) => tree.heads !== `${leading}\n${ownHead(tree)}`
      return this.#trees.some((tree) => tree.heads !== '' && isOther(tree))
    }
    // One that is under way may have begun before.
    if (isMoved()) await this.#look()
    if (isMoved()) await this.#look()
  }

  #look(): Promise<void> {
    this.#looking ??= this.#lookOnce()
    return this.#looking
  }

  async #lookOnce(): Promise<void> {
    this.#cancel()
    const startedAt = performance.now()
    try {
      const trees: TreeNow[] = []
      for (const tree of await linkedTreesOf(this.#leading.common, this.#moved())) {
        if (tree.dir !== this.top) trees.push(await this.#now(tree))
      }
      trees.push(...this.#away(trees))
      const dirs = new Set(trees.map(({ dir }) => dir))
      for (const { name: tree, dir } of this.#trees) {
        if (!dirs.has(dir)) this.#deps.log('info', 'tree.left', { tree, dir })
      }
      this.#trees = trees
    } catch (error) {
      this.#deps.log('error', 'trees.defect', { error: messageOf(error) })
    }
    this.#looking = undefined
    for (const onLook of this.#followers) onLook()
    if (this.#followers.size > 0) {
      const pauseMs = LOOK_MS.perMs * (performance.now() - startedAt)
      const dueMs = Math.min(Math.max(pauseMs, LOOK_MS.least), LOOK_MS.most)
      this.#cancel = this.#deps.clock.after(dueMs, () => void this.#look())
    }
  }

  /** Those that git knows, and whose folder is gone. */
  #away(there: readonly TreeNow[]): TreeNow[] {
    const now = this.#deps.clock.elapsed()
    const found = new Set(there.map(({ gitFolder }) => gitFolder))
    const away = this.#trees.filter(({ gitFolder, awaySince = now }) => {
      return !found.has(gitFolder) && isThere(gitFolder) && now - awaySince < AWAY_MS
    })
    if (away.some(({ awaySince }) => awaySince === undefined)) this.#deps.onAway?.()
    return away.map((tree) => ({ ...tree, awaySince: tree.awaySince ?? now }))
  }

  async #now(tree: GitTree): Promise<TreeNow> {
    const { gitFolder, dir } = tree
    const name = basename(gitFolder)
    const branch = branchIn(gitFolder)
    const head = ownHead(tree)
    const heads = `${leadingHead(this.#leading)}\n${head}`
    // Where it was moved to, too: what git said of it is about commits, and no folder.
    const known = this.#trees.find((other) => other.gitFolder === gitFolder)
    const now = { ...tree, name, branch, head, isSparse: isSparse(gitFolder) }
    // Whatever git is doing now moves them once more.
    const isAsked = known?.heads === heads || (known && isBusy(gitFolder))
    if (isAsked) return { ...now, bases: known.bases, head: known.head, heads: known.heads }
    const ask = () => this.#git.mergeBases(headOf(this.#leading), headOf(tree))
    const found = await this.#ask(`${name}\n${heads}`, ask)
    const bases = found ?? known?.bases
    if (known?.dir !== dir) this.#deps.log('info', 'tree.found', { tree: name, dir, branch })
    if (!bases?.length && (!known || known.bases?.length)) {
      const why = 'its tasks count as changed once they were seen to change'
      this.#deps.log('warn', 'tree.no_merge_base', { tree: name, dir, why })
    }
    // Without an answer it is asked again.
    return { ...now, bases: bases?.length ? bases : undefined, heads: found ? heads : '' }
  }
}
