// Fetches the open task, and again whenever it may have changed.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { Signal } from '../../../client/index.ts'
import type { Live } from '../../data/live/live.ts'
import { answered, type TaskState } from './task-state.ts'

export function useTask(live: Live, id: string): { state: TaskState; retry(): void } {
  const [state, setState] = useState<TaskState>({ name: 'loading' })
  const [tries, setTries] = useState(0)
  const trigger = useTrigger(live, id)
  useEffect(() => {
    let isWanted = true
    live.task(id).then(
      (task) => isWanted && setState((before) => answered(before, { task })),
      (error: unknown) => {
        const problem = error instanceof Error ? error.message : String(error)
        if (isWanted) setState((before) => answered(before, { problem }))
      },
    )
    return () => {
      isWanted = false
    }
  }, [live, id, trigger, tries])
  return { state, retry: () => setTries((n) => n + 1) }
}

/** Changes whenever the task may have changed. A needless fetch costs little (`304`). */
function useTrigger(live: Live, id: string): string {
  const liveSince = useRef(0)
  const state = live.state.value
  if (state.name === 'live') liveSince.current = state.since
  // A row of the list does not change with the body or the runs, but a message names the task.
  const lastSignal = live.signals.value.find((signal) => isAbout(signal, id))
  const sessions = [...(live.sessions.value?.values() ?? [])].filter(({ task }) => task === id)
  return JSON.stringify([
    live.changedAt.value.get(id),
    live.tasks.value?.has(id),
    lastSignal && [lastSignal.id, lastSignal.at],
    liveSince.current,
    sessions,
  ])
}

function isAbout({ message }: Signal, id: string): boolean {
  return message.type === 'task-changed' ? message.id === id : message.type === 'tasks-changed'
}
