// The boards to choose from, as far as they match what was typed. Pure.

import type { ListedBoard } from '../../libraries/api/types.ts'
import { toolOf } from '../../worker/shared/layouts.ts'
import { coversPath, lastPart, pathProblem, type Repos } from '../../worker/shared/repos.ts'

export interface Entry {
  path: string
  /** What people call it. */
  name: string
  /** Undefined: no sidecar has reported it. */
  board?: ListedBoard
}

interface Offer {
  /** In the order of the edge. */
  listed: readonly ListedBoard[]
  /** What the session covers. */
  repos: Repos
  /** Boards to show in every case: those that the session names, and the one on the page. */
  named: readonly string[]
  text: string
}

/** All words must occur in what an entry shows, in any order and case. */
export function entriesOf({ listed, repos, named, text }: Offer): readonly Entry[] {
  const names = namesOf(listed)
  const others = [...new Set(named)].filter((path) => !names.has(path))
  const entryOf = (board: ListedBoard): Entry => {
    const { path, title } = board
    return { path, name: names.get(path) ?? title, board }
  }
  const all = [...listed.map(entryOf), ...others.map(alone)]
  const words = text.toLocaleLowerCase().split(/\s+/).filter(Boolean)
  const found = all.filter((entry) => words.every((word) => textOf(entry).includes(word)))
  const path = text.trim()
  // It may exist: an edge forgets what no sidecar reported for a month.
  const isPath = pathProblem(path) === undefined && coversPath(repos, path)
  return found.length === 0 && isPath ? [alone(path)] : found
}

const alone = (path: string): Entry => ({ path, name: lastPart(path) })

/**
 * What people call each board, by its path: its title, and where others have the same, as much of
 * its path as tells them apart.
 */
export function namesOf(listed: readonly ListedBoard[]): ReadonlyMap<string, string> {
  const counts = new Map<string, number>()
  const keyOf = (title: string, end: string) => JSON.stringify([title, end])
  for (const { title, path } of listed) {
    for (const end of ['', ...endsOf(path)]) {
      counts.set(keyOf(title, end), (counts.get(keyOf(title, end)) ?? 0) + 1)
    }
  }
  const nameOf = ({ title, path }: ListedBoard): string => {
    const isAlone = (end: string) => counts.get(keyOf(title, end)) === 1
    if (isAlone('')) return title
    const end = endsOf(path).find(isAlone) ?? path
    return lastPart(path) === title ? end : `${title} · ${end}`
  }
  return new Map(listed.map((board) => [board.path, nameOf(board)]))
}

/** The last part of a path, the last two, and so on. */
function endsOf(path: string): string[] {
  const parts = path.split(/[/\\]/).filter(Boolean)
  return parts.map((_, at) => parts.slice(-at - 1).join('/'))
}

const textOf = ({ path, name, board }: Entry): string =>
  [path, name, ...(board ? [toolOf(board.layout)] : [])].join('\n').toLocaleLowerCase()
