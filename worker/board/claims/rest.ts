// What was released as done is offered to nobody until a copy of it says that it is open again: its
// worktree may be gone long before the work is merged. Pure.

import type { Task } from '../wire.ts'

/** A task, and the hashes of all of its copies and of the main tree's. */
type Copied = Pick<Task, 'status' | 'inMain' | 'trees'> & { fileHash: string; copyHash: string }

type Mark = NonNullable<Task['trees']>[number]

/** So long at most. */
const REST_MS = 86_400_000
/** While git checks out a branch, what is published may look so for a moment. */
const CHECKOUT_MS = 5_000

/** The copies of a task as they were last seen. Empty: it was away. */
export interface Rest {
  /** The main tree's when it was released, or first seen there: that text reopens nothing. */
  from?: string
  file?: string
  /** Of the main tree. */
  copy?: string
  /** The marks of its linked worktrees, as JSON. */
  trees?: Readonly<Record<string, string>>
  /** Since then a copy has changed and is open, in ms. */
  openAt?: number
}

/** `began`: the main tree's copy when the claim began, in case it has none at the release. */
export function restOf(task: Copied | undefined, began: string | undefined): Rest {
  const from = task && task.inMain !== false ? task.copyHash : began
  return { ...(from !== undefined && { from }), ...seenOf(task) }
}

/** When its task may be offered again, in ms. */
export const restsUntil = (at: number, { openAt }: Rest): number =>
  openAt === undefined ? at + REST_MS : Math.min(openAt + CHECKOUT_MS, at + REST_MS)

/** What is seen now. */
export function seenOf(task: Copied | undefined): Omit<Rest, 'from' | 'openAt'> {
  if (!task) return {}
  const marks = (task.trees ?? []).map((mark) => [mark.tree, JSON.stringify(mark)])
  return {
    file: task.fileHash,
    copy: task.copyHash,
    trees: Object.fromEntries(marks),
  }
}

/**
 * A copy changed, and is open there. A copy that was deleted does not count. Nor does the main
 * tree’s text from before the work: it is back where somebody checks out an older branch.
 */
export function isReopened(
  { from, file, copy, trees = {} }: Rest,
  task: Copied,
  isClosed: (status: string) => boolean,
): boolean {
  if (file === undefined || file === task.fileHash) return false
  const inMain = copy !== task.copyHash && task.inMain !== false
  if (inMain && from !== undefined && task.copyHash !== from && !isClosed(task.status)) return true
  const { trees: marks = [] } = task
  const others = marks.filter((mark) => trees[mark.tree] !== JSON.stringify(mark))
  const isSame = !inMain && others.length === 0 && marks.length === Object.keys(trees).length
  const changed = others.filter((mark) => copyOf(mark) !== copyOf(trees[mark.tree]))
  // What no mark shows has changed: the text below.
  return (isSame ? marks : changed).some(
    ({ status, gone }) => !gone && status !== undefined && !isClosed(status),
  )
}

/** On another branch, or in another folder, it is the same copy. */
function copyOf(mark: Mark | string | undefined): string | undefined {
  if (mark === undefined) return undefined
  const { branch: _, dir: __, ...copy } = typeof mark === 'string' ? JSON.parse(mark) : mark
  return JSON.stringify(copy)
}
