// Fetches the task that is open, and again whenever something says that it may have changed.

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

/** Another text whenever it is worth asking again; that costs little, being conditional. */
function useTrigger(live: Live, id: string): string {
  const liveSince = useRef(0)
  const state = live.state.value
  if (state.name === 'live') liveSince.current = state.since
  // The light row is the same after an edit of the body or a new run; the signal tells of them.
  const told = live.signals.value.find((signal) => isAbout(signal, id))
  const sessions = [...(live.sessions.value?.values() ?? [])].filter(({ task }) => task === id)
  return JSON.stringify([
    live.changedAt.value.get(id),
    live.tasks.value?.has(id),
    told && [told.id, told.at],
    liveSince.current,
    sessions,
  ])
}

function isAbout({ message }: Signal, id: string): boolean {
  return message.type === 'task-changed' ? message.id === id : message.type === 'tasks-changed'
}
