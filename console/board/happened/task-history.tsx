// The history of the open task: what changed, by whom, and what stands out.

import type { Activity } from '../../../libraries/api/types.ts'
import { MARK_WORDS, type Mark } from '../../../worker/board/activity/mark-words.ts'
import { agentName } from '../../../worker/board/tasks/shown-names.ts'
import type { Live } from '../../data/live.ts'
import { useRead } from '../../data/use-read.ts'
import { Age } from '../../ui/time.tsx'
import { textOf } from './digest.ts'

export const Marks = ({ of = [] }: { of?: readonly Mark[] | undefined }) => (
  <>
    {of.map((mark) => (
      <span key={mark} class="chip stop">
        {MARK_WORDS[mark]}
      </span>
    ))}
  </>
)

/** Undefined: it is not read yet. Read again at each signal. */
export function useHistory(live: Live, task: string): Activity['activity'] | string | undefined {
  const query = new URLSearchParams({ path: live.path, task })
  const found = useRead<Activity>(`/api/activity?${query}`, [live.signals.value[0]?.id])
  return typeof found === 'object' ? found.activity : found
}

export const TaskHistory = ({ of }: { of: Activity['activity'] | string }) =>
  typeof of === 'string' ? (
    <p class="problem-line">{of}</p>
  ) : (
    <ol class="history">
      {of.map((row) => (
        <li key={row.seq}>
          <p>
            <Marks of={row.marks} />{' '}
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
