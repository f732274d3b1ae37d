// What a task is for a lead: one state, the first that fits. The edge's filters and the page's
// counts share it. Pure. Silence comes with time alone, and nobody is sent a message about it.

import { durationMs } from '../../shared/duration.ts'
import type { LightTask, Session } from '../wire.ts'
import { closedAt, closingMarks, isClosedInMain } from './closed-in.ts'

/** In order of urgency. */
export const TASK_STATES = ['stalled', 'silent', 'work', 'review', 'ready'] as const

/**
 * `stalled`: its claim expired, or its session is stale. `silent`: somebody works on it, and shows
 * no sign of it. `review`: done in a tree, or as its holder says, and open in the main tree.
 */
export type TaskState = (typeof TASK_STATES)[number]

/** `since`: in ms; for whom works the beginning, for whom is silent the last sign. */
export interface CurrentState {
  state: TaskState
  since?: number
}

/** A work session, claims included. */
export type Work = Pick<Session, 'id' | 'health' | 'startedAt' | 'activeAt' | 'claim'>

/** In ms. */
export const SILENT_AFTER_MS = 20 * 60_000

/** The variable `SILENT_AFTER`, in ms. Undefined: it is no time. */
export function readSilentAfter(text: unknown): number | undefined {
  if (text === undefined || text === '') return SILENT_AFTER_MS
  return typeof text === 'string' ? durationMs(text.trim()) : undefined
}

/** In ms. */
export interface Moment {
  now: number
  silentAfterMs: number
}

interface Facts extends Moment {
  isClosed(status: string): boolean
  /** It is one of `readyTasks` of free-tasks.ts. */
  isReady: boolean
}

/** Undefined: it is closed, waits, or nobody need look at it. `work`: of this task alone. */
export function stateOf(
  task: LightTask,
  work: readonly Work[],
  facts: Facts,
): CurrentState | undefined {
  if (isClosedInMain(task, facts.isClosed)) return undefined
  return (
    workOn(task, work, facts) ??
    reviewOf(task, facts.isClosed) ??
    (facts.isReady ? { state: 'ready' } : undefined)
  )
}

/** Whether a filter or a count of `of` has it: a silent agent is at work, too. */
export const isCountedAs = (of: string, state: TaskState | undefined): boolean =>
  state === of || (state === 'silent' && of === 'work')

/** Those that have not ended. */
export const workByTask = (sessions: Iterable<Session>): Map<string, Session[]> =>
  Map.groupBy([...sessions].filter(isOpen), ({ task }) => task)

/** When somebody last showed that they work, in ms. */
const activeAtOf = ({ activeAt, startedAt }: Work): number => Date.parse(activeAt ?? startedAt) || 0

/** It runs, and shows no sign of it. */
export const isSilent = (work: Work, { now, silentAfterMs }: Moment): boolean =>
  work.health === 'active' && activeAtOf(work) < now - silentAfterMs

const isOpen = ({ health }: Work): boolean => health === 'active' || health === 'stalled'

function workOn(task: LightTask, work: readonly Work[], moment: Moment): CurrentState | undefined {
  // Of an earlier attempt a session may be stale for ever.
  const own = work.filter((it) => isOpen(it) && (it.claim || it.id === task.sessionId))
  if (own.length === 0) return workByRow(task)
  const running = own.filter(({ health }) => health === 'active')
  const stalled = own.filter(({ health }) => health === 'stalled')
  if (stalled.length > 0 && !running.some(({ claim }) => claim)) {
    return { state: 'stalled', since: Math.max(...stalled.map(stalledAt)) }
  }
  if (running.every((it) => isSilent(it, moment))) {
    return { state: 'silent', since: Math.max(...running.map(activeAtOf)) }
  }
  return { state: 'work', since: Math.min(...running.map(({ startedAt }) => timeOf(startedAt))) }
}

/** By its row alone, where no sessions were read. It does not show who is silent. */
function workByRow({ executionState }: LightTask): CurrentState | undefined {
  if (executionState === 'stalled') return { state: 'stalled' }
  return executionState === 'active' ? { state: 'work' } : undefined
}

const stalledAt = (work: Work): number =>
  work.claim ? timeOf(work.claim.expiresAt) : activeAtOf(work)

/** Whether somebody has to look at it, also while it is worked on. */
export const isInReview = (task: LightTask, isClosed: Facts['isClosed']): boolean =>
  reviewOf(task, isClosed) !== undefined

/** What a person has to look at before it is merged; what the main tree deleted, nobody has to. */
function reviewOf(task: LightTask, isClosed: Facts['isClosed']): CurrentState | undefined {
  const { done, deletedInMain } = task
  if (deletedInMain || isClosedInMain(task, isClosed)) return undefined
  const closed = closingMarks(task, isClosed)
  if (!done && closed.length === 0) return undefined
  const times = done ? [done.at] : closed.map((mark) => closedAt(task, mark))
  const known = times.flatMap((time) => timeOf(time) || [])
  return { state: 'review', ...(known.length > 0 && { since: Math.min(...known) }) }
}

const timeOf = (text = ''): number => Date.parse(text) || 0
