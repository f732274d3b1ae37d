// The history of a board, as a Signalbox has it: its pages, the newest first.

import type { Activity, ActivityRow } from '../../libraries/api/types.ts'
import { hostClock } from '../../libraries/client/clock.ts'
import { activityRoute } from '../../libraries/client/message.ts'
import { Reads } from '../../libraries/client/reads.ts'
import { Edge } from '../../libraries/client/requests.ts'
import { type ActivityQuery, BoardError } from '../../libraries/client/types.ts'
import type { BoardAtEdge } from '../wait/edge-board.ts'

const PAGE = 1_000

/** Throws BoardError. */
export async function* pagesOf(
  target: BoardAtEdge,
  { limit = PAGE, before, ...query }: ActivityQuery = {},
): AsyncGenerator<Activity, undefined> {
  const reads = new Reads(new Edge({ ...target, fetch, clock: hostClock }))
  let next = before
  do {
    const found = await reads.read(activityRoute({ ...query, limit, before: next }))
    if (found.state !== 'found') throw new BoardError(404, 'unknown_repository', UNPUBLISHED)
    const page = found.value as Activity
    yield page
    next = page.next
  } while (next !== undefined)
}

const UNPUBLISHED = 'No sidecar has published this board yet.'

/** A row as a line of an export: what its hash covers, and the hash. */
export const lineOf = ({ marks: _, ...row }: ActivityRow): string => JSON.stringify(row)
