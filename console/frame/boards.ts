// The boards to choose from, as far as they match what was typed. Pure.

import type { BoardStatus, ListedBoard } from '../../libraries/api/types.ts'
import { coversPath, pathProblem, type Repos } from '../../worker/shared/repos.ts'

export interface Entry {
  path: string
  /** Undefined: no sidecar has reported it. */
  board?: ListedBoard
}

interface Offer {
  /** In the order of the edge. */
  listed: readonly ListedBoard[]
  /** Of the session. */
  repos: Repos
  /** Boards to show in every case: those that the session names, and the one on the page. */
  named: readonly string[]
  text: string
}

/** All words must occur in what an entry shows, in any order and case. */
export function entriesOf({ listed, repos, named, text }: Offer): readonly Entry[] {
  const known = new Set(listed.map(({ path }) => path))
  const others = [...new Set(named)].filter((path) => !known.has(path))
  const all = [...listed.map((board) => ({ path: board.path, board })), ...others.map(alone)]
  const words = text.toLocaleLowerCase().split(/\s+/).filter(Boolean)
  const found = all.filter((entry) => words.every((word) => textOf(entry).includes(word)))
  const path = text.trim()
  // It may exist: an edge forgets what no sidecar reported for a month.
  const isPath = pathProblem(path) === undefined && coversPath(repos, path)
  return found.length === 0 && isPath ? [{ path }] : found
}

const alone = (path: string): Entry => ({ path })

const textOf = ({ path, board }: Entry): string =>
  [path, ...(board ? [board.title, TOOLS[board.layout]] : [])].join('\n').toLocaleLowerCase()

/** What the makers of a layout call their tool. */
export const TOOLS: Readonly<Record<NonNullable<BoardStatus['layout']>, string>> = {
  cairn: 'cairn',
  'backlog-md': 'Backlog.md',
  'task-master': 'Task Master',
  openspec: 'OpenSpec',
  kiro: 'Kiro',
  'spec-kit': 'spec-kit',
  bmad: 'BMAD',
}
