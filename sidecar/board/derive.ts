// The rules for what follows from other files: whether a task is ready, whether a session is
// stalled. Pure functions of facts and `now`.

import type { Session, Task } from '../../worker/board/wire.ts'

export type Health = Session['health']

export interface SessionSigns {
  status: string
  startedAtMs: number
  /** When an agent last said that it runs; undefined: it never did. */
  heartbeatAtMs: number | undefined
}

/** First moment at which the session counts as stalled; undefined: it has ended and never will. */
export function staleAt(session: SessionSigns, staleAfterMs: number): number | undefined {
  if (session.status === 'finished' || session.status === 'canceled') return undefined
  return (session.heartbeatAtMs ?? session.startedAtMs) + staleAfterMs + 1
}

export function healthOf(session: SessionSigns, staleAfterMs: number, now: number): Health {
  if (session.status === 'finished' || session.status === 'canceled') return session.status
  const at = staleAt(session, staleAfterMs)
  return at !== undefined && now >= at ? 'stalled' : 'active'
}

export interface NewestSession {
  id: string
  attempt: string
  health: Health
}

interface TaskSigns {
  closed: boolean
  /** The tool lets nobody begin it now, whatever its deps. */
  isHeld: boolean
  activeAttempt: string | undefined
  /** Every dep exists and is closed. */
  depsClosed: boolean
  newest: NewestSession | undefined
}

/** `status`, `milestone`: where the tool itself shows another text than the file has. */
export type DerivedTask = Pick<
  Task,
  'ready' | 'held' | 'executionState' | 'sessionId' | 'milestone'
> &
  Partial<Pick<Task, 'status' | 'parent'>>

export function deriveTask(signs: TaskSigns): DerivedTask {
  const { closed, isHeld, activeAttempt, depsClosed, newest } = signs
  const ready = !closed && !isHeld && depsClosed
  const begins = { ready, ...(isHeld && !closed && { held: true as const }) }
  // A session of an earlier attempt says nothing about the current one.
  if (newest === undefined || newest.attempt !== activeAttempt) return begins
  const sessionId = newest.id
  switch (newest.health) {
    case 'active':
    case 'stalled':
      return { ...begins, executionState: newest.health, sessionId }
    case 'finished':
      return closed
        ? { ...begins, sessionId }
        : { ...begins, executionState: 'awaiting_review', sessionId }
    case 'canceled':
      return { ...begins, sessionId }
  }
}

/** Order of sessions, newest first; the id decides between two of one moment, so it is stable. */
export function newerFirst(
  a: { startedAtMs: number; id: string },
  b: { startedAtMs: number; id: string },
): number {
  if (a.startedAtMs !== b.startedAtMs) return b.startedAtMs - a.startedAtMs
  return a.id < b.id ? 1 : a.id > b.id ? -1 : 0
}
