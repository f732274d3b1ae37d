// The history of a board, as a Signalbox has it: its pages, and an export of it.

import type { Activity } from '../../libraries/api/types.ts'
import { hostClock } from '../../libraries/client/clock.ts'
import { activityRoute } from '../../libraries/client/message.ts'
import { Reads } from '../../libraries/client/reads.ts'
import { Edge } from '../../libraries/client/requests.ts'
import { type ActivityQuery, BoardError } from '../../libraries/client/types.ts'
import {
  joined,
  KEPT_ROWS,
  NO_HASH,
  type Trailer,
  trailerOf,
} from '../../worker/board/activity/activity-chain.ts'
import type { BoardAtEdge } from '../wait/edge-board.ts'

const PAGE = 1_000

type ReadPage = (query: ActivityQuery) => Promise<Activity>

function pagesAt(target: BoardAtEdge): ReadPage {
  const reads = new Reads(new Edge({ ...target, fetch, clock: hostClock }))
  return async (query) => {
    const found = await reads.read(activityRoute(query))
    if (found.state !== 'found') throw new BoardError(404, 'unknown_repository', UNPUBLISHED)
    return found.value as Activity
  }
}

const UNPUBLISHED = 'No sidecar has published this board yet.'

/** The newest first. Throws BoardError. */
export async function* pagesOf(
  target: BoardAtEdge,
  query: ActivityQuery = {},
): AsyncGenerator<Activity, undefined> {
  const read = pagesAt(target)
  let before = query.before
  do {
    const page = await read({ limit: PAGE, ...query, ...(before !== undefined && { before }) })
    yield page
    before = page.next
  } while (before !== undefined)
}

/** The lines of an export: all that is kept, the oldest first. Throws BoardError. */
export async function* exportOf(target: BoardAtEdge): AsyncGenerator<string, undefined> {
  const read = pagesAt(target)
  const [newest] = (await read({ limit: 1 })).activity
  const end = (newest?.seq ?? 0) + 1
  let whole: Trailer | undefined
  for (let from = Math.max(1, end - KEPT_ROWS); from < end; from += PAGE) {
    const before = Math.min(from + PAGE, end)
    const page = await read({ before, limit: before - from })
    // What a hash covers has no marks.
    const rows = page.activity.toReversed().map(({ marks: _, ...row }) => row)
    for (const row of rows) yield JSON.stringify(row)
    if (rows.length > 0) whole = joined(whole, trailerOf(rows, page.previous ?? NO_HASH))
  }
  yield JSON.stringify(whole ?? trailerOf([], ''))
}
