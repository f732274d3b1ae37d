// Which layouts there are, and which of them a folder holds.

import { lstat, realpath, stat } from 'node:fs/promises'
import { resolve, sep } from 'node:path'
import { backlogMd } from './backlog-md.ts'
import { bmad } from './bmad.ts'
import { cairn } from './cairn.ts'
import { kiro } from './kiro.ts'
import type { Layout, Store } from './layout.ts'
import { openSpec } from './openspec.ts'
import { specKit } from './spec-kit.ts'
import { taskMaster } from './task-master.ts'

/** In the order in which they are tried. */
const LAYOUTS: readonly Layout[] = [cairn, backlogMd, taskMaster, openSpec, kiro, specKit, bmad]

/** The layouts and what they are found by, for people. */
export const LAYOUT_SIGNS = new Intl.ListFormat('en-GB').format(LAYOUTS.map(({ signs }) => signs))

export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly code: 'not_a_folder' | 'no_board' | 'linked_elsewhere' | 'linked_folder'

  constructor(code: StoreError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/**
 * The store in `dir`, which is the project's folder or the store's own; undefined: none (yet).
 * Throws StoreError for one behind a link that leads out of `dir`, unless links are followed: a
 * project of others must not publish what is elsewhere on this machine.
 */
export async function findStore(dir: string, followsLinks = false): Promise<Store | undefined> {
  for (const layout of LAYOUTS) {
    const store = await layout.detect(resolve(dir))
    if (!store) continue
    if (!followsLinks) await refuseElsewhere(dir, store)
    if (!followsLinks) await refuseLinked(store)
    return store
  }
  return undefined
}

async function refuseElsewhere(dir: string, { root, folders }: Store): Promise<void> {
  const real = await realpath(dir)
  const isWithin = (path: string) => path === real || path.startsWith(real + sep)
  const elsewhere = [root, ...folders()].find((path) => !isWithin(path))
  if (elsewhere === undefined) return
  const why = `The board in ${resolve(dir)} is a link that leads out of it, to ${elsewhere}`
  throw new StoreError('linked_elsewhere', `${why}: use --follow-links if you trust that.`)
}

/** Within a store no link is followed: its folders would not be watched. */
async function refuseLinked({ folders, tasksIn }: Store): Promise<void> {
  for (const path of [...folders(), tasksIn]) {
    const found = await lstat(path).catch(() => undefined)
    if (!found?.isSymbolicLink()) continue
    const why = `${path} is a link, and no link within a board is followed`
    throw new StoreError('linked_folder', `${why}: put what it points to in its place.`)
  }
}

/** Like findStore, but throws StoreError if there is no store. */
export async function openStore(dir: string, followsLinks = false): Promise<Store> {
  const path = resolve(dir)
  const found = await stat(path).catch(() => undefined)
  if (!found) throw new StoreError('not_a_folder', `There is no folder ${path}.`)
  if (!found.isDirectory()) throw new StoreError('not_a_folder', `${path} is not a folder.`)
  const store = await findStore(path, followsLinks)
  if (!store) {
    const why = `There is no task board in ${path}: looked for ${LAYOUT_SIGNS}.`
    throw new StoreError('no_board', why)
  }
  await refuseLinked(store)
  return store
}
