// The history of a board, as a Signalbox has it: its pages, the newest first.

import type { Activity, ActivityRow } from '../../libraries/api/types.ts'
import { hostClock } from '../../libraries/client/clock.ts'
import { Edge } from '../../libraries/client/edge.ts'
import { Reads } from '../../libraries/client/reads.ts'
import type { ActivityQuery } from '../../libraries/client/types.ts'
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
    const place = { before: next?.toString(), limit: String(limit) }
    const page = await reads.once<Activity>('/activity', { ...query, ...place })
    yield page
    next = page.next
  } while (next !== undefined)
}

/** A row as a line of an export: what its hash covers, and the hash. */
export const lineOf = ({ marks: _, ...row }: ActivityRow): string => JSON.stringify(row)
