// The board as it is now, for components: it also follows what only the clock changes.

import { useComputed } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { isSilent, type Moment, SILENT_AFTER_MS } from '../../worker/board/tasks/task-state.ts'
import type { Live } from '../data/live.ts'
import { now } from '../ui/time.tsx'
import type { Board } from './cards.ts'

/** Undefined before the first read. */
export function useBoard(live: Live): Board | undefined {
  const tasks = live.tasks.value
  const sessions = live.sessions.value
  const { config, layout, silentAfterMs = SILENT_AFTER_MS } = live.status.value ?? {}
  const silent = useComputed(() =>
    silentOf(live.sessions.value, { now: now.value, silentAfterMs }),
  ).value
  return useMemo(() => {
    const moment = { now: now.peek(), silentAfterMs }
    return tasks && { tasks, sessions, config, layout, moment }
  }, [tasks, sessions, config, layout, silentAfterMs, silent])
}

/** Another text whenever somebody falls silent. */
const silentOf = (sessions: Live['sessions']['value'], moment: Moment): string =>
  [...(sessions?.values() ?? [])]
    .filter((session) => isSilent(session, moment))
    .map(({ id }) => id)
    .join('\n')
