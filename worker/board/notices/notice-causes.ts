// What people are notified of: which causes hold on a board now. Pure. Which are news is decided
// in notice-turn.ts.

import type { NoticeCause } from '../../shared/notice-rules.ts'
import { shortText } from '../activity/task-news.ts'
import { isFinished } from '../claims/claim-ends.ts'
import type { Claim } from '../claims/claim-store-sqlite.ts'
import { isClosedInMain } from '../tasks/closed-in.ts'
import { readyTasks } from '../tasks/free-tasks.ts'
import { type CurrentState, stateOf, workByTask } from '../tasks/task-state.ts'
import { statusesOf } from '../tasks/to-do.ts'
import type { BoardConfig, Session, Task } from '../wire.ts'

/** `since`: when it began, in ms; absent: nothing says it. */
export interface Cause {
  on: NoticeCause
  /** Among those of one rule. */
  key: string
  since?: number
  /** Files say when it was, and may be saved again. */
  isVague?: true
  task?: string
  title?: string
  actor?: string
  /** How many tasks are ready. */
  ready?: number
}

export interface NoticeFacts {
  /** As lists show them: all, or at least those that somebody works on, if `readsAll` is false. */
  tasks: ReadonlyMap<string, Task>
  config: BoardConfig | undefined
  /** Those that have not ended. */
  sessions: readonly Session[]
  /** Claims that ended lately. */
  ended: readonly Claim[]
  /** Of the sidecar. Absent: it is there, or ended in order. */
  offlineSince?: number | undefined
  /** Nothing is handed out. */
  isPaused: boolean
  now: number
}

/** Whether a rule needs to see all tasks of the board. */
export const readsAll = (on: NoticeCause): boolean =>
  on === 'ready' || on === 'blocked' || on === 'review' || on === 'parent_done'

/** What is so when a rule comes to be was so before, and happened to somebody else. */
export const isOfThePast = (on: NoticeCause): boolean =>
  on === 'parent_done' || on === 'claim_taken'

export function causesOf(on: NoticeCause, facts: NoticeFacts): Cause[] {
  switch (on) {
    case 'stalled':
    case 'review':
      return inState(on, facts, facts.now)
    case 'silent':
      // With the last sign of each: how long ago is too long is the rule's to say.
      return inState(on, facts, facts.now + 1)
    case 'ready':
      return unattended(facts)
    case 'blocked':
      return waiting(facts)
    case 'parent_done':
      return doneParents(facts)
    case 'offline': {
      const { offlineSince: since } = facts
      return since === undefined ? [] : [{ on, key: on, since }]
    }
    case 'claim_taken':
      return taken(facts)
  }
}

const named = ({ id, title }: Pick<Task, 'id' | 'title'>) => ({ task: id, title: shortText(title) })

function inState(on: CurrentState['state'] & NoticeCause, facts: NoticeFacts, now: number) {
  const { isClosed } = statusesOf(facts.config)
  const workOf = workByTask(facts.sessions)
  return [...facts.tasks.values()].flatMap((task): Cause[] => {
    const work = workOf.get(task.id) ?? []
    const moment = { now, silentAfterMs: 0, isClosed, isReady: false }
    const found = stateOf(task, work, moment)
    if (found?.state !== on) return []
    const { since } = found
    const actor = on === 'review' ? task.done?.by : work.at(-1)?.actor
    return [
      {
        on,
        key: task.id,
        ...(since !== undefined && { since }),
        ...(on === 'review' && { isVague: true as const }),
        ...named(task),
        ...(actor !== undefined && { actor }),
      },
    ]
  })
}

/** There is something to do, and nobody works. */
function unattended({ tasks, config, sessions, isPaused }: NoticeFacts): Cause[] {
  if (isPaused || sessions.some(({ health }) => health === 'active')) return []
  const ready = readyTasks(tasks, config)
  const next = ready.next(ready.tasks)
  return next ? [{ on: 'ready', key: 'ready', ready: ready.tasks.length, ...named(next) }] : []
}

/** In a word of the tool's own. */
const BLOCKED = /\bblocked\b/i

/** It says so, or waits for others, as the page shows it. */
function waiting({ tasks, config }: NoticeFacts): Cause[] {
  const { isClosed } = statusesOf(config)
  const isOpen = (id: string) => {
    const dep = tasks.get(id)
    return !dep || !isClosedInMain(dep, isClosed)
  }
  return [...tasks.values()].flatMap((task): Cause[] => {
    const { status, ready, deps = [], invalid, executionState, folder } = task
    if (isClosed(status) || invalid !== undefined || folder !== undefined) return []
    const waits = !ready && executionState === undefined && deps.some(isOpen)
    return waits || BLOCKED.test(status) ? [{ on: 'blocked', key: task.id, ...named(task) }] : []
  })
}

/** Those of which every part is closed, but what need not be done. */
function doneParents({ tasks, config }: NoticeFacts): Cause[] {
  const { isClosed } = statusesOf(config)
  const isDone = new Map<string, boolean>()
  for (const task of tasks.values()) {
    const { parent, partOf = parent, optional, folder } = task
    const closes = isClosedInMain(task, isClosed)
    // A draft is no part yet.
    if (partOf === undefined || optional || (folder !== undefined && !closes)) continue
    isDone.set(partOf, closes && isDone.get(partOf) !== false)
  }
  return [...isDone].flatMap(([id, done]): Cause[] => {
    const whole = tasks.get(id)
    if (!done) return []
    return [{ on: 'parent_done', key: id, ...(whole ? named(whole) : { task: shortText(id) }) }]
  })
}

/** Somebody else ended it, or took the task after its end; that it is done is no loss. */
function taken({ ended }: NoticeFacts): Cause[] {
  return ended.flatMap(({ task, title, actor, generation, end }): Cause[] => {
    const isTaken = end?.outcome === 'replaced' || (end?.byOther && !isFinished(end.outcome))
    if (!end || !isTaken) return []
    const about = { ...named({ id: task, title }), actor, since: end.at }
    return [{ on: 'claim_taken', key: String(generation), ...about }]
  })
}
