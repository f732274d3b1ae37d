// Finds the boards in folders and below them. It reads names and small files, follows no link, and
// runs no program.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { LayoutName } from '../../worker/board/wire.ts'
import type { Store } from '../layouts/layout.ts'
import { LAYOUT_NAMES, projectOf, type Search, storesIn } from '../layouts/registry.ts'
import { enter, type Rules, rulesAbove, withRulesOf } from './gitignore.ts'

export interface FoundBoard {
  store: Store
  /** The folder of its project. Real path. */
  dir: string
}

/** What was left out, and why. */
export interface LeftOut {
  code: 'refused' | 'unreadable' | 'unsearched' | 'same_name' | 'bad_name'
  /** One sentence. */
  message: string
}

export interface Discovery {
  /** In no order. */
  boards: FoundBoard[]
  left: LeftOut[]
  /** What the search took, in ms. */
  workMs: number
}

export interface Bounds {
  /** Levels below a folder that was named. */
  depth: number
  folders: number
  ms: number
}

/** A large monorepo has some thousand folders that git does not ignore: they take half a second. */
const BOUNDS: Bounds = { depth: 8, folders: 20_000, ms: 5_000 }
const NEVER_ENTERED = ['node_modules', '.git']
/** Only these say that nothing is there (any more). */
const ABSENT = new Set(['ENOENT', 'ENOTDIR'])

/** Two finds with the same key are one store. */
export const keyOf = ({ store: { layout, tasksIn } }: FoundBoard): string => `${layout} ${tasksIn}`

/** All boards in `dirs` and below. `dirs`: real paths. */
export const discoverBoards = (
  dirs: readonly string[],
  search: Search = {},
  bounds: Partial<Bounds> = {},
): Promise<Discovery> => new Walk(search, { ...BOUNDS, ...bounds }).run(dirs)

interface Folder {
  path: string
  depth: number
  rules: Rules
}

/** One search under way, level by level: if it is cut off, what is near was found. */
class Walk {
  readonly #search: Search
  readonly #only: readonly LayoutName[]
  readonly #bounds: Bounds
  readonly #boards = new Map<string, FoundBoard>()
  readonly #refused = new Set<string>()
  readonly #unreadable: string[] = []
  readonly #queue: Folder[] = []
  /** Folders that are never entered (again): those seen, and those of stores. */
  readonly #seen = new Set<string>()
  /** Why there may be more. */
  #cutOff: string | undefined

  constructor({ followsLinks = false, only = LAYOUT_NAMES }: Search, bounds: Bounds) {
    // The folders of other layouts' stores are not entered either.
    this.#search = { followsLinks }
    this.#only = only
    this.#bounds = bounds
  }

  async run(dirs: readonly string[]): Promise<Discovery> {
    const startedAt = performance.now()
    for (const path of dirs) {
      // It may be a store's own folder: then there is nothing else in it.
      if (await this.#stores(path)) continue
      this.#enqueue({ path, depth: 0, rules: await rulesAbove(path) })
    }
    for (const [at, folder] of this.#queue.entries()) {
      const isLate = performance.now() - startedAt > this.#bounds.ms
      if (isLate) this.#cutOff = `after ${this.#bounds.ms / 1_000} s and ${at} folders`
      if (isLate) break
      await this.#folder(folder)
    }
    const workMs = performance.now() - startedAt
    return { boards: [...this.#boards.values()], left: this.#left(), workMs }
  }

  #enqueue(folder: Folder): void {
    if (this.#seen.has(folder.path)) return
    if (folder.depth > this.#bounds.depth) {
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

  async #folder({ path, depth, rules: above }: Folder): Promise<void> {
    const entries = await readdir(path, { withFileTypes: true }).catch((error: unknown) => {
      if (!ABSENT.has(codeOf(error))) this.#unreadable.push(`${path} (${codeOf(error)})`)
      return []
    })
    const names = new Set(entries.map(({ name }) => name))
    if (depth > 0) await this.#stores(path, names)
    const rules = names.has('.gitignore')
      ? await withRulesOf(path, names.has('.git') ? [] : above)
      : names.has('.git') && depth > 0
        ? []
        : above
    for (const entry of entries) {
      if (!entry.isDirectory() || NEVER_ENTERED.includes(entry.name)) continue
      const child = join(path, entry.name)
      const entered = enter(child, rules)
      if (entered) this.#enqueue({ path: child, depth: depth + 1, rules: entered })
    }
  }

  /** Takes the stores in a folder. Resolves with whether it is itself one. */
  async #stores(path: string, names?: ReadonlySet<string>): Promise<boolean> {
    let isStore = false
    try {
      for await (const { store, refused } of storesIn(path, this.#search, names)) {
        const dir = names ? path : await projectOf(path, store)
        isStore ||= dir !== path
        // Whatever else is in a store's own folders is no board.
        const own = [store.root, store.tasksIn, ...store.folders()].filter((it) => it !== path)
        for (const folder of own) this.#seen.add(folder)
        if (!this.#only.includes(store.layout)) continue
        if (refused) this.#refused.add(refused.message)
        else this.#found({ store, dir })
      }
    } catch (error) {
      // It was deleted, or cannot be read, in the middle.
      if (!ABSENT.has(codeOf(error))) this.#unreadable.push(`${path} (${codeOf(error)})`)
    }
    return isStore
  }

  /** With links a store has several projects. Its own is the one that it is in. */
  #found(board: FoundBoard): void {
    const key = keyOf(board)
    const known = this.#boards.get(key)
    const rank = ({ store, dir }: FoundBoard) => `${store.root.startsWith(dir) ? 0 : 1} ${dir}`
    if (!known || rank(board) < rank(known)) this.#boards.set(key, board)
  }

  #left(): LeftOut[] {
    const [unreadable, ...others] = this.#unreadable
    const more = others.length > 0 ? `, and ${others.length} more` : ''
    return [
      ...[...this.#refused].map((message) => ({ code: 'refused' as const, message })),
      ...(unreadable === undefined
        ? []
        : [
            {
              code: 'unreadable' as const,
              message: `Boards were not looked for in what cannot be read: ${unreadable}${more}.`,
            },
          ]),
      ...(this.#cutOff === undefined
        ? []
        : [
            {
              code: 'unsearched' as const,
              message:
                `The search for boards ended ${this.#cutOff}: ` +
                'name the folder of a board that it did not find.',
            },
          ]),
    ]
  }
}

const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException).code ?? error)
