// What a wait is for, and whether it is so: the same rules for a running Signalbox and for files.

import type { Config } from '../../worker/board/tasks/free-tasks.ts'
import { nextOf } from '../../worker/board/tasks/next-task.ts'
import { stateOf } from '../../worker/board/tasks/task-state.ts'
import { statusesOf } from '../../worker/board/tasks/to-do.ts'
import type { Task } from '../../worker/board/wire.ts'
import { foldStatus } from '../../worker/shared/status.ts'
import type { Changed, Step, WatchedBoard } from '../board/watched-board.ts'
import { isUnassigned, ReadyRows } from './ready-rows.ts'

/** A text: the status to wait for. */
export type Until = { kind: 'any' | 'ready' | 'review' } | { kind: 'status'; status: string }

export interface Wait {
  task: string | undefined
  until: Until
  since: string | undefined
}

export interface Outcome {
  id: string
  type: 'task-changed' | 'tasks-changed' | 'ready' | 'review' | 'status'
  task?: string | undefined
  row?: Task | undefined
}

/** Resolves when it has happened. `onCursor` gets each place up to which it had not. */
export async function waitFor(
  board: WatchedBoard,
  wait: Wait,
  onCursor: (id: string) => void,
): Promise<Outcome> {
  const look = wait.until.kind === 'any' ? await changes(board, wait) : conditions(board, wait)
  for await (const step of board.steps) {
    const outcome = await look(step)
    if (outcome) return outcome
    onCursor(step.id)
  }
  throw new Error('The board is watched no longer.')
}

/** Whether it is so after this step. Gets each, in order. */
type Look = (step: Step) => Promise<Outcome | undefined>

async function changes(board: WatchedBoard, { task, since }: Wait): Promise<Look> {
  /** Undefined: not known, for a place in the past. */
  let about = since === undefined ? JSON.stringify(await board.about()) : undefined

  /** The sidecar left or is back: no task changed, and the board is the same. */
  async function bringsNothing(place: string | undefined): Promise<boolean> {
    const { ids } = (await board.changedAfter(place)).value
    const was = about
    about = JSON.stringify(await board.about())
    return ids?.size === 0 && about === was
  }

  async function named(id: string): Promise<Pick<Outcome, 'task' | 'row'>> {
    return { task: id, row: (await board.task(id)).value }
  }

  async function look({ id, changed }: Step, place: string | undefined) {
    if (!changed) return undefined
    const isNamed = changed.task !== undefined && (task ?? changed.task) === changed.task
    if (isNamed) return { id, type: 'task-changed', ...(await named(changed.task ?? '')) } as const
    if (task === undefined) {
      return (await bringsNothing(place)) ? undefined : ({ id, type: 'tasks-changed' } as const)
    }
    if (changed.task !== undefined) return undefined
    const after = await board.changedAfter(place)
    if (after.value.ids && !after.value.ids.has(task)) return undefined
    const type = after.value.ids ? 'task-changed' : 'tasks-changed'
    return { id: after.id ?? id, type, ...(await named(task)) } as const
  }

  let place = since
  return async (step) => {
    const before = place
    place = step.id
    return await look(step, before)
  }
}

/** Also what was so before anything changed. */
function conditions(board: WatchedBoard, { task, until, since }: Wait): Look {
  let checked = since
  let isFirst = true
  let all: ReadyRows | undefined
  // The end of a session makes a task free, or one to review, and changes none.
  const isFreed = until.kind === 'ready' && task === undefined
  const type = until.kind === 'any' ? 'ready' : until.kind

  async function readyAfter(changed: Changed): Promise<{ found: Task[]; next?: Task }> {
    if (!all && changed.ids) {
      const whole = await board.changedAfter(undefined)
      all = new ReadyRows(whole.value.rows)
    }
    all ??= new ReadyRows(changed.rows)
    return all.after(changed, (await board.about()).config)
  }

  return async ({ id, changed }) => {
    const isPassed = !changed && !isFirst && !isFreed && until.kind !== 'review'
    isFirst = false
    if (isPassed) return undefined
    const { config } = until.kind === 'review' ? await board.about() : {}
    const isSo = (row: Task) => isWhat(row, until, config)
    if (task !== undefined) {
      const { id: seen, value: row } = await board.task(task)
      return row && isSo(row) ? { id: seen ?? id, type, task, row } : undefined
    }
    const after = await board.changedAfter(checked)
    const { found, next: row } = isFreed
      ? await readyAfter(after.value)
      : nextAmong(after.value.rows.filter(isSo))
    // A chain of waits goes on behind all of them: to name one would hide the others.
    const isHidingSome = checked !== undefined && found.length > 1
    checked = after.id ?? id
    if (!row) return undefined
    return { id: checked, type, ...(!isHidingSome && { task: row.id, row }) }
  }
}

function nextAmong(found: Task[]): { found: Task[]; next?: Task } {
  const order = { config: undefined, isBusy: () => false }
  const next = nextOf(found.filter(isUnassigned), order) ?? nextOf(found, order)
  return { found, ...(next && { next }) }
}

/** Agents spell a status as they heard it. A named task may be the agent's own, and begun. */
function isWhat(task: Task, until: Until, config: Config | undefined): boolean {
  if (until.kind === 'status') return isSame(task.status, until.status)
  if (until.kind !== 'review') return task.ready
  const { isClosed } = statusesOf(config)
  // That somebody works on it is in its row; how silently does not count.
  const facts = { isClosed, isReady: false, now: 0, silentAfterMs: 0 }
  return stateOf(task, [], facts)?.state === 'review'
}

const isSame = (one: string, other: string): boolean => foldStatus(one) === foldStatus(other)

/** A sentence about what may be misspelt or gone. It may appear yet, so the wait goes on. */
export async function doubtAbout(
  board: WatchedBoard,
  { task, until }: Wait,
): Promise<string | undefined> {
  const { isGone, config } = await board.about()
  if (isGone) return 'The folder of the board is gone; this is what was last in it.'
  if (task !== undefined && (await board.task(task)).value === undefined) {
    return `There is no task ${task} yet; waiting for it.`
  }
  if (until.kind !== 'status') return undefined
  const isMeant = (status: string) => isSame(status, until.status)
  const { states = [], closed = [] } = config ?? {}
  if ([...states, ...closed].some(isMeant)) return undefined
  const { rows } = (await board.changedAfter(undefined)).value
  const known = new Set([...states, ...closed, ...rows.map(({ status }) => status)])
  if ([...known].some(isMeant)) return undefined
  const others = [...known].join(', ') || 'no other'
  return `The board has no status ${until.status} yet, but ${others}; waiting for it.`
}
