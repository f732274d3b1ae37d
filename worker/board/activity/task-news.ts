// What a publication adds to the history of a task: where it differs from what was last recorded.
// Pure.

import { closingMarks, isClosedInMain } from '../tasks/closed-in.ts'
import { isInReview } from '../tasks/task-state.ts'
import type { LightTask, Task } from '../wire.ts'
import type { Changes, Entry } from './activity-rows.ts'
import type { Recorded } from './recorded-sqlite.ts'

/** A task as it is stored until now. */
export type Before = LightTask & Pick<Task, 'checks'>

type News = Pick<Entry, 'kind' | 'title' | 'tree' | 'changes'>

/** Of a text, and of a list: one row must not hold a whole file. */
const MAX_CHARS = 500
const MAX_ITEMS = 50

export const shortText = (text: string): string => text.slice(0, MAX_CHARS).toWellFormed()
const shortList = (texts: readonly string[]): string[] =>
  texts.slice(0, MAX_ITEMS).map((text) => shortText(text))

/** What is recorded of a task from now on. */
export function recordOf({ status, title, inMain, trees }: LightTask): Recorded {
  const mark =
    inMain === false ? (trees?.find((it) => it.status === status) ?? trees?.[0]) : undefined
  return { status: shortText(status), title: shortText(title), tree: mark?.tree ?? null }
}

/**
 * The main tree counts. What only linked worktrees have is recorded with one of them, as `tree`,
 * and what leaves the main tree is deleted, also while a worktree has a copy. `last`: undefined if
 * it was not there. Returns undefined if nothing changed.
 */
export function newsOf(
  last: Recorded | undefined,
  before: Before | undefined,
  task: Task,
  isClosed: (status: string) => boolean,
): News | undefined {
  // An unreadable file has no status: what was recorded stays.
  if (last && task.invalid !== undefined && task.status === '') return undefined
  const now = recordOf(task)
  const { status, title, tree } = now
  const where = tree !== null && { tree }
  const isNew = !last || (last.tree !== null && tree === null)
  if (isNew) {
    const from = last && last.status !== status ? last.status : null
    return { kind: 'created', title, ...where, changes: { status: [from, status] } }
  }
  if (last.tree === null && tree !== null) return deletedNews(last, isClosed)
  const changes: Changes = {}
  if (last.status !== status) changes.status = [last.status, status]
  if (last.title !== title) changes.title = [last.title, title]
  if (changes.status || changes.title) changes.closed = [isClosed(last.status), isClosed(status)]
  Object.assign(changes, before && furtherChanges(before, task))
  const kind = (['status', 'title', 'assignee', 'deps', 'checks'] as const).find(
    (name) => changes[name],
  )
  return kind && { kind, title, ...where, changes }
}

/** A worktree has finished it, or the main tree has what one had finished. */
export function reviewNews(
  before: Before,
  task: Task,
  isClosed: (status: string) => boolean,
): Pick<News, 'kind' | 'title' | 'tree'> | undefined {
  if (!before.done && !before.trees && !task.trees) return undefined
  const { done } = before
  const was = isInReview(before, isClosed)
  const is = isInReview({ ...task, ...(done && { done }) }, isClosed)
  const isMerged = was && isClosedInMain(task, isClosed)
  if (!isMerged && (was || !is)) return undefined
  const tree = closingMarks(isMerged ? before : task, isClosed)[0]?.tree
  const kind = isMerged ? 'merged' : 'review'
  return { kind, title: shortText(task.title), ...(tree !== undefined && { tree }) }
}

/** Of a deleted task. */
export const deletedNews = (
  { status, title, tree }: Recorded,
  isClosed: (status: string) => boolean,
): News => ({
  kind: 'deleted',
  title,
  ...(tree !== null && { tree }),
  changes: { status: [status, null], closed: [isClosed(status), null] },
})

function furtherChanges(before: Before, task: Task): Changes {
  const changes: Changes = {}
  const [had, has] = [assigneesOf(before), assigneesOf(task)]
  if (had !== has) changes.assignee = [had, has]
  const lists = { deps: [before.deps ?? [], task.deps ?? []], checks: checksOf(before, task) }
  for (const [name, [old = [], now = []]] of Object.entries(lists)) {
    if (!isSameSet(old, now)) changes[name] = [shortList(old), shortList(now)]
  }
  return changes
}

const isSameSet = (one: readonly string[], other: readonly string[]): boolean =>
  one.every((it) => other.includes(it)) && other.every((it) => one.includes(it))

const assigneesOf = ({ assignee, assignees }: Pick<Task, 'assignee' | 'assignees'>) => {
  const all = assignees?.join(', ') ?? assignee
  return all === undefined ? null : shortText(all)
}

/** Those that differ. */
function checksOf(before: Before, task: Task): string[][] {
  const [had = [], has = []] = [before, task].map(({ checks = [] }) =>
    checks.map(({ desc, result }) => `${desc}: ${result ?? 'open'}`),
  )
  return [had.filter((it) => !has.includes(it)), has.filter((it) => !had.includes(it))]
}
