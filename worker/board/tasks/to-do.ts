// What a status says: whether work has begun, or is over. Pure. The edge's `ready` does not say it:
// it stays true of a task that somebody has begun.

import { foldStatus } from '../../shared/status.ts'
import type { BoardConfig } from '../wire.ts'

/** Those that say so, in words of their own: they count without a configuration, too. */
const TO_DO =
  /^(to[ _-]?do|open|next|ready([ _-]for[ _-]dev)?|planned|pending|queued|backlog|selected)$/

type States = Pick<BoardConfig, 'states' | 'initial'> & Partial<Pick<BoardConfig, 'closed'>>

export interface Statuses {
  /** Work with this status has not begun. */
  isToDo(status: string): boolean
  isClosed(status: string): boolean
}

/** To do are also those up to the first state of a new task. */
export function statusesOf(config: States | undefined): Statuses {
  const { states, initial = states[0], closed = [] } = config ?? { states: [] }
  const folded = states.map(foldStatus)
  const first = new Set(folded.slice(0, folded.indexOf(foldStatus(initial ?? '')) + 1))
  const over = new Set(closed.map(foldStatus))
  const isFirst = (folded: string) => first.has(folded) || TO_DO.test(folded)
  return {
    isToDo: (status) => isFirst(foldStatus(status)),
    isClosed: (status) => over.has(foldStatus(status)),
  }
}
