// The state of the open task, and the colours of its checks. Pure.

import type { TaskDetail } from '../../../libraries/client/index.ts'

/** The last version stays shown, also when a fetch fails or the task was deleted. */
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

export type ResultColor = 'go' | 'stop' | 'soft'

const GOOD = /^(pass(ed)?|ok|success|succeeded|done|true|green)$/i
const BAD = /^(fail(ed|ure)?|error|errored|timed?[ _-]?out|false|red)$/i

/** Boards use words of their own. An unknown result is neither good nor bad. */
export function colorOf(result: string | undefined): ResultColor {
  if (result === undefined) return 'soft'
  if (GOOD.test(result)) return 'go'
  return BAD.test(result) ? 'stop' : 'soft'
}
