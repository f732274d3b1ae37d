// Which task a claim gets, or why it gets none. Pure: what is known of the board comes in.

import type { Claim } from './claim-store-sqlite.ts'
import type { StoredTask } from './columns-sqlite.ts'
import { nextOf } from './next-task.ts'
import { canBegin, toDoIn } from './to-do.ts'
import type { BoardConfig } from './wire.ts'

/** What is asked for. */
export interface Wish {
  actor: string
  task?: string
  label?: string
  parent?: string
  assignee?: string
  tree?: string
  force: boolean
}

export type NotChosen =
  | { reason: 'not_found' | 'nothing_ready' | 'closed' | 'not_ready' }
  | { reason: 'claimed'; by: string; since: number; expiresAt: number }

/** What a choice depends on. `now` in ms. */
export interface Known {
  config: BoardConfig | undefined
  /** By the task: who holds it, or may get it back. */
  holders: ReadonlyMap<string, Claim>
  now: number
}

/** The task passes the filters of what is asked for. */
export const isAskedFor = (
  { label, parent }: Wish,
  task: Pick<StoredTask, 'labels' | 'parent'>,
): boolean =>
  (label === undefined || task.labels?.includes(label) === true) &&
  (parent === undefined || task.parent === parent)

/** After a release as done, the file may come later than the release. */
const DONE_MS = 60_000

/** `last`: its last claim. */
export function chooseNamed(
  wish: Wish,
  id: string,
  task: StoredTask | undefined,
  last: Claim | undefined,
  known: Known,
): StoredTask | NotChosen {
  const holder = known.holders.get(id)
  if (holder) {
    const { actor: by, startedAt: since, expiresAt } = holder
    return { reason: 'claimed', by, since, expiresAt }
  }
  if (!task) return { reason: 'not_found' }
  if (known.config?.closed.includes(task.status)) return { reason: 'closed' }
  return wish.force || isFreeFor(wish, known)(task, last) ? task : { reason: 'not_ready' }
}

/** `last`: the last claim of each task that has had one. */
export function chooseNext(
  wish: Wish,
  ready: readonly StoredTask[],
  last: ReadonlyMap<string, Claim>,
  known: Known,
): StoredTask | NotChosen {
  const isFree = isFreeFor(wish, known)
  const free = ready
    .filter((task) => isAskedFor(wish, task))
    .filter((task) => !known.holders.has(task.id) && isFree(task, last.get(task.id)))
  return nextOf(free) ?? { reason: 'nothing_ready' }
}

function isFreeFor({ actor, assignee, tree }: Wish, { config, now }: Known) {
  const isToDo = toDoIn(config)
  return (task: StoredTask, last: Claim | undefined): boolean => {
    const { assignees = task.assignee === undefined ? [] : [task.assignee] } = task
    const isOurs = assignees.length === 0 || assignees.some((it) => it === actor || it === assignee)
    const canStart = isBegunBefore(task, last) ? yes : isToDo
    return isOurs && isOffered(task, last, now) && canBegin(task, canStart, tree)
  }
}

const yes = () => true

/** What was left says begun, and nobody has begun it since. Of what was away, it says anything. */
function isBegunBefore({ status }: StoredTask, last: Claim | undefined): boolean {
  if (!last) return false
  const { end } = last
  if (end === undefined) return true
  const isLeft = end.outcome === 'abandoned' || end.outcome === 'deleted'
  return isLeft && (end.status === undefined || end.status === status)
}

/** What was done is not offered until its file says otherwise, or says nothing for a while. */
function isOffered({ fileHash }: StoredTask, last: Claim | undefined, now: number): boolean {
  const { outcome, at, file: then } = last?.end ?? {}
  return outcome !== 'done' || fileHash !== then || now - (at ?? 0) >= DONE_MS
}
