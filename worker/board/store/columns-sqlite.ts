// The columns of a repository's tables: what is stored of a record, and what lists filter by.

import type { SqlValue } from '../../shared/sql.ts'
import { LEFT_OUT } from '../records.ts'
import type { DataRecord, LightTask, Task } from '../wire.ts'
import type { SessionFilter, TaskFilter } from './board-rows.ts'

/** What is stored of a task besides its long texts; the fields are those that were published. */
export type StoredTask = LightTask & {
  fileHash: string
  /** Of the main tree's file alone. */
  copyHash: string
}

/** Laid over a task by a claim: while it holds, or after it was released as done. */
export type Overlay =
  | Required<Pick<Task, 'activeAttempt' | 'executionState' | 'sessionId'>>
  | Required<Pick<Task, 'done'>>

/** Others have none of the states of task-state.ts, which decides. */
const BEGUN = '(in_trees = 1 OR published IS NOT NULL OR execution IS NOT NULL)'

/** One for each filter of `tasksQuery`; a new one does not compile without its condition here. */
export const TASK_CONDITIONS = {
  status: 'status = ?',
  assignee: "? IN (SELECT assignee UNION ALL SELECT value FROM json_each(light, '$.assignees'))",
  ready: 'ready = ?',
  execution: 'execution = ?',
  label: "EXISTS (SELECT 1 FROM json_each(light, '$.labels') WHERE value = ?)",
  folder: "ifnull(json_extract(light, '$.folder'), 'none') = ?",
  tree: "? IN (SELECT json_extract(value, '$.tree') FROM json_each(light, '$.trees'))",
  review: `? IS NOT NULL AND ${BEGUN}`,
  work: `? IS NOT NULL AND ${BEGUN}`,
} satisfies Record<keyof TaskFilter, string>

export const SESSION_CONDITIONS = {
  task: 'task = ?',
  actor: 'actor = ?',
  status: 'status = ?',
  health: 'health = ?',
  tree: "json_extract(json, '$.tree') = ?",
} satisfies Record<keyof SessionFilter, string>

/** A running session of a file counts, and not the claim that is held. */
export function covered(published: string, overlay: Overlay | undefined) {
  const task = JSON.parse(published) as StoredTask
  const { executionState = null } = task
  const isHeld = overlay !== undefined && 'executionState' in overlay
  const isRunning = executionState === 'active' || executionState === 'stalled'
  if (!overlay || (isHeld && isRunning)) {
    return { light: published, published: null, execution: executionState }
  }
  const light = JSON.stringify({ ...task, ...overlay })
  return { light, published, execution: isHeld ? overlay.executionState : executionState }
}

/** JSON has no field that is undefined. */
const NO_LONG_TEXTS = Object.fromEntries(LEFT_OUT.map((name) => [name, undefined]))

/** The columns that only the table of its kind has: what lists filter by, and what they show. */
export function columnsOf(record: DataRecord, seq: number): Record<string, SqlValue> {
  switch (record.kind) {
    case 'task': {
      const { task } = record
      const { status, assignee, ready, executionState, invalid, parent, partOf, trees } = task
      return {
        file_hash: record.file,
        copy_hash: record.copy ?? null,
        status,
        assignee: assignee ?? null,
        ready: Number(ready),
        parent: parent ?? null,
        part_of: partOf ?? null,
        in_trees: Number(trees !== undefined),
        execution: executionState ?? null,
        invalid: Number(invalid !== undefined),
        seq,
        published: null,
        light: JSON.stringify({ ...task, ...NO_LONG_TEXTS }),
        rest: JSON.stringify(Object.fromEntries(LEFT_OUT.map((name) => [name, task[name]]))),
      }
    }
    case 'session': {
      const { task, actor, status, health, startedAt } = record.session
      const started_at = Date.parse(startedAt) || 0
      return { task, actor, status, health, started_at, seq, json: JSON.stringify(record.session) }
    }
    case 'run': {
      const at = Date.parse(record.run.at ?? '') || 0
      return { task: record.task, at, json: JSON.stringify(record.run) }
    }
    case 'board':
      return { json: JSON.stringify(record.board) }
  }
}
