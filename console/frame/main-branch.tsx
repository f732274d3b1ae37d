// The branch that the main tree of the board is on, and that it was switched lately: then tasks
// have changed that nobody touched.

import type { Activity, ActivityRow, BoardStatus } from '../../libraries/api/types.ts'
import { switchOf } from '../../worker/board/tasks/shown-names.ts'
import type { Live } from '../data/live.ts'
import { useRead } from '../data/use-read.ts'
import { Age, now } from '../ui/time.tsx'

/** Who looks twenty times a day has seen an older one. */
const LATELY_MS = 3_600_000

export function MainBranch({ live }: { live: Live }) {
  const { main } = live.status.value ?? {}
  const last = useLastSwitch(live.path, main)
  if (!main) return null
  const isRecent = last && now.value - Date.parse(last.at) < LATELY_MS
  return (
    <p class={isRecent ? 'main-branch caution' : 'main-branch'} title="The branch of the main tree">
      <bdi>{main.branch ?? main.head.slice(0, 8)}</bdi>
      <span role="status">
        {isRecent && `, switched from ${switchOf(last)[0]?.slice(0, SHOWN)} `}
      </span>
      {isRecent && <Age at={last.at} />}
    </p>
  )
}

/** Of a branch: the bar has other things to say. */
const SHOWN = 24

/** Where the read fails, none is shown. */
function useLastSwitch(path: string, main: BoardStatus['main']): ActivityRow | undefined {
  const query = new URLSearchParams({ path, kind: 'switched', limit: '1' })
  const found = useRead<Activity>(`/api/activity?${query}`, [main?.head, main?.branch])
  return typeof found === 'object' ? found.activity[0] : undefined
}
