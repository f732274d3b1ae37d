// Which tasks can begin: the same rule for the page's Ready and for an agent that waits for work.
// Pure. The edge's `ready` does not say it: it stays true of a task that somebody has begun.

import type { BoardConfig, Task } from './wire.ts'

/** Those that say so, in words of their own: they count without a configuration, too. */
const TO_DO =
  /^(to[ _-]?do|open|next|ready([ _-]for[ _-]dev)?|planned|pending|queued|backlog|selected)$/i

/** Whether work with this status has not begun. */
export type IsToDo = (status: string) => boolean

/** Also those up to the first state of a new task. */
export function toDoIn(config: Pick<BoardConfig, 'states' | 'initial'> | undefined): IsToDo {
  const { states, initial = states[0] } = config ?? { states: [] }
  const first = new Set(states.slice(0, states.indexOf(initial ?? '') + 1))
  return (status) => first.has(status) || TO_DO.test(status)
}

/** It can begin, and nobody has begun it, in no linked worktree but `own`. */
export const canBegin = (task: Task, isToDo: IsToDo, own?: string): boolean =>
  task.ready && !isWorkedOn(task) && isToDo(task.status) && !isBegunInTree(task, isToDo, own)

const isBegunInTree = ({ trees = [] }: Task, isToDo: IsToDo, own: string | undefined): boolean =>
  trees.some(
    ({ tree, status, invalid }) =>
      tree !== own && (invalid === true || (status !== undefined && !isToDo(status))),
  )

/** A claim that has expired holds nothing. */
const isWorkedOn = ({ executionState, activeAttempt }: Task): boolean =>
  executionState !== undefined &&
  !(executionState === 'stalled' && activeAttempt?.startsWith('claim-'))
