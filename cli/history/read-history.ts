// The history of a board, as a Signalbox has it: its pages, and an export of it.

import type { Activity } from '../../libraries/api/types.ts'
import { activityRoute } from '../../libraries/client/message.ts'
import type { ActivityQuery } from '../../libraries/client/types.ts'
import {
  joined,
  KEPT_ROWS,
  NO_HASH,
  type Trailer,
  trailerOf,
} from '../../worker/board/activity/activity-chain.ts'
import type { BoardAtEdge } from '../board/edge-board.ts'
import { askEdge } from '../request.ts'

const PAGE = 1_000
/** A page is long, and may come over a slow line. */
const TIMEOUT_MS = 60_000

const readPage = ({ path, ...edge }: BoardAtEdge, query: ActivityQuery): Promise<Activity> =>
  askEdge(edge, activityRoute(query), {
    ...(path !== undefined && { board: path }),
    timeoutMs: TIMEOUT_MS,
  })

/** The newest first. Throws BoardError. */
export async function* pagesOf(
  target: BoardAtEdge,
  query: ActivityQuery = {},
): AsyncGenerator<Activity, undefined> {
  let before = query.before
  do {
    const asked = { limit: PAGE, ...query, ...(before !== undefined && { before }) }
    const page = await readPage(target, asked)
    yield page
    before = page.next
  } while (before !== undefined)
}

/** The lines of an export: all that is kept, the oldest first. Throws BoardError. */
export async function* exportOf(target: BoardAtEdge): AsyncGenerator<string, undefined> {
  const [newest] = (await readPage(target, { limit: 1 })).activity
  const end = (newest?.seq ?? 0) + 1
  let whole: Trailer | undefined
  for (let from = Math.max(1, end - KEPT_ROWS); from < end; from += PAGE) {
    const before = Math.min(from + PAGE, end)
    const page = await readPage(target, { before, limit: before - from })
    // What a hash covers has no marks.
    const rows = page.activity.toReversed().map(({ marks: _, ...row }) => row)
    for (const row of rows) yield JSON.stringify(row)
    if (rows.length > 0) whole = joined(whole, trailerOf(rows, page.previous ?? NO_HASH))
  }
  yield JSON.stringify(whole ?? trailerOf([], ''))
}
