// The state of the open task. Pure. The last version stays shown, also when a fetch fails or the
// task was deleted.

import type { TaskDetail } from '../../../client/index.ts'

export type TaskState =
  | { name: 'loading' }
  | { name: 'shown'; task: TaskDetail; isGone: boolean; problem?: string }
  | { name: 'unknown' }
  | { name: 'failed'; problem: string }

export type Answer =
  /** Undefined: there is no such task. */
  { task: TaskDetail | undefined } | { problem: string }

export function answered(before: TaskState, answer: Answer): TaskState {
  if ('problem' in answer) {
    if (before.name === 'shown') return { ...before, problem: answer.problem }
    return { name: 'failed', problem: answer.problem }
  }
  if (answer.task) return { name: 'shown', task: answer.task, isGone: false }
  if (before.name === 'shown') return { name: 'shown', task: before.task, isGone: true }
  return { name: 'unknown' }
}
