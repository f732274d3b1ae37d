// What waits for a review, by branch: the tasks that a linked worktree has closed or that were
// released as done, and that are open in the main tree. Pure.

import type { Session } from '../../libraries/api/types.ts'
import { closedAt, closingMarks } from '../../worker/board/tasks/closed-in.ts'
import { agentName } from '../../worker/board/tasks/shown-names.ts'
import type { CardData, TreeMark } from './cards.ts'

export interface Branch {
  /** Unique: of the tree, else of the branch; empty: the main tree. */
  key: string
  tree?: string
  branch?: string
  /** The folder of the tree. */
  dir?: string
  items: readonly Reviewed[]
}

export interface Reviewed {
  card: CardData
  /** In ms. */
  since?: number
  who?: string
  summary?: string
}

/** Each with the one that waits for longest first. `isClosed`: of a status. */
export function branchesOf(
  cards: Iterable<CardData>,
  sessions: Iterable<Session>,
  isClosed: (status: string) => boolean,
): readonly Branch[] {
  const branches = new Map<string, Branch & { items: Reviewed[] }>()
  const shown = [...cards].filter(({ state }) => state === 'review')
  const byTask = Map.groupBy(sessions, ({ task }) => task)
  for (const card of shown) {
    const own = byTask.get(card.task.id) ?? []
    for (const { place, item } of placesOf(card, own, isClosed)) {
      const key = place.tree ?? place.branch ?? ''
      const known = branches.get(key)
      // A claim does not say where the folder of its tree is; the mark of another task may.
      branches.set(key, { key, ...known, ...place, items: [...(known?.items ?? []), item] })
    }
  }
  for (const { items } of branches.values()) items.sort(bySince)
  return [...branches.values()].sort((a, b) => bySince(a.items[0], b.items[0]))
}

type Place = Pick<Branch, 'tree' | 'branch' | 'dir'>

/** One for each tree that closed it; else the place of the claim that was released as done. */
function placesOf(
  card: CardData,
  sessions: readonly Session[],
  isClosed: (status: string) => boolean,
): { place: Place; item: Reviewed }[] {
  const { trees = [], done } = card.task
  const closed = closingMarks(card.task, isClosed)
  if (closed.length > 0) {
    return closed.map((mark) => {
      const session = newest(sessions.filter(({ tree }) => tree === mark.tree))
      return { place: placeOf(mark), item: itemOf(card, session, closedAt(card.task, mark)) }
    })
  }
  const session = sessions.find(({ id }) => id === done?.session)
  const mark = trees.find(({ tree }) => tree === session?.tree)
  const { tree, branch } = session ?? {}
  const place = mark ? placeOf(mark) : { ...(tree && { tree }), ...(branch && { branch }) }
  return [{ place, item: itemOf(card, session, done?.at) }]
}

const placeOf = ({ tree, branch, dir }: TreeMark): Place => ({
  tree,
  ...(branch !== undefined && { branch }),
  dir,
})

function itemOf(card: CardData, session: Session | undefined, at: string | undefined): Reviewed {
  const ended = session?.endedAt ?? at
  const since = ended === undefined ? card.since : Date.parse(ended)
  const actor = session?.actor ?? card.task.done?.by
  const who = actor && agentName(actor, session?.tree)
  const summary = session?.summary ?? card.task.done?.summary
  return {
    card,
    ...(since !== undefined && { since }),
    ...(who !== undefined && { who }),
    ...(summary !== undefined && { summary }),
  }
}

const newest = (sessions: readonly Session[]): Session | undefined =>
  sessions.reduce<Session | undefined>(
    (last, session) => (last && last.startedAt >= session.startedAt ? last : session),
    undefined,
  )

/** Without a time: last. */
const bySince = (a: Partial<Reviewed> | undefined, b: Partial<Reviewed> | undefined): number =>
  (a?.since ?? Infinity) - (b?.since ?? Infinity) || 0

/**
 * What shows the work of a branch against the main tree’s, to be copied into a shell. Uncommitted
 * work is seen only where the folder of the tree is known. `main`: the branch or commit there.
 */
export function lookCommand({ dir, branch }: Place, main: string | undefined): string | undefined {
  if (dir !== undefined) {
    const shown = main === undefined ? 'log -p' : `diff --merge-base ${quoted(main)}`
    return `git -C ${quoted(dir)} ${shown}`
  }
  if (branch === undefined || main === undefined || branch === main) return undefined
  return `git diff ${quoted(`${main}...${branch}`)}`
}

/** For a shell: a folder or branch may be named `$(…)`. */
const quoted = (text: string): string =>
  /^[\w@%+:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
