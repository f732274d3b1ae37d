// The branch that the main tree of the board is on, and that it was switched lately: then tasks
// have changed that nobody touched.

import { useEffect, useState } from 'preact/hooks'
import type { Activity, ActivityRow, BoardStatus } from '../../libraries/api/types.ts'
import { switchOf } from '../board/happened/digest.ts'
import { request } from '../data/http.ts'
import type { Live } from '../data/live.ts'
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

/** Read anew with each commit of the main tree. Where the read fails, none is shown. */
function useLastSwitch(path: string, main: BoardStatus['main']): ActivityRow | undefined {
  const [row, setRow] = useState<ActivityRow>()
  useEffect(() => {
    if (!main) return
    const wanted = new AbortController()
    const query = new URLSearchParams({ path, kind: 'switched', limit: '1' })
    request<Activity>(`/api/activity?${query}`, { signal: wanted.signal }).then(
      ({ activity }) => setRow(activity[0]),
      () => undefined,
    )
    return () => wanted.abort()
  }, [path, main?.head, main?.branch])
  return row
}
