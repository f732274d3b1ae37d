// Which layouts there are, and which of them a folder holds.

import { lstat, realpath, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { LayoutName } from '../../worker/board/wire.ts'
import { LAYOUT_NAMES } from '../../worker/shared/layouts.ts'
import { backlogMd } from './backlog-md.ts'
import { bmad } from './bmad.ts'
import { cairn } from './cairn.ts'
import { kiro } from './kiro.ts'
import type { Layout, Store } from './layout.ts'
import { openSpec } from './openspec.ts'
import { specKit } from './spec-kit.ts'
import { isWithin } from './store-folder.ts'
import { taskMaster } from './task-master.ts'

const LAYOUTS: Readonly<Record<LayoutName, Layout>> = {
  cairn,
  'backlog-md': backlogMd,
  'task-master': taskMaster,
  openspec: openSpec,
  kiro,
  'spec-kit': specKit,
  bmad,
}

/** docs/remedies.md says what to do for each. */
export const STORE_ERRORS = [
  'not_a_folder',
  'no_board',
  'linked_elsewhere',
  'linked_folder',
  'stray_worktree',
  'runs_elsewhere',
] as const

export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly code: (typeof STORE_ERRORS)[number]

  constructor(code: StoreError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** `nor`: where else it was looked for. `only`: one of another layout may be there. */
export function noBoardIn(where: string, nor?: string, only?: readonly LayoutName[]): StoreError {
  const signs = (only ?? LAYOUT_NAMES).map((name) => LAYOUTS[name].signs)
  const what = only ? `${only.join(' or ')} board (--only)` : 'task board'
  const why = `There is no ${what} in ${where}${nor === undefined ? '' : `, nor ${nor}`}`
  const list = new Intl.ListFormat('en-GB').format(signs)
  return new StoreError('no_board', `${why}: looked for ${list}.`)
}

/** A store that is there. `refused`: why it must not be read. */
export interface Candidate {
  store: Store
  refused?: StoreError
}

/** How stores are looked for. */
export interface Search {
  /**
   * A store may be behind a link that leads out of its folder. Without it, a project of others
   * could publish what is elsewhere on this machine.
   */
  followsLinks?: boolean | undefined
  /** Absent: all layouts. */
  only?: readonly LayoutName[] | undefined
  /** False: linked worktrees of git are left out. */
  worktrees?: boolean | undefined
}

/**
 * Each store in `dir`, which is the project's folder or a store's own, in the order in which the
 * layouts are tried. `names`: what the folder holds; then a store's own folder has none.
 */
export async function* storesIn(
  dir: string,
  { followsLinks = false, only = LAYOUT_NAMES }: Search = {},
  names?: ReadonlySet<string>,
): AsyncGenerator<Candidate> {
  for (const name of LAYOUT_NAMES) {
    const { marks, detect } = LAYOUTS[name]
    if (!only.includes(name) || (names && !marks.some((mark) => names.has(mark)))) continue
    const store = await detect(resolve(dir))
    if (!store) continue
    const elsewhere = followsLinks ? undefined : await linkedElsewhere(dir, store)
    const refused = elsewhere ?? (await linkedFolder(store))
    yield { store, ...(refused && { refused }) }
  }
}

/** The first store in `dir`; undefined: none (yet). Throws StoreError for one that is refused. */
export async function findStore(dir: string, search: Search = {}): Promise<Store | undefined> {
  for await (const { store, refused } of storesIn(dir, search)) {
    if (refused) throw refused
    return store
  }
  return undefined
}

/** The folder of the project whose store was found in `dir`: `dir`, unless that is the store's. */
export async function projectOf(dir: string, { layout, root }: Store): Promise<string> {
  const above = dirname(resolve(dir))
  for await (const { store } of storesIn(above, { followsLinks: true, only: [layout] })) {
    if (store.root === root) return above
  }
  return resolve(dir)
}

async function linkedElsewhere(
  dir: string,
  { root, folders }: Store,
): Promise<StoreError | undefined> {
  const real = await realpath(dir)
  const elsewhere = [root, ...folders()].find((path) => !isWithin(path, real))
  if (elsewhere === undefined) return undefined
  const why = `The board in ${resolve(dir)} is a link that leads out of it, to ${elsewhere}`
  return new StoreError('linked_elsewhere', `${why}: use --follow-links if you trust that.`)
}

/** Within a store no link is followed: its folders would not be watched. */
async function linkedFolder({ folders, tasksIn }: Store): Promise<StoreError | undefined> {
  for (const path of [...folders(), tasksIn]) {
    const found = await lstat(path).catch(() => undefined)
    if (!found?.isSymbolicLink()) continue
    const why = `${path} is a link, and no link within a board is followed`
    return new StoreError('linked_folder', `${why}: put what it points to in its place.`)
  }
  return undefined
}

/** The real path of a folder that was named. Throws StoreError. */
export async function openFolder(dir: string): Promise<string> {
  const path = resolve(dir)
  const found = await stat(path).catch(() => undefined)
  if (!found) throw new StoreError('not_a_folder', `There is no folder ${path}.`)
  if (!found.isDirectory()) throw new StoreError('not_a_folder', `${path} is not a folder.`)
  return realpath(path)
}

/** Like findStore, but throws StoreError if there is no store. */
export async function openStore(dir: string, search: Search = {}): Promise<Store> {
  await openFolder(dir)
  const store = await findStore(dir, search)
  if (!store) throw noBoardIn(resolve(dir))
  return store
}
