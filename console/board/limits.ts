// What a lead has set for the board: whether tasks are handed out, and to how many.

import { useEffect, useState } from 'preact/hooks'
import type { BoardSettings } from '../../libraries/api/types.ts'
import { request } from '../data/http.ts'
import type { Live } from '../data/live.ts'
import { count } from '../ui/format.ts'

/** Empty: no limits, or they are not known. Read again when the configuration may have changed. */
export function useLimits(live: Live): readonly string[] {
  const [limits, setLimits] = useState<readonly string[]>([])
  const changed = live.signals.value.find(({ message }) => message.type === 'tasks-changed')
  const state = live.state.value
  // While there was no stream, a message may have been missed.
  const since = state.name === 'live' ? state.since : undefined
  useEffect(() => {
    const wanted = new AbortController()
    const query = new URLSearchParams({ path: live.path })
    request<BoardSettings>(`/api/board-settings?${query}`, { signal: wanted.signal }).then(
      (settings) => setLimits(limitsOf(settings)),
      // What was known stays: the lamp says that the edge does not answer.
      () => undefined,
    )
    return () => wanted.abort()
  }, [live.path, changed?.id, since])
  return limits
}

const limitsOf = ({ paused, perParent, atMost }: BoardSettings): readonly string[] => [
  ...(paused ? [PAUSED] : []),
  ...(perParent ? ['One agent per parent'] : []),
  ...(atMost === null ? [] : [`At most ${count(atMost, 'claim')}`]),
]

export const PAUSED = 'Paused: no task is handed out'
