// Which task a claim gets, or why it gets none. Pure: what is known of the board comes in.

import type { BoardSettings, LimitRefusal } from '../../shared/board-settings.ts'
import type { StoredTask } from '../store/columns-sqlite.ts'
import { type Board, freeTasks, isOther, type OpenBoard, orderFor } from '../tasks/free-tasks.ts'
import { nextOf } from '../tasks/next-task.ts'
import { above } from '../tasks/parts.ts'
import { statusesOf } from '../tasks/to-do.ts'
import { type Claimer, type Past, type Why, whyNot } from '../tasks/why-not.ts'
import type { LightTask } from '../wire.ts'
import type { Claim } from './claim-store-sqlite.ts'

/** What is asked for. */
export interface Wish extends Claimer {
  actor: string
  task?: string
  label?: string
  parent?: string
  tag?: string
  force: boolean
}

export type NotChosen =
  | { reason: 'not_found' | 'nothing_ready' | 'closed' }
  | { reason: 'not_ready'; why: Why[] }
  | { reason: 'claimed'; task: string; by: string; since: number; expiresAt: number }
  | LimitRefusal

export interface Known {
  /** By the task: who holds it, or may get it back. Nobody else may take it. */
  holders: ReadonlyMap<string, Claim>
  /** In ms. */
  now: number
  settings: BoardSettings
}

/** The task passes the filters of what is asked for. */
export const isAskedFor = (
  { label, parent, tag }: Wish,
  task: Pick<LightTask, 'labels' | 'parent' | 'tag'>,
): boolean =>
  (label === undefined || task.labels?.includes(label) === true) &&
  (parent === undefined || task.parent === parent) &&
  (tag === undefined || task.tag === tag)

/** After a release as done, the file may come later than the release. */
const DONE_MS = 60_000
/** What an actor left is the last that it gets for so long. */
const LEFT_MS = 3_600_000

/** `last`: its last claim. */
export function chooseNamed(
  wish: Wish,
  id: string,
  board: Pick<Board<StoredTask>, 'config' | 'find'>,
  last: Claim | undefined,
  { holders, now, settings }: Known,
): StoredTask | NotChosen {
  const task = board.find(id)
  const holder = holders.get(id)
  if (holder) return claimed(id, holder)
  if (!task) return { reason: 'not_found' }
  const facts = { find: board.find, ...statusesOf(board.config) }
  if (facts.isClosed(task.status)) return { reason: 'closed' }
  const other = holderAround(task, wish, board.find, holders)
  if (other) return claimed(...other)
  const taken = settings.perParent && holderBeside(task, wish, board.find, holders)
  if (taken) return taken
  if (wish.force) return task
  const past = pastOf(task, last)
  const isDone = last?.end?.outcome === 'done' && now - last.end.at < DONE_MS
  const why = whyNot(task, wish, past.done && !isDone ? {} : past, facts)
  return why.length === 0 ? task : { reason: 'not_ready', why }
}

function claimed(task: string, { actor: by, startedAt: since, expiresAt }: Claim): NotChosen {
  return { reason: 'claimed', task, by, since, expiresAt }
}

/** Somebody else holds what the task is part of, or a part of it. */
function holderAround(
  task: StoredTask,
  wish: Wish,
  find: Board<StoredTask>['find'],
  holders: Known['holders'],
): [id: string, Claim] | undefined {
  const others = [...holders].filter(([, { actor }]) => isOther(actor, wish))
  if (others.length === 0) return undefined
  const wholes = new Set(above(task, find).map(({ id }) => id))
  return others.find(([id]) => {
    const held = wholes.has(id) ? undefined : find(id)
    return wholes.has(id) || (held && above(held, find).some((whole) => whole.id === task.id))
  })
}

/** Somebody else holds a task of the same parent. */
function holderBeside(
  { parent }: StoredTask,
  wish: Wish,
  find: Board<StoredTask>['find'],
  holders: Known['holders'],
): NotChosen | undefined {
  if (parent === undefined) return undefined
  for (const [task, { actor: by }] of holders) {
    if (isOther(by, wish) && find(task)?.parent === parent) {
      return { reason: 'parent_taken', parent, task, by }
    }
  }
  return undefined
}

/** `claims`: all that are kept, the oldest first. `fileHash`: of the task's file as it is now. */
export function chooseNext(
  wish: Wish,
  board: Omit<OpenBoard<LightTask>, 'holders'>,
  claims: readonly Claim[],
  { holders, now, settings }: Known,
  fileHash: (id: string) => string | undefined,
): LightTask | NotChosen {
  const { actor } = wish
  const last = new Map(claims.filter(({ end }) => !end?.isTaken).map((it) => [it.task, it]))
  const own = new Map(claims.filter((it) => it.actor === actor).map((it) => [it.task, it]))
  const actors = new Map([...holders].map(([id, claim]) => [id, claim.actor]))
  const held = { ...board, holders: actors }
  const order = orderFor(held, wish)
  const isTaken = ({ parent }: LightTask) =>
    settings.perParent && parent !== undefined && order.isBusy(parent)
  const free = freeTasks(held, wish, (task) => pastOf(task, last.get(task.id))).filter(
    (task) => isAskedFor(wish, task) && !isTaken(task),
  )
  const fresh = free.filter(({ id }) => {
    const claim = own.get(id)
    return !claim || !wasLeft(claim, now, () => fileHash(id))
  })
  const next = nextOf(fresh.length > 0 ? fresh : free, order)
  return next ?? { reason: 'nothing_ready' }
}

/** Its actor abandoned it, or let it expire, and nobody has changed the task since. */
function wasLeft(own: Claim, now: number, fileHash: () => string | undefined): boolean {
  const { end, expiresAt, expiredAs } = own
  const wasExpired = end === undefined || end.outcome === 'replaced'
  if (!wasExpired && end.outcome !== 'abandoned') return false
  const { at, file } = wasExpired ? { at: expiresAt, file: expiredAs } : end
  return now - at < LEFT_MS && (file === undefined || file === fileHash())
}

/**
 * What the last claim of a task says of it. Nobody holds the task. If it was away when that claim
 * ended, no status is known, and any counts as the same.
 */
function pastOf({ status }: LightTask, last: Claim | undefined): Past {
  if (!last) return {}
  const { end, tree } = last
  const in_ = tree === undefined ? {} : { tree }
  if (end?.rests) return { done: in_ }
  const isLeft = !end || end.outcome === 'abandoned' || end.outcome === 'deleted'
  const isSame = end?.status === undefined || end.status === status
  return isLeft && isSame ? { left: in_ } : {}
}
