// Where a task is closed: in the main tree, and in which of the linked worktrees. Pure.

import type { LightTask, Task } from '../wire.ts'

type IsClosed = (status: string) => boolean

export const isClosedInMain = (
  { inMain, status }: Pick<Task, 'inMain' | 'status'>,
  isClosed: IsClosed,
): boolean => inMain !== false && isClosed(status)

/** Whether this linked worktree has closed it. */
export const isClosedInTree = (
  task: Pick<LightTask, 'trees'> | undefined,
  name: string | undefined,
  isClosed: IsClosed,
): boolean =>
  name !== undefined &&
  task?.trees?.some((mark) => mark.tree === name && hasClosed(mark, isClosed)) === true

/** The marks of the linked worktrees that closed it. */
export const closingMarks = <Mark extends { status?: string }>(
  { trees = [] }: { trees?: readonly Mark[] },
  isClosed: IsClosed,
): Mark[] => trees.filter((mark) => hasClosed(mark, isClosed))

const hasClosed = ({ status }: { status?: string }, isClosed: IsClosed): boolean =>
  status !== undefined && isClosed(status)

/** When a tree closed it. Undefined: its copy is dated as the main tree's, and does not say it. */
export const closedAt = (
  { inMain, updatedAt }: Pick<Task, 'inMain' | 'updatedAt'>,
  mark: Pick<Task, 'updatedAt'>,
): string | undefined =>
  inMain !== false && mark.updatedAt === updatedAt ? undefined : mark.updatedAt
