// A claim follows its text: where the numbers of a list move, or a file is renumbered, to the task
// that has its title now. Pure.

import type { CandidateTask, ListPlace, Moved } from '../store/board-rows.ts'
import type { Task } from '../wire.ts'
import type { Claim } from './claim-store-sqlite.ts'

/** With these a publication is compared: titles of claims, and parents of their tasks. */
export interface Texts {
  titles: ReadonlySet<string>
  lists: ReadonlySet<string>
}

type Text = Pick<Task, 'id' | 'title' | 'status' | 'parent' | 'rank' | 'unnumbered'>

export const NO_MOVES: Moved = { named: [], went: [], came: [] }

/** With more than one of a list, or so many of a title, none is known to be that of the claim. */
const MAX_PLACES = 2
const MAX_NAMED = 1_000
/** A task that may be that of a claim is kept for so long. */
const CANDIDATE_MS = 120_000

/** `before`: the title that the task had; undefined: it is new. */
export function cameIn(moved: Moved, texts: Texts, task: Text, before: string | undefined): Moved {
  const isNamed = texts.titles.has(task.title) && before !== task.title
  const named = isNamed && moved.named.length < MAX_NAMED ? [...moved.named, task.id] : moved.named
  const came = before === undefined ? placed(moved.came, texts, task) : moved.came
  return { ...moved, named, came }
}

export const wentIn = (moved: Moved, texts: Texts, task: Text): Moved => ({
  ...moved,
  went: placed(moved.went, texts, task),
})

function placed(
  known: ListPlace[],
  { lists }: Texts,
  { id, parent, rank, unnumbered }: Text,
): ListPlace[] {
  if (!unnumbered || parent === undefined || !lists.has(parent)) return known
  const isFull = known.filter((it) => it.parent === parent).length >= MAX_PLACES
  return isFull ? known : [...known, { id, parent, rank }]
}

/** The board as it is now. */
interface Board {
  taskOf(id: string): Text | undefined
  isOpen(task: Pick<Task, 'status'>): boolean
}

/** `moves`: to which task, by generation. `others`: claims that remember what was new. */
export interface Followed {
  moves: Map<number, Text>
  others: Claim[]
  candidates: CandidateTask[]
}

/** All claims at once, since one leaves the task that another comes to. `before`: until now. */
export function follow(
  claims: readonly Claim[],
  { taskOf, isOpen }: Board,
  moved: Moved,
  before: readonly CandidateTask[],
  now: number,
): Followed {
  const moves = new Map<number, Text>()
  const others: Claim[] = []
  const candidates: CandidateTask[] = []
  for (const claim of claims) {
    const { generation, title, parent, twins = [] } = claim
    const isAlike = (task: Text): boolean =>
      task.id !== claim.task &&
      task.title === title &&
      (parent === undefined || task.parent === parent)
    const alike = (ids: readonly string[]) =>
      [...new Set(ids)].flatMap((id) => taskOf(id) ?? []).filter(isAlike)
    if (taskOf(claim.task)?.title === title) {
      const current = alike([...twins, ...moved.named]).map(({ id }) => id)
      if (current.join() !== twins.join()) others.push({ ...claim, twins: current })
      continue
    }
    const known = before.filter((it) => it.generation === generation)
    const found = twins.length > 0 ? [] : alike([...known.map(({ id }) => id), ...moved.named])
    const open = found.filter(isOpen)
    const to = open.length === 0 ? inItsPlace(claim, moved, taskOf) : open[0]
    if (to && open.length < 2 && isOpen(to)) moves.set(generation, to)
    for (const { id } of found) {
      const until = known.find((it) => it.id === id)?.until ?? now + CANDIDATE_MS
      candidates.push({ id, generation, until })
    }
  }
  withoutClashes(moves, claims)
  return {
    moves,
    others,
    candidates: candidates.filter(({ generation }) => !moves.has(generation)),
  }
}

/** Where one task without a number went, and one came: its text was edited. */
function inItsPlace(
  claim: Claim,
  { went, came }: Moved,
  taskOf: Board['taskOf'],
): Text | undefined {
  const gone = went.find(({ id }) => id === claim.task)
  const inList = (places: readonly ListPlace[]) => places.filter((it) => it.parent === gone?.parent)
  const [next, ...more] = inList(came)
  const isOne = next && more.length === 0 && inList(went).length === 1
  return gone && isOne && next.rank === gone.rank ? taskOf(next.id) : undefined
}

/** A finished claim does not need its task any more. */
const mayHold = ({ end }: Claim): boolean => !end || end.outcome === 'deleted'

/** A claim that does not move keeps its task, and of two that would get one task neither moves. */
function withoutClashes(moves: Map<number, Text>, claims: readonly Claim[]): void {
  for (let before = -1; before !== moves.size; ) {
    before = moves.size
    const stay = claims.filter(({ generation }) => !moves.has(generation))
    const taken = new Set(stay.filter(mayHold).map(({ task }) => task))
    const targets = Map.groupBy(moves.values(), ({ id }) => id)
    for (const [generation, { id }] of moves) {
      if (taken.has(id) || (targets.get(id)?.length ?? 0) > 1) moves.delete(generation)
    }
  }
}
