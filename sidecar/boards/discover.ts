// Finds the boards in folders and below them. It reads names and small files, follows no link, and
// runs no program.

import { readdir } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import type { LayoutName } from '../../worker/board/wire.ts'
import { errorCode, isAbsence } from '../../worker/shared/file-errors.ts'
import { LAYOUT_NAMES } from '../../worker/shared/layouts.ts'
import { messageOf } from '../../worker/shared/log.ts'
import {
  type GitTree,
  inTree,
  leadingBoard,
  linkedTree,
  linkedTreeOf,
  linkedTreesOf,
  locationOf,
  strayAt,
  treeOf,
} from '../git/worktrees.ts'
import type { Store } from '../layouts/layout.ts'
import {
  type Candidate,
  noBoardIn,
  openFolder,
  projectOf,
  type Search,
  StoreError,
  storesIn,
} from '../layouts/registry.ts'
import { isWithin, realFolder } from '../layouts/store-folder.ts'
import { enter, type Rules, rulesAbove, slowFiles, withRulesOf } from './gitignore.ts'

export interface FoundBoard {
  store: Store
  /** The folder of its project. Real path. */
  dir: string
  /** What that is called, if it is in a linked worktree. */
  location?: string | undefined
}

/** What was left out, and why. */
export interface LeftOut {
  code: StoreError['code'] | 'unreadable' | 'unsearched' | 'same_name' | 'bad_name' | 'slow_rules'
  /** One sentence. */
  message: string
}

export interface Discovery {
  /** In no order. */
  boards: FoundBoard[]
  leftOut: LeftOut[]
  /** The name of the project's folder, for each folder that was named. */
  projects: string[]
  /** Linked worktrees that were moved without git. */
  moved: string[]
  /** What the search took, in ms. */
  workMs: number
}

export interface Bounds {
  /** Levels below a folder that was named. */
  depth: number
  folders: number
  boards: number
  ms: number
  /** Ends the search at once. */
  signal?: AbortSignal
}

/**
 * A large monorepo has some thousand folders that git does not ignore: they take half a second. Of
 * each board the edge has three files open, and many processes may open 1,024.
 */
const BOUNDS: Bounds = { depth: 8, folders: 20_000, boards: 250, ms: 5_000 }
const NEVER_ENTERED = ['node_modules', '.git']

/** Two finds with the same key are one board, perhaps of two trees of a repository. */
export function keyOf({ store: { layout, tasksIn }, dir, location = dir }: FoundBoard): string {
  const isOwn = isWithin(tasksIn, dir)
  // Behind a link it is where it is, whichever tree has the link.
  return `${layout} ${isOwn ? join(location, relative(dir, tasksIn)) : tasksIn}`
}

/**
 * All boards in `dirs` and below. Of the layouts that are not asked for, too: the name of a board
 * depends on those beside it.
 */
export const discoverBoards = (
  dirs: readonly string[],
  search: Search = {},
  bounds: Partial<Bounds> = {},
): Promise<Discovery> => new Walk(search, { ...BOUNDS, ...bounds }).run(dirs)

/** Why no board was found in `where` and below. */
export function whyNone(
  where: string,
  leftOut: readonly LeftOut[],
  only: Search['only'],
): StoreError {
  const first = leftOut.find(({ code }) => code !== 'unsearched')
  const { code, message } = first ?? noBoardIn(where, 'below', only)
  switch (code) {
    case 'linked_elsewhere':
    case 'linked_folder':
    case 'stray_worktree':
    case 'runs_elsewhere':
      return new StoreError(code, message)
    default:
      return new StoreError('no_board', message)
  }
}

interface Folder {
  path: string
  depth: number
  rules: Rules
  /** In which it is. */
  tree?: GitTree | undefined
}

/** One search under way, level by level: if it is cut off, what is near was found. */
class Walk {
  readonly #search: Search
  readonly #only: readonly LayoutName[]
  readonly #bounds: Bounds
  readonly #boards = new Map<string, FoundBoard>()
  readonly #leftOut = new Map<string, LeftOut>()
  readonly #unreadable: string[] = []
  readonly #queue: Folder[] = []
  /** Folders that are never entered (again): those seen, and those of stores. */
  readonly #seen = new Set<string>()
  readonly #moved = new Set<string>()
  /** Real paths of the folders that were named. */
  readonly #named: string[] = []
  readonly #startedAt = performance.now()
  /** Why there may be more. */
  #cutOff: string | undefined

  constructor({ followsLinks = false, only = LAYOUT_NAMES, worktrees }: Search, bounds: Bounds) {
    this.#search = { followsLinks, worktrees }
    this.#only = only
    this.#bounds = bounds
  }

  async run(dirs: readonly string[]): Promise<Discovery> {
    const projects: string[] = []
    for (const dir of dirs) projects.push(await this.#begin(resolve(dir)))
    for (const folder of this.#queue) {
      if (this.#bounds.signal?.aborted || this.#isOver()) break
      await this.#folder(folder)
    }
    const workMs = performance.now() - this.#startedAt
    const [boards, moved] = [[...this.#boards.values()], [...this.#moved]]
    return { boards, leftOut: this.#allLeftOut(), projects, moved, workMs }
  }

  /** With a folder that was named. Resolves with that of its project. */
  async #begin(dir: string): Promise<string> {
    let path: string
    try {
      path = await openFolder(dir)
    } catch (error) {
      this.#leaveOut('not_a_folder', messageOf(error))
      return dir
    }
    this.#named.push(path)
    if (await this.#leftOutAsStray(path)) return path
    const tree = await linkedTreeOf(path)
    const project = await this.#stores(path, tree)
    // In a store's own folder there is nothing else.
    const isProject = project === path
    if (isProject) this.#enqueue({ path, depth: 0, rules: await rulesAbove(path), tree })
    if (this.#search.worktrees !== false) await this.#inOtherTrees(path)
    return await locationOf(project)
  }

  /** A board that only other trees have here. */
  async #inOtherTrees(path: string): Promise<void> {
    const own = await treeOf(path)
    for (const tree of own ? await linkedTreesOf(own.common) : []) {
      const there = inTree(own ?? tree, path, tree)
      if ((await realFolder(there)) === there) await this.#stores(there, tree)
    }
  }

  #enqueue(folder: Folder): void {
    if (this.#seen.has(folder.path)) return
    if (folder.depth > this.#bounds.depth) {
      // What a linked worktree has so deep below, the tree that leads has less deep.
      if (folder.tree) return
      this.#cutOff ??= `${this.#bounds.depth} levels down, above ${folder.path}`
      return
    }
    if (this.#queue.length >= this.#bounds.folders) {
      this.#cutOff = `after ${this.#bounds.folders} folders`
      return
    }
    this.#seen.add(folder.path)
    this.#queue.push(folder)
  }

  /** One that is not there any more is no news. */
  #failed(path: string, error: unknown): void {
    if (!isAbsence(error)) this.#unreadable.push(`${path} (${errorCode(error) || error})`)
  }

  async #folder({ path, depth, rules: above, tree: treeAbove }: Folder): Promise<void> {
    const entries = await readdir(path, { withFileTypes: true }).catch((error: unknown) => {
      this.#failed(path, error)
      return []
    })
    const names = new Set(entries.map(({ name }) => name))
    const isTop = depth > 0 && names.has('.git')
    if (isTop && (await this.#leftOutAsStray(path))) return
    const tree = isTop ? await linkedTree(path) : treeAbove
    if (isTop && tree?.isMoved) this.#moved.add(path)
    if (tree !== treeAbove && this.#search.worktrees === false) return
    if (depth > 0) await this.#stores(path, tree, names)
    const inherited = names.has('.git') ? [] : above
    const rules = names.has('.gitignore') ? await withRulesOf(path, inherited) : inherited
    for (const entry of entries) {
      // Rules of others may make each of many folders costly.
      if (this.#isOver()) break
      if (!entry.isDirectory() || NEVER_ENTERED.includes(entry.name)) continue
      const child = join(path, entry.name)
      const entered = enter(child, rules)
      if (entered) this.#enqueue({ path: child, depth: depth + 1, rules: entered, tree })
      // git may ignore the place where worktrees are.
      else if ((await linkedTree(child))?.isMoved) this.#moved.add(child)
    }
    for (const file of slowFiles(rules)) {
      this.#leaveOut('slow_rules', `The rules of ${file} take over 50 ms for a folder: left out.`)
    }
  }

  /** Whether it says that it is a linked worktree, and is none: no board of its own either. */
  async #leftOutAsStray(path: string): Promise<boolean> {
    const why = await strayAt(path, this.#named)
    if (why !== undefined) this.#leaveOut('stray_worktree', why)
    return why !== undefined
  }

  #isOver(): boolean {
    const { ms, boards } = this.#bounds
    // The same sentence each time, since each is shown once.
    if (performance.now() - this.#startedAt > ms) this.#cutOff = `after ${ms / 1_000} s`
    else if (this.#boards.size >= boards) this.#cutOff = `after ${boards} boards`
    else return false
    return true
  }

  /** Takes the stores in a folder. Resolves with the folder of their project. */
  async #stores(
    path: string,
    tree: GitTree | undefined,
    names?: ReadonlySet<string>,
  ): Promise<string> {
    let project = path
    try {
      for await (const found of storesIn(path, this.#search, names)) {
        const { store, refused } = found
        // The path is real; a link that has just replaced it leads to a board of others.
        const isSwapped = !this.#search.followsLinks && !isWithin(store.root, path)
        if (isSwapped && !refused) continue
        const dir = names ? path : await projectOf(path, store)
        if (dir !== path) project = dir
        // Whatever else is in a store's own folders is no board.
        const own = [store.root, store.tasksIn, ...store.folders()]
        for (const folder of own) {
          if (folder !== path && isWithin(folder, path)) this.#seen.add(folder)
        }
        await this.#store(found, dir, tree)
      }
    } catch (error) {
      // It was deleted, or cannot be read, in the middle.
      this.#failed(path, error)
    }
    return project
  }

  async #store({ store, refused }: Candidate, dir: string, tree?: GitTree): Promise<void> {
    if (!refused) return this.#foundIn(tree, { store, dir })
    // In place of a copy, a linked worktree may have a link.
    if (tree && (await this.#ledFrom(tree, { store, dir }))) return
    if (this.#only.includes(store.layout)) this.#leaveOut(refused.code, refused.message)
  }

  #leaveOut(code: LeftOut['code'], message: string): void {
    this.#leftOut.set(message, { code, message })
  }

  /** A linked worktree's is a copy of that of the tree which leads there. */
  async #foundIn(tree: GitTree | undefined, board: FoundBoard): Promise<void> {
    if (!tree) return this.#found(board)
    const located = { ...board, location: await locationOf(board.dir) }
    if (this.#boards.has(keyOf(located)) || (await this.#ledFrom(tree, board))) return
    this.#found(located)
  }

  /** Takes the board of the tree that leads there, if one does. */
  async #ledFrom(tree: GitTree, { store, dir }: FoundBoard): Promise<boolean> {
    const leading = await leadingBoard(tree, dir, { ...this.#search, only: [store.layout] })
    if (leading) this.#found({ ...leading, location: await locationOf(dir) })
    return leading !== undefined
  }

  /** With links a store has several projects. Its own is the one that it is in. */
  #found(board: FoundBoard): void {
    const key = keyOf(board)
    const known = this.#boards.get(key)
    const rank = ({ store, dir }: FoundBoard) => `${isWithin(store.tasksIn, dir) ? 0 : 1} ${dir}`
    if (!known || rank(board) < rank(known)) this.#boards.set(key, board)
  }

  /** Also why there may be more. */
  #allLeftOut(): LeftOut[] {
    const [unreadable, ...others] = this.#unreadable
    if (unreadable !== undefined) {
      const more = others.length > 0 ? `, and ${others.length} more` : ''
      const what = `${unreadable}${more}`
      this.#leaveOut('unreadable', `Boards were not looked for in what cannot be read: ${what}.`)
    }
    if (this.#cutOff !== undefined) {
      const what = 'name the folder of a board that it did not find'
      this.#leaveOut('unsearched', `The search for boards ended ${this.#cutOff}: ${what}.`)
    }
    return [...this.#leftOut.values()]
  }
}
