// The history of the open task: what changed, by whom, and what stands out.

import { useEffect, useState } from 'preact/hooks'
import type { Activity } from '../../../libraries/api/types.ts'
import { agentName } from '../../../worker/board/task-state.ts'
import { problemText, request } from '../../data/http.ts'
import type { Live } from '../../data/live.ts'
import { Age } from '../../ui/time.tsx'
import { MARKS, textOf } from './digest.ts'

/** Undefined: it is not read yet. Read again at each signal, which the browser's cache answers. */
export function useHistory(live: Live, task: string): Activity['activity'] | string | undefined {
  const [history, setHistory] = useState<Activity['activity'] | string>()
  const last = live.signals.value[0]?.id
  useEffect(() => {
    const wanted = new AbortController()
    const query = new URLSearchParams({ path: live.path, task })
    request<Activity>(`/api/activity?${query}`, { signal: wanted.signal }).then(
      ({ activity }) => setHistory(activity),
      (problem: unknown) => !wanted.signal.aborted && setHistory(problemText(problem)),
    )
    return () => wanted.abort()
  }, [live, task, last])
  return history
}

export const TaskHistory = ({ of }: { of: Activity['activity'] | string }) =>
  typeof of === 'string' ? (
    <p class="problem-line">{of}</p>
  ) : (
    <ol class="history">
      {of.map((row) => (
        <li key={row.seq}>
          <p>
            {row.marks?.map((mark) => (
              <span key={mark} class="chip stop">
                {MARKS[mark]}
              </span>
            ))}{' '}
            {row.actor !== undefined && <strong>{agentName(row.actor, row.tree)} </strong>}
            {textOf(row)}
            {row.by === 'switch' && ', as git switched the main tree'}{' '}
            <span class="hint">
              {row.tree !== undefined && `worktree ${row.tree} `}
              <Age at={row.at} />
            </span>
          </p>
          {row.summary !== undefined && <p dir="auto">{row.summary}</p>}
        </li>
      ))}
    </ol>
  )
