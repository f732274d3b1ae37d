// The boards for a start: those of the projects that are meant, or the example.

import { cp, mkdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { discoverBoards, type FoundBoard, whyNone } from '../sidecar/boards/discover.ts'
import { isRepository, leadingFolder } from '../sidecar/git/worktrees.ts'
import {
  type Candidate,
  findStore,
  openFolder,
  projectOf,
  type Search,
  storesIn,
} from '../sidecar/layouts/registry.ts'
import { errorCode } from '../worker/shared/file-errors.ts'
import { LAYOUT_NAMES } from '../worker/shared/layouts.ts'
import { DATA_DIR } from './data/data-folder.ts'
import { ROOT } from './root.ts'
import { StartError } from './start-error.ts'

/**
 * The first board in `dir` and in each folder above, up to the top of its git repository: beyond
 * that begins somebody else's project. In a linked worktree those of the main tree, if it has any.
 * `refused`: why it must not be read.
 */
export async function* boardsAbove(
  dir: string,
  search?: Search,
): AsyncGenerator<FoundBoard & Candidate> {
  for (let at = await leadingFolder(resolve(dir)); ; at = dirname(at)) {
    for await (const found of storesIn(at, search)) {
      // It may be the store's own folder.
      at = await projectOf(at, found.store)
      yield { ...found, dir: at }
      break
    }
    if (at === dirname(at) || (await isRepository(at))) return
  }
}

/** The nearest of them; undefined: there is none. Throws StoreError for one that is refused. */
export async function findBoard(dir: string, search?: Search): Promise<FoundBoard | undefined> {
  for await (const { refused, ...found } of boardsAbove(dir, search)) {
    if (refused) throw refused
    return found
  }
  return undefined
}

/** The folder of the project whose board findBoard finds, or refuses. */
export async function findProject(dir: string): Promise<string | undefined> {
  for await (const found of boardsAbove(dir)) return found.dir
  return undefined
}

export interface Projects {
  /** Their folders, each once. */
  dirs: readonly string[]
  /** The boards below the first, if none is in it. */
  below: readonly FoundBoard[]
}

/**
 * The projects that `dirs` mean: that of the board which `find` finds, else the folder itself where
 * boards are below it, as those of a monorepo may be. Throws StoreError where there is none.
 */
export async function findProjects(
  dirs: readonly string[],
  search: Search,
  find: typeof findBoard = findBoard,
): Promise<Projects> {
  const { only, ...any } = search
  const below = new Map<string, readonly FoundBoard[]>()
  for (const dir of dirs) {
    await openFolder(dir)
    const found = await find(dir, any)
    const project = found?.dir ?? resolve(dir)
    const isMeant = found && (only?.includes(found.store.layout) ?? true)
    // A search takes its time, and goes on when the boards are published.
    below.set(project, isMeant ? [] : await boardsBelow(project, search))
  }
  const [first = []] = below.values()
  return { dirs: [...below.keys()], below: first }
}

async function boardsBelow(dir: string, search: Search): Promise<readonly FoundBoard[]> {
  const { boards, leftOut } = await discoverBoards([dir], search)
  const { only = LAYOUT_NAMES } = search
  if (boards.some(({ store }) => only.includes(store.layout))) return boards
  throw whyNone(dir, leftOut, search.only)
}

const EXAMPLE = 'signalbox-example'

/**
 * The folder of the example in `parent`: made now, or by an earlier start. Never writes into a
 * folder that is there already. Throws StartError.
 */
export async function makeExample(parent: string): Promise<string> {
  const dir = join(parent, EXAMPLE)
  try {
    await mkdir(dir)
  } catch (cause) {
    const code = errorCode(cause) || cause
    if (code === 'EEXIST' && (await findStore(dir))) return dir
    const why = code === 'EEXIST' ? 'is there already and holds no board' : `is not made (${code})`
    throw new StartError('bad_store', `The example's folder ${dir} ${why}.`, { cause })
  }
  // Without the data folder of a start in the example itself.
  const filter = (path: string) => basename(path) !== DATA_DIR
  await cp(join(ROOT, 'examples/board'), dir, { recursive: true, filter })
  return dir
}
