// The boards that the session may see, as they were last read: the header names its own as the list
// does.

import { effect, signal } from '@preact/signals'
import type { Boards, ListedBoard } from '../../libraries/api/types.ts'
import { repeatedRead, request } from './http.ts'
import { canSwitch } from './live.ts'
import { openPagePoller } from './page-poller.ts'
import type { Freshness } from './poller.ts'

/** In the order of the edge. Undefined: they were not read yet. */
export const listed = signal<readonly ListedBoard[]>()

const read = repeatedRead<Boards>()

const readBoards = async (aborted: AbortSignal): Promise<void> => {
  const { boards } = await read('/api/boards', aborted)
  if (!aborted.aborted) listed.value = boards
}

/** Reads them until it is closed: one that appears is there without a reload. */
export function watchBoards(onFreshness: (freshness: Freshness) => void) {
  const poller = openPagePoller({ round: readBoards, onFreshness })
  poller.refresh()
  return poller
}

/** Takes one off the list that no sidecar publishes. Throws ApiProblem. */
export async function forgetBoard(path: string): Promise<void> {
  await request(`/api/boards?path=${encodeURIComponent(path)}`, { method: 'DELETE' })
  listed.value = listed.peek()?.filter((board) => board.path !== path)
}

// Another session may see others.
effect(() => {
  listed.value = undefined
  if (!canSwitch.value) return
  const end = new AbortController()
  // Without it, the header has the last part of the path.
  readBoards(end.signal).catch(() => undefined)
  return () => end.abort()
})
