// What each board is called at the edge: by its location, whenever it was found.

import { basename, relative, sep } from 'node:path'
import type { LayoutName } from '../../worker/board/wire.ts'
import { LAYOUT_NAMES } from '../../worker/shared/layouts.ts'
import { pathProblem } from '../../worker/shared/repos.ts'
import { isWithin } from '../layouts/store-folder.ts'
import { type FoundBoard, keyOf, type LeftOut } from './discover.ts'

export interface Naming {
  /** The name of the first board: `--repo`, or the folder of its project. */
  repo: string
  /** What the folder of the first board's project is called. */
  project: string
  /**
   * The folders that were named, if `repo` was. A board outside of the project is then called after
   * the nearest of them, else after its own folder. Real paths.
   */
  dirs?: readonly string[]
  /** The others have their names, and are not among those that are named. Absent: all layouts. */
  only?: readonly LayoutName[] | undefined
}

export interface NamedBoard extends FoundBoard {
  name: string
}

/**
 * Names them. `known`: names of before, by their keys, which stay. The first board, as the layouts
 * are tried in the project's folder, is called `repo`; any other has its folder and layout as well.
 * No two have one name: the second is left out.
 */
export function nameBoards(
  found: readonly FoundBoard[],
  naming: Naming,
  known: ReadonlyMap<string, string> = new Map(),
): { named: NamedBoard[]; leftOut: LeftOut[] } {
  const { only = LAYOUT_NAMES } = naming
  const taken = new Set(known.values())
  const named: NamedBoard[] = []
  const leftOut: LeftOut[] = []
  for (const board of found.toSorted(byLocation(naming))) {
    const before = known.get(keyOf(board))
    const { location = board.dir } = board
    const isFirst = location === naming.project && !taken.has(naming.repo)
    const name = before ?? (isFirst ? naming.repo : nameByLocation(board, naming))
    const problem = before === undefined && whyNot(board, name, taken)
    taken.add(name)
    if (!only.includes(board.store.layout)) continue
    if (problem) leftOut.push(problem)
    else named.push({ ...board, name })
  }
  return { named, leftOut }
}

function whyNot(
  { store, dir }: FoundBoard,
  name: string,
  taken: ReadonlySet<string>,
): LeftOut | undefined {
  const which = `The ${store.layout} board in ${dir} is left out`
  const problem = pathProblem(name)
  if (problem !== undefined) {
    return { code: 'bad_name', message: `${which}: its name is not possible. ${problem}` }
  }
  if (!taken.has(name)) return undefined
  return { code: 'same_name', message: `${which}: another one is called ${name}, too.` }
}

/** The project's own first, then by folder, then as the layouts are tried. */
const byLocation =
  ({ project }: Naming) =>
  (one: FoundBoard, other: FoundBoard): number => {
    const rank = ({ dir, location = dir, store }: FoundBoard) => [
      isWithin(location, project) ? 0 : 1,
      location,
      LAYOUT_NAMES.indexOf(store.layout),
    ]
    const [a, b] = [rank(one), rank(other)]
    const at = a.findIndex((value, index) => value !== b[index])
    return at === -1 ? 0 : (a[at] ?? 0) < (b[at] ?? 0) ? -1 : 1
  }

function nameByLocation(
  { dir, location = dir, store }: FoundBoard,
  { repo, project, dirs }: Naming,
): string {
  const named = (name: string, folder: string) =>
    `${joined(name, slashed(relative(folder, location)))}#${store.layout}`
  if (isWithin(location, project)) return named(repo, project)
  if (dirs === undefined) return `${slashed(location)}#${store.layout}`
  const [nearest = location] = dirs
    .filter((it) => isWithin(location, it))
    .toSorted((a, b) => b.length - a.length)
  return named(joined(repo, basename(nearest)), nearest)
}

const slashed = (path: string): string => path.split(sep).join('/')

const joined = (name: string, rest: string): string => (rest === '' ? name : `${name}/${rest}`)
