// Change messages and their event ids, as the stream sends them. Pure.

import type { Message } from '../api/types.ts'

export const taskRoute = (id: string): string => `/tasks/${encodeURIComponent(id)}`

/** What is undefined is not asked for. */
export const activityRoute = (query: object): string =>
  `/activity?${new URLSearchParams(JSON.parse(JSON.stringify(query)) as Record<string, string>)}`

/** No URL can hold a lone surrogate. */
export function hasRoute(id: unknown): id is string {
  try {
    return typeof id === 'string' && taskRoute(id) !== ''
  } catch {
    return false
  }
}

/** Undefined for a message that this version does not know: then anything may have changed. */
export function parseMessage(data: string): Message | undefined {
  try {
    const message = JSON.parse(data) as Message
    switch (message.type) {
      case 'task-changed':
        // Such a message would otherwise end the stream, and again each time it is repeated.
        return hasRoute(message.id) ? message : undefined
      case 'tasks-changed':
      case 'session-changed':
        return message
      default:
        return undefined
    }
  } catch {
    return undefined
  }
}

/**
 * Whether the event `id` (`<epoch>-<seq>`) is newer than `position`. Ids of two epochs cannot be
 * compared: then it counts as newer.
 */
export function isNewer(id: string, position: string | undefined): boolean {
  const a = splitId(id)
  const b = splitId(position ?? '')
  return a.epoch !== b.epoch || !(a.seq <= b.seq)
}

/** Messages that the edge keeps. */
const KEPT = 1_024

/** Whether the edge still has every message between the two. */
export function isNear(from: string, to: string | undefined): boolean {
  const a = splitId(from)
  const b = splitId(to ?? '')
  return a.epoch === b.epoch && b.seq - a.seq <= KEPT
}

function splitId(id: string): { epoch: string; seq: number } {
  const dash = id.lastIndexOf('-')
  return { epoch: id.slice(0, Math.max(0, dash)), seq: Number(id.slice(dash + 1)) }
}
