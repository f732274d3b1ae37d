// A board of a running Signalbox, by its stream and its reads.

import { setTimeout as sleep } from 'node:timers/promises'
import type { BoardStatus, Boards } from '../../libraries/api/types.ts'
import { Connection } from '../../libraries/client/connection.ts'
import { parseMessage, taskRoute } from '../../libraries/client/message.ts'
import { type ReadResult, Reads } from '../../libraries/client/reads.ts'
import { Edge } from '../../libraries/client/requests.ts'
import { isFinal } from '../../libraries/client/stream.ts'
import { fetchStreams } from '../../libraries/client/stream-fetch.ts'
import { BoardError } from '../../libraries/client/types.ts'
import type { Task } from '../../worker/board/wire.ts'
import { hostClock } from '../../worker/shared/clock.ts'
import { askEdge, type EdgeAddress } from '../request.ts'
import { type Step, stepFeed, type WatchedBoard } from './watched-board.ts'

/** It may be starting again. */
const REACHED_WITHIN_MS = 10_000
const RETRY_MS = 500
/** Streams also end for other reasons, and are there again at once. */
const AWAY_MS = 3_000
/** A target of no log: the edge answers that anything may have changed. */
const NOWHERE = 'files-0'

export interface BoardAtEdge {
  /** Without a trailing slash. */
  url: string
  path: string | undefined
  token: () => Promise<string>
}

/** The names of all boards that the token covers and a sidecar has reported. */
export async function boardNames(
  target: EdgeAddress,
): Promise<{ name: string; isGone: boolean }[]> {
  const { boards } = await askEdge<Boards>(target, '/boards')
  return boards.map(({ path, store }) => ({ name: path, isGone: store === 'missing' }))
}

/**
 * Ends with the signal. Throws BoardError where it is refused, or cannot be reached. `onAway`: once
 * it was reached it is waited for, too.
 */
export function edgeBoard(
  target: BoardAtEdge,
  since: string | undefined,
  signal: AbortSignal,
  onAway: () => unknown = () => undefined,
): WatchedBoard {
  const edge = new Edge({ ...target, fetch, clock: hostClock })
  const reads = new Reads(edge)
  const { steps, add, fail } = stepFeed(signal)
  const cancelReach = hostClock.after(REACHED_WITHIN_MS, () =>
    fail(new BoardError(0, 'unreachable', `No Signalbox answers at ${target.url}.`)),
  )
  let changed: Step['changed']
  let isReached = false
  let cancelAway: (() => void) | undefined
  const connection = new Connection({
    streams: fetchStreams(edge),
    clock: hostClock,
    lastEventId: since?.startsWith('files-') ? NOWHERE : since,
    on: {
      message(data) {
        const message = parseMessage(data)
        if (message?.type === 'session-changed') return
        // Among several messages only the last has an id, which is behind all of them.
        const isOne = message?.type === 'task-changed' && !changed
        changed = isOne ? { task: message.id } : {}
      },
      position(id) {
        cancelReach()
        isReached = true
        if (id.endsWith('-0')) refuseUnpublished().catch(fail)
        add({ id, ...(changed && { changed }) })
        changed = undefined
      },
      refused: fail,
      opened: () => {
        cancelAway?.()
        cancelAway = undefined
      },
      alive: () => undefined,
      lost: () => {
        // What came without its id comes again.
        changed = undefined
        if (isReached) cancelAway ??= hostClock.after(AWAY_MS, onAway)
      },
    },
  })
  signal.addEventListener('abort', () => {
    cancelReach()
    cancelAway?.()
    connection.close()
    reads.close()
  })
  connection.start()

  /** Through a restart of the edge. */
  async function read(route: string, after?: string): Promise<ReadResult> {
    for (;;) {
      try {
        return await reads.read(route, after)
      } catch (error) {
        if (!(error instanceof BoardError) || isFinal(error) || signal.aborted) throw error
        await sleep(RETRY_MS, undefined, { signal })
      }
    }
  }
  /** The stream of a name that no sidecar has published waits for one: it may be misspelt. */
  async function refuseUnpublished(): Promise<void> {
    const { state } = await read('/status')
    const sentence = `No board ${target.path} is published at ${target.url}.`
    if (state === 'unpublished') throw new BoardError(404, 'unknown_repository', sentence)
  }
  return {
    steps,
    async task(id) {
      const found = await read(taskRoute(id))
      if (found.state !== 'found') return { id: undefined, value: undefined }
      return { id: found.seq, value: found.value as Task }
    },
    async changedAfter(after) {
      const found = await read('/tasks', after)
      if (found.state !== 'found') return { id: undefined, value: { rows: [], ids: new Set() } }
      const { tasks, gone, seq } = found.value as { tasks: Task[]; gone?: string[]; seq?: string }
      const ids = gone && new Set([...tasks.map(({ id }) => id), ...gone])
      return { id: seq ?? found.seq, value: { rows: tasks, ids } }
    },
    async about() {
      const found = await read('/status')
      if (found.state !== 'found') return { isGone: false }
      const { config, layout, store } = found.value as BoardStatus
      return { config: config && { ...config, layout }, isGone: store === 'missing' }
    },
  }
}
